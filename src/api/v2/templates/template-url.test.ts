// Which addresses release 2.8.0 takes for those of templates, and what it says of the others.
import { expect, test } from "bun:test";
import type { TsdbError } from "../../../model/errors.ts";
import { isAddress, requireTemplateUrl } from "./template-url.ts";

test.each([
  ...["", "a:b", "a/b:c", "http://%c3%bc/", "http://%25/", "http://[::1]:8/", "http://[::1]", "http://u:p@x/", "http://a@b@x/"],
  ...['http://x"y/', "///x y", "http:///a b", "mailto:a b", "http://x/\u0080", "\u00a0", "file:///etc", "http://x:80:90/", "http://x:/"],
  ...["http://ü/", "//x", "http:x", "x:y:z", "http://x/?a;b", "http://x/?a=%zz", "http:a%zz", "x?%zz"],
])("%j is an address", (url) => expect(isAddress(url)).toBe(true));

test.each([
  ...["%zz", "http://a b", ":x", "http://x/%zz", "http://x/#%zz", "http://[::1", "1http://x", "1:b", "http://%41/", "http://[::1]x/"],
  ...["http://[::1]:x/", "http://u^@x/", "http://x{/", "//a b", "\u0001", "\u007f", "http://x:port", "http://x%20y/", "http://us er@x/"],
  ...["ht tp://x", "http://a\\b/", "http://x\n"],
])("%j is none", (url) => expect(isAddress(url)).toBe(false));

function refusal(url: string): readonly string[] | null {
  try {
    requireTemplateUrl(url, "template from url");
    return null;
  } catch (error) {
    const { kind, message } = error as TsdbError;
    return [kind, message];
  }
}

test.each([
  ["x?%zz", ["bad_request", 'template from url["x?%zz"] had an issue']],
  ["jsonnet.jsonnet", ["unprocessable", 'template from url["jsonnet.jsonnet"] had an issue: invalid encoding provided']],
  ["x.JSONNET", ["unprocessable", 'template from url["x.JSONNET"] had an issue: invalid encoding provided']],
  ["a%2ejsonnet", ["unprocessable", 'template from url["a%2ejsonnet"] had an issue: invalid encoding provided']],
  ['a"b.jsonnet', ["unprocessable", 'template from url["a\\"b.jsonnet"] had an issue: invalid encoding provided']],
  ["x?y=a.jsonnet", ["unprocessable", 'template from url["x?y=a.jsonnet"] had an issue: invalid encoding provided']],
  ...["a.jsonnet/", "a.jsonnet?x=1", "a.jsonnet#x", "a.jsonnetx", "a.json net", "http://x/?a;b"].map((url) => [url, null] as const),
] as const)("%j as a template", (url, expected) => expect(refusal(url)).toEqual(expected as readonly string[] | null));
