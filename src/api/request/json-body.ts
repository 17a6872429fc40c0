// Parses a request's JSON body with a TypeBox schema, which also provides the documentation and the type.
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value, type ValueError } from "@sinclair/typebox/value";
import { near, TsdbError } from "../../model/errors.ts";
import { decodeUtf8 } from "../../model/query/query-params.ts";
import type { BodyReader } from "./body.ts";

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** The content type is not JSON: answered with 415. */
export class UnacceptableType extends Error {
  override readonly name = "UnacceptableType";
  constructor() {
    super("unacceptable content-type, expected: application/json");
  }
}

export interface JsonBodyOptions {
  /** Integers that a number cannot hold exactly become their text. */
  readonly bigIntegersAsText?: boolean;
}

/** Members unknown to `schema` are ignored. @throws UnacceptableType; TsdbError bad_request naming the member; errors of reading */
export async function readJsonBody<T extends TObject>(
  schema: T,
  request: Request,
  reader: BodyReader,
  { bigIntegersAsText = false }: JsonBodyOptions = {},
): Promise<Static<T>> {
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) throw new UnacceptableType();
  const text = decodeUtf8(await reader.readWhole(request), "body content is not valid utf8");
  let value: unknown;
  try {
    value = bigIntegersAsText ? JSON.parse(text, exactInteger) : JSON.parse(text);
  } catch (error) {
    throw new TsdbError("bad_request", `serde json error: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TsdbError("bad_request", `serde json error: the body must be an object, got ${near(text)}`);
  }
  if (hasHalfCharacter(text, value)) throw new TsdbError("bad_request", "serde json error: half a surrogate pair in a string");
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) throw new TsdbError("bad_request", `serde json error: missing field \`${name}\``);
  }
  const first = Value.Errors(schema, value).First();
  if (first === undefined) return value as Static<T>;
  const member = first.path.slice(1).replaceAll("/", ".");
  const got = near(shownMember(first.value));
  throw new TsdbError("bad_request", `serde json error: \`${near(member)}\`: ${wanted(first)}, got ${got}`);
}

/** A reviver of JSON.parse. */
function exactInteger(_: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(source) ? source : value;
}

/** Describes the expected value; for an enumeration, all alternatives. */
function wanted({ schema, message }: ValueError): string {
  const choices = schema["anyOf"] as readonly TSchema[] | undefined;
  if (choices === undefined) return message.toLowerCase();
  return `expected ${choices.map(({ const: value, type }) => (value === undefined ? type : JSON.stringify(value))).join(" or ")}`;
}

/** A name with an unpaired surrogate could be created but never requested: it has no UTF-8 form. */
function hasHalfCharacter(text: string, value: unknown): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false;
  try {
    // of surrogates, only unpaired ones are escaped here; other escapes are removed first, escaped backslashes among them
    return /\\ud/.test(JSON.stringify(value).replaceAll(/\\[^u]/g, ""));
  } catch {
    return true; // nested beyond the stack limit: not valid for any route
  }
}

/** Lists and objects are only named: they may be nested beyond the stack limit. */
export function shownMember(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "nothing";
  return Array.isArray(value) ? "a list" : "an object";
}
