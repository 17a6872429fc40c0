// Which Hosts are valid, and what a request's target is. What the runtime makes of bytes on a socket: test/api/access-sockets.long.test.ts.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { isHost, RequestTargets, targetOf } from "./request-target.ts";

/** Forms that clients send: RFC 3986, section 3.2.2, and names with underscores, as containers have them. */
const HOSTS = [
  ...["localhost", "localhost:8181", "LOCALHOST:8181", "db.example.com", "db.example.com.", "db.example.com.:8181", "my_db", "my_db-1:80"],
  ...["127.0.0.1", "127.0.0.1:8181", "0", "1a", "a:", "a:0", "a:65535", "xn--bcher-kva.example", "_service._tcp.example"],
  ...["[::1]", "[::1]:8181", "[::]", "[fe80::1%25eth0]:8181", "[fe80::1%eth0]", "[::ffff:127.0.0.1]", "[2001:DB8::1]:", "a".repeat(253)],
];

const NO_HOSTS = [
  ...["", " ", "a b", "a\tb", "x/y", "a/", "/", "?", "#", "@", "user@a", "user:password@a", "a?b", "a#b", "a\\b", "a%2fb", "a%41b", "%"],
  ...["a, b", "a,b", "a;b", "*", "a:65536", "a:99999", "a:080000", "a:x", "a:+1", "a:-1", "a:1:2", "a: 1", "::1", "[::1", "::1]", "[::1]x"],
  ...["[]", "[:]", "[1]", "[::1%]", "[::1/]", "[::g]", "[v1.a]", "[127.0.0.1]", "[::1]:x", "[::1]:65536", "-a", ".", "..", ".a", "caf\xe9"],
  ...["http://a", "a<b", 'a"b', "a{b", "a|b", "a^b", "a`b", "a'b", "a\x7fb", "a\0b", "a".repeat(261)],
];

test.each(HOSTS)("a Host: %j", (host) => expect(isHost(host)).toBe(true));
test.each(NO_HOSTS)("no Host: %j", (host) => expect(isHost(host)).toBe(false));

/** A request as the runtime gives it: URL and Host header do not agree when the Host is odd. */
const request = (url: string, host: string | null) =>
  ({ url, headers: { get: (name: string) => (name === "host" ? host : null) } }) as unknown as Request;

describe("targets", () => {
  const targets = new RequestTargets();

  test.each([
    ["http://a/", "/", "", "http://a/"],
    ["http://a/b/c?d=e", "/b/c", "d=e", "http://a/b/c?d=e"],
    ["https://a:8181/b?c", "/b", "c", "http://a:8181/b?c"],
    ["http://[::1]:8181/b", "/b", "", "http://[::1]:8181/b"],
    ["http://a/b?c=://d/e", "/b", "c=://d/e", "http://a/b?c=://d/e"],
    ["http://a/b?c?d", "/b", "c?d", "http://a/b?c?d"],
    ["http://a//b//", "//b//", "", "http://a//b//"],
    ["http://a/b%2fc%00", "/b%2fc%00", "", "http://a/b%2fc%00"],
    ["http://a/http://b/c", "/http://b/c", "", "http://a/http://b/c"],
  ])("%s", (url, path, search, canonical) => {
    for (const host of [null, "a"]) {
      const one = request(url, host);
      expect(targets.read(one)).toEqual({ path, search, url: canonical });
      expect(targetOf(one).path).toBe(path);
    }
  });

  // what the runtime gives for a missing or odd Host, for CONNECT, and what no request is
  test.each([
    "/a?b=://c/d",
    "/",
    "",
    "a:80",
    "*",
    "http:/a",
    "http://",
    "http://a",
    "http:///a",
    "http://a b/c",
    "http://u@a/b",
    "ftp://a/b",
  ])("none: %j", (url) => {
    const one = request(url, "a");
    expect(targets.read(one)).toBeNull();
    expect(() => targetOf(one)).toThrow("BUG");
  });

  test.each(["http://a/b#c", "http://a/b?c#d", "http://a/#"])("no fragment: %s", (url) =>
    expect(targets.read(request(url, "a"))).toBeNull(),
  );

  test("an invalid Host is refused, whatever the URL", () => {
    for (const host of NO_HOSTS) expect(targets.read(request("http://a/b", host))).toBeNull();
  });
});

test("what the last request had changes nothing for the next", () => {
  const below = prng(7);
  const kept = new RequestTargets();
  const urls = ["http://a/b", "http://a/b?c", "https://a/b", "http://a b/c", "", "/b", "http://a/"];
  const hosts = [null, "a", "b:80", "a b", "", "*", "[::1]"];
  let repeated = 0;
  let [url, host] = [urls[0]!, hosts[0]!];
  for (let i = 0; i < 3000; i++) {
    if (below(2) === 0) url = urls[below(urls.length)]!;
    if (below(2) === 0) host = hosts[below(hosts.length)]!;
    else repeated++;
    const target = kept.read(request(url, host));
    expect(target).toEqual(new RequestTargets().read(request(url, host)));
  }
  expect(repeated).toBeGreaterThan(1000);
});
