// Which requests go by way of a proxy. Cases: https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
import { expect, test } from "bun:test";
import { proxyFor } from "./proxy.ts";

const ENV = { HTTP_PROXY: "http://user:pass@web.example:3128", HTTPS_PROXY: "https://tls.example" };
const through = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href ?? null;

test.each([
  ["http://a.example/", {}, null],
  ["http://a.example/", ENV, "http://user:pass@web.example:3128/"],
  ["https://a.example/", ENV, "https://tls.example/"],
  ["https://a.example/", { http_proxy: "web.example:3128" }, null],
  ["http://a.example/", { http_proxy: "web.example:3128" }, "http://web.example:3128/"],
  ["https://a.example/", { https_proxy: "web.example:3128" }, "http://web.example:3128/"],
  ["https://a.example/", { HTTPS_PROXY: "", https_proxy: "b.example" }, "http://b.example/"],
  ["https://a.example/", { HTTPS_PROXY: "a", https_proxy: "b" }, "http://a/"],
])("%s with %j", (url, env, proxy) => {
  expect(through(url, env)).toBe(proxy);
});

test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]", "localhost:8086"])("%s is never asked by way of one", (host) => {
  expect(through(`http://${host}/`, ENV)).toBeNull();
});

test.each<[noProxy: string, within: string[], beyond: string[]]>([
  ["*", ["a.example", "10.0.0.1"], []],
  ["a.example", ["a.example", "b.a.example", "A.EXAMPLE", "a.example."], ["ba.example", "example"]],
  [".a.example", ["b.a.example"], ["a.example", "ba.example"]],
  ["*.a.example", ["b.a.example"], ["a.example"]],
  ["x , a.example,,", ["a.example", "x"], ["b.example"]],
  ["10.0.0.0/8,fd00::/8", ["10.1.2.3", "[fd00::1]"], ["11.0.0.1", "[fe80::1]", "10.example"]],
  ["10.1.2.3", ["10.1.2.3"], ["10.1.2.4"]],
  ["::2,[::3]", ["[::2]", "[::3]"], ["[::4]"]],
  ["a.example:8080", ["a.example:8080"], ["a.example", "a.example:80"]],
  ["a.example:80", ["a.example", "a.example:80"], ["a.example:8080"]],
  ["[::2]:8080,10.0.0.1:8080", ["[::2]:8080", "10.0.0.1:8080"], ["[::2]", "10.0.0.1"]],
  ["10.0.0.0/99,10.0.0.0/x,/,:,[", [], ["10.0.0.1", "a.example"]],
])("NO_PROXY=%s", (noProxy, within, beyond) => {
  const env = { ...ENV, NO_PROXY: noProxy };
  expect(within.filter((host) => through(`http://${host}/`, env) !== null)).toEqual([]);
  expect(beyond.filter((host) => through(`http://${host}/`, env) === null)).toEqual([]);
});

test.each([
  ["http://", /HTTP_PROXY is not the URL of a proxy/],
  ["http://a b", /HTTP_PROXY is not the URL of a proxy/],
  ["socks5://user:secret@a", /^HTTP_PROXY: proxies of scheme "socks5" are not supported, want http or https$/],
])("HTTP_PROXY=%s", (proxy, error) => {
  expect(() => through("http://a.example/", { HTTP_PROXY: proxy })).toThrow(error);
});
