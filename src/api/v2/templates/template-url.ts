// Addresses of templates, as release 2.8.0 takes them: what it can read as an address, and what stands for a template in it.
import { TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../rows/go-quoted.ts";

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const USER = /^[\w\-.:~!$&'()*+,;=%@]*$/;
/** Escapes in a host are of what is not ASCII, or of a percent sign. */
const HOST = /^(?:[\w\-.~!$&'()*+,;=:[\]<>"\x80-\u{10ffff}]|%25|%[89A-Fa-f][0-9A-Fa-f])*$/u;
const PORT = /^(?::\d*)?$/;

/** True if the vendor's language reads it as an address. */
export function isAddress(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that no address has
  if (/[\x00-\x1f\x7f]/.test(text)) return false;
  const [whole = "", ...fragment] = text.split("#");
  if (BROKEN_ESCAPE.test(fragment.join("#")) || whole.startsWith(":")) return false;
  const scheme = SCHEME.exec(whole)?.[0] ?? "";
  const rest = whole.slice(scheme.length).replace(/\?.*$/s, "");
  if (!rest.startsWith("/")) return scheme !== "" || (!BROKEN_ESCAPE.test(rest) && !rest.split("/")[0]!.includes(":"));
  if (!rest.startsWith("//") || (scheme === "" && rest.startsWith("///"))) return !BROKEN_ESCAPE.test(rest);
  const slash = rest.indexOf("/", 2);
  const end = slash < 0 ? rest.length : slash;
  return isAuthority(rest.slice(2, end)) && !BROKEN_ESCAPE.test(rest.slice(end));
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  const user = text.slice(0, Math.max(at, 0));
  if (!USER.test(user) || BROKEN_ESCAPE.test(user)) return false;
  const host = text.slice(at + 1);
  if (!HOST.test(host)) return false;
  if (!host.startsWith("[")) return !host.includes(":") || PORT.test(host.slice(host.lastIndexOf(":")));
  const close = host.lastIndexOf("]");
  return close > 0 && PORT.test(host.slice(close + 1));
}

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
