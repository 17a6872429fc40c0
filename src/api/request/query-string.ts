// Parses the query string with a TypeBox schema, which also provides the documentation and the type. Elysia's own parser silently accepts
// repeated parameters and invalid percent-encoding and answers 422; here both are 400 with a message that names the parameter.
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { near, TsdbError } from "../../model/errors.ts";

/** The parameters in `search` that `schema` defines; null if it is empty. Others are ignored. Messages start with `prefix`. @throws
 *  TsdbError bad_request: missing, repeated, not a boolean, or badly encoded */
export function readQueryString<T extends TObject>(schema: T, search: string, prefix = "serde error: "): Static<T> | null {
  if (search === "") return null;
  const found: Record<string, string | boolean> = {};
  for (const pair of search.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), prefix);
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1), prefix);
    if (!Object.hasOwn(schema.properties, name)) continue;
    if (Object.hasOwn(found, name)) throw new TsdbError("bad_request", `${prefix}duplicate field \`${name}\``);
    found[name] = typed(schema.properties[name]!, value, prefix);
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(found, name)) throw new TsdbError("bad_request", `${prefix}missing field \`${name}\``);
  }
  return found as Static<T>;
}

/** The same for schemas with required members. @throws TsdbError bad_request, also without a query string */
export function readRequiredQuery<T extends TObject>(schema: T, search: string): Static<T> {
  const found = readQueryString(schema, search);
  if (found === null) throw new TsdbError("bad_request", `serde error: missing field \`${schema.required?.[0]}\``);
  return found;
}

function typed(schema: TSchema, value: string, prefix: string): string | boolean {
  if (schema["type"] !== "boolean") return value;
  if (value === "true") return true;
  if (value === "false") return false;
  throw new TsdbError("bad_request", `${prefix}provided string was not \`true\` or \`false\``);
}

function decode(encoded: string, prefix: string): string {
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll("+", " "));
  } catch {
    throw new TsdbError("bad_request", `${prefix}invalid percent-encoding in the query string near "${near(encoded)}"`);
  }
}
