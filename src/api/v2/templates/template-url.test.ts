// What release 2.8.0 says of addresses where no template is.
import { expect, test } from "bun:test";
import type { TsdbError } from "../../../model/errors.ts";
import { requireTemplateUrl } from "./template-url.ts";

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
