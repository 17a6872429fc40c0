// Addresses of templates, as release 2.8.0 takes them.
import { TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../../../model/query/go-quoted.ts";

const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** @throws TsdbError bad_request for broken escapes, unprocessable for Jsonnet */
export function requireTemplateUrl(url: string, what: string): void {
  const head = `${what}[${goQuoted(url)}] had an issue`;
  if (BROKEN_ESCAPE.test(url)) throw new TsdbError("bad_request", head);
  if (isJsonnet(url)) throw new TsdbError("unprocessable", `${head}: invalid encoding provided`);
}

/** By the end of the whole address, whatever stands before it. */
function isJsonnet(url: string): boolean {
  const text = url.replace(/%2e/gi, ".").replace(/%([4-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return text.toLowerCase().endsWith(".jsonnet");
}
