// What is wrong with an address, as the vendor's server says it: its language's rules and words.
import { goQuoted } from "../model/query/go-quoted.ts";

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/;
const USER = /^[\w\-.:~!$&'()*+,;=%@]*$/;
const PORT = /^(?::\d*)?$/;
/** What stands in a host as it is, beside what is not ASCII. */
const HOST_CHARACTER = /[\w\-.~!$&'()*+,;=:[\]<>"\x80-\u{10ffff}]/u;

/** Null for what is an address, or part of one. */
export function urlFault(text: string): string | null {
  const hash = text.indexOf("#");
  const whole = hash < 0 ? text : text.slice(0, hash);
  const fault = faultOf(whole);
  if (fault !== null) return `parse ${goQuoted(whole)}: ${fault}`;
  const inFragment = hash < 0 ? null : escapeFault(text.slice(hash + 1));
  return inFragment === null ? null : `parse ${goQuoted(text)}: ${inFragment}`;
}

function faultOf(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that no address has
  if (/[\x00-\x1f\x7f]/.test(text)) return "net/url: invalid control character in URL";
  if (text.startsWith(":")) return "missing protocol scheme";
  const scheme = SCHEME.exec(text)?.[0];
  const rest = (scheme === undefined ? text : text.slice(scheme.length + 1)).replace(/\?.*$/s, "");
  if (!rest.startsWith("/")) {
    // opaque behind a scheme, otherwise a path
    if (scheme !== undefined) return null;
    return rest.split("/")[0]!.includes(":") ? "first path segment in URL cannot contain colon" : escapeFault(rest);
  }
  if (!rest.startsWith("//") || (scheme === undefined && rest.startsWith("///"))) return escapeFault(rest);
  const slash = rest.indexOf("/", 2);
  const end = slash < 0 ? rest.length : slash;
  return authorityFault(rest.slice(2, end)) ?? escapeFault(rest.slice(end));
}

function authorityFault(text: string): string | null {
  const at = text.lastIndexOf("@");
  const fault = hostFault(text.slice(at + 1));
  if (fault !== null || at < 0) return fault;
  const user = text.slice(0, at);
  if (!USER.test(user)) return "net/url: invalid userinfo";
  const colon = user.indexOf(":");
  return colon < 0 ? escapeFault(user) : (escapeFault(user.slice(0, colon)) ?? escapeFault(user.slice(colon + 1)));
}

function hostFault(host: string): string | null {
  const open = host.indexOf("[");
  if (open > 0) return "invalid IP-literal";
  const close = host.lastIndexOf("]");
  if (open >= 0 && close < 0) return "missing ']' in host";
  const colon = host.lastIndexOf(":");
  const port = open >= 0 ? host.slice(close + 1) : colon < 0 ? "" : host.slice(colon);
  if (!PORT.test(port)) return `invalid port ${goQuoted(port)} after host`;
  if (open < 0) return escapeFault(host, "host");
  const name = host.slice(1, close);
  const zone = name.indexOf("%25");
  const inZone = zone < 0 ? null : escapeFault(name.slice(zone), "zone");
  return escapeFault(zone < 0 ? name : name.slice(0, zone), "host") ?? inZone ?? ipFault(name);
}

/** Of the text in the brackets of a host. */
function ipFault(name: string): string | null {
  const text = name.replace(/%([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const [address = ""] = text.split("%");
  if (isIPv4(text)) return "invalid IP-literal";
  if (text.endsWith("%")) return `invalid host: ParseAddr(${goQuoted(text)}): zone must be a non-empty string`;
  const isAddress = address.includes(":") && URL.canParse(`http://[${address}]/`);
  return isAddress ? null : `invalid host: ParseAddr(${goQuoted(text)}): unable to parse IP`;
}

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

type Part = "host" | "zone" | "other";

/** The first escape or character that the part of an address does not have. */
function escapeFault(text: string, part: Part = "other"): string | null {
  for (const { 0: found, index } of text.matchAll(/%(?:[0-9A-Fa-f]{2})?|[^%]/gu)) {
    if (!found.startsWith("%")) {
      if (part !== "other" && !HOST_CHARACTER.test(found)) return `invalid character ${goQuoted(found)} in host name`;
    } else if (found.length < 3 || !isEscapeOf(part, found)) return `invalid URL escape ${goQuoted(text.slice(index, index + 3))}`;
  }
  return null;
}

/** A host has escapes only of what is not ASCII, and of a percent sign; a zone has also those of what stands in a host as it is. */
function isEscapeOf(part: Part, found: string): boolean {
  if (part === "other" || found === "%25") return true;
  const code = Number.parseInt(found.slice(1), 16);
  return part === "host" ? code >= 0x80 : code === 0x20 || HOST_CHARACTER.test(String.fromCharCode(code));
}
