// The proxy that the environment names for a URL: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case, by the rules of Go's
// programs. Source: https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
import { BlockList, isIP } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

/** Null: none, as for every name and address of this machine. @throws Error: the variable is no address of a proxy */
export function proxyFor(url: URL, env: Environment = process.env): URL | null {
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const text = variable(env, name);
  if (text === "" || isExcepted(url, variable(env, "NO_PROXY"))) return null;
  const proxy = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (proxy === null || proxy.hostname === "") throw new Error(`${name} is not the URL of a proxy`);
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:") {
    throw new Error(`${name}: proxies of scheme "${proxy.protocol.slice(0, -1)}" are not supported, want http or https`);
  }
  return proxy;
}

const variable = (env: Environment, name: string): string => env[name] || env[name.toLowerCase()] || "";

/** True if requests go to the host itself. @param noProxy addresses, networks and domains between commas */
function isExcepted(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || contains("127.0.0.0/8", host) || host === "::1") return true;
  return noProxy
    .toLowerCase()
    .split(",")
    .map((rule) => rule.trim())
    .some((rule) => rule !== "" && covers(rule, host, port));
}

function covers(rule: string, host: string, port: string): boolean {
  if (rule === "*") return true;
  if (rule.includes("/")) return contains(rule, host);
  const [, bracketed, name, ofPort] = /^(?:\[(.*)\]|([^:]*|.*:.*:.*))(?::(\d+))?$/.exec(rule) ?? [];
  if (ofPort !== undefined && ofPort !== port) return false;
  const wanted = (bracketed ?? name ?? rule).replace(/^\*\./, ".");
  if (isIP(wanted) !== 0) return contains(`${wanted}/${wanted.includes(":") ? 128 : 32}`, host);
  // a domain and all below it; with a dot before it only those
  return host.endsWith(wanted.startsWith(".") ? wanted : `.${wanted}`) || host === wanted;
}

function contains(network: string, host: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  const [family, ofHost] = [isIP(base), isIP(host)];
  if (family === 0 || family !== ofHost || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const kind = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(base, Number(bits), kind);
  return list.check(host, kind);
}
