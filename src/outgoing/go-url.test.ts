// Which addresses release 2.8.0 takes, and what it says of the others.
import { expect, test } from "bun:test";
import { urlFault } from "./go-url.ts";

test.each([
  ...["", "a:b", "a/b:c", "http://%c3%bc/", "http://%25/", "http://[::1]:8/", "http://[::1]", "http://u:p@x/", "http://a@b@x/"],
  ...['http://x"y/', "///x y", "http:///a b", "mailto:a b", "http://x/\u0080", "\u00a0", "file:///etc", "http://x:80:90/", "http://x:/"],
  ...["http://ü/", "//x", "http:x", "x:y:z", "http://x/?a;b", "http://x/?a=%zz", "http:a%zz", "x?%zz"],
])("%j is an address", (url) => expect(urlFault(url)).toBeNull());

test.each([
  ...["%zz", "http://a b", ":x", "http://x/%zz", "http://x/#%zz", "http://[::1", "1http://x", "1:b", "http://%41/", "http://[::1]x/"],
  ...["http://[::1]:x/", "http://u^@x/", "http://x{/", "//a b", "\u0001", "\u007f", "http://x:port", "http://x%20y/", "http://us er@x/"],
  ...["ht tp://x", "http://a\\b/", "http://x\n"],
])("%j is none", (url) => expect(urlFault(url)).not.toBeNull());

const IPS = "invalid host: ParseAddr";
test.each<[url: string, fault: string]>([
  ...["://", ":", ":80"].map((url): [string, string] => [url, "missing protocol scheme"]),
  ...["1http://x", "ht tp://x", "é://x", " http://h", "a b:c"].map((url): [string, string] => [
    url,
    "first path segment in URL cannot contain colon",
  ]),
  ["http://%zz", 'invalid URL escape "%zz"'],
  ["http://h/%", 'invalid URL escape "%"'],
  ["http://h/%2", 'invalid URL escape "%2"'],
  ["http://h/#%zz", 'invalid URL escape "%zz"'],
  ["http://%zz@h", 'invalid URL escape "%zz"'],
  ["http://%::1@h", 'invalid URL escape "%"'],
  ["http://%20h", 'invalid URL escape "%20"'],
  ["http://h:x", 'invalid port ":x" after host'],
  ["http://[::1]x", 'invalid port "x" after host'],
  ["http://[x", "missing ']' in host"],
  ["http://h[x]", "invalid IP-literal"],
  ["http://[1.2.3.4]", "invalid IP-literal"],
  ["http://[x]", `${IPS}("x"): unable to parse IP`],
  ["http://[]", `${IPS}(""): unable to parse IP`],
  ["http://[::1%25]", `${IPS}("::1%"): zone must be a non-empty string`],
  ["http://h h", 'invalid character " " in host name'],
  ["http://h\\x", 'invalid character "\\\\" in host name'],
  ["http://a{b}", 'invalid character "{" in host name'],
  ["http://u p@h", "net/url: invalid userinfo"],
])("%j: %s", (url, fault) => {
  // what stands behind a # is shown only where the fault is in it
  const shown = url.includes("#%") ? url : url.split("#")[0]!;
  expect(urlFault(url)).toBe(`parse "${shown.replaceAll("\\", "\\\\")}": ${fault}`);
});

test("what cannot be printed is escaped", () => {
  expect(urlFault("http://h\x00")).toBe('parse "http://h\\x00": net/url: invalid control character in URL');
  expect(urlFault("http://h:x#y")).toBe('parse "http://h:x": invalid port ":x" after host');
});
