// Bind parameters and JSON of requests. Integers are parsed from their digits, without loss, and 3.0 stays a float.
import { near, TsdbError } from "../errors.ts";
import type { QueryParams } from "./query.ts";

type ExactReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** Excludes -0, which is a float, and more digits than 64 bits have: millions of them take seconds. */
const INTEGER = /^(?:0|-?[1-9]\d{0,19})$/;

/** Values of the JSON around a statement: its parameters, or a script as a tree. Ten megabytes of other ones take a second to be read. */
export const JSON_VALUES_MAX = 200_000;
const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Counted by commas and opened brackets, without parsing. @throws TsdbError bad_request with a text that begins with `head` */
export function requireFewValues(json: string, head: string): void {
  if (json.length < JSON_VALUES_MAX) return;
  let [count, isText] = [0, false];
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (isText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if ((code === COMMA || code === LIST || code === OBJECT) && ++count > JSON_VALUES_MAX) {
      throw new TsdbError("bad_request", `${head}more than ${JSON_VALUES_MAX} values`);
    }
  }
}

/** Parses JSON; integers become bigint, numbers with a fraction or an exponent become number. @throws TsdbError bad_request */
export function parseJson(text: string): unknown {
  requireFewValues(text, "serde json error: ");
  const exact: ExactReviver = (_key, value, { source }) => {
    if (typeof value !== "number" || source === undefined) return value;
    if (INTEGER.test(source)) return BigInt(source);
    if (!Number.isFinite(value)) throw new RangeError(`number out of range: ${near(source)}`);
    return value;
  };
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
  } catch (error) {
    const { message } = error as Error;
    const reason = message.startsWith("Maximum call stack") ? "recursion limit exceeded" : message;
    throw new TsdbError("bad_request", `serde json error: ${reason}`);
  }
}

/** A required string member of such JSON. @throws TsdbError bad_request */
export function requiredString(members: Readonly<Record<string, unknown>>, name: string): string {
  const value = members[name];
  if (value === undefined) throw new TsdbError("bad_request", `serde json error: missing field \`${name}\``);
  if (typeof value === "string") return value;
  throw new TsdbError("bad_request", `serde json error: \`${name}\` must be a string, got ${near(shownJson(value))}`);
}

/** Decodes the text of a request. @param keepsMark a byte order mark at its start stays
 *  @throws TsdbError bad_request with the text `refusal` for invalid UTF-8 */
export function decodeUtf8(bytes: Uint8Array, refusal: string, keepsMark = false): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: keepsMark }).decode(bytes);
  } catch {
    throw new TsdbError("bad_request", refusal);
  }
}

/** Checks the parameters of a statement: an object of scalars. @throws TsdbError bad_request */
export function checkParams(value: unknown): QueryParams {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new TsdbError("bad_request", `serde json error: \`params\` must be an object, got ${near(describeJson(value))}`);
  }
  for (const [name, parameter] of Object.entries(value)) {
    if (typeof parameter === "object" && parameter !== null) {
      throw new TsdbError(
        "bad_request",
        `parameter \`${near(name)}\` must be a string, number, boolean or null, got ${describeJson(parameter)}`,
      );
    }
  }
  return value as QueryParams;
}

/** A value of JSON as text, of an array and an object the kind: `String` fails for one with a member `toString`. */
export function shownJson(value: unknown): string {
  return typeof value === "object" && value !== null ? describeJson(value) : String(value);
}

function describeJson(value: unknown): string {
  return Array.isArray(value)
    ? "an array"
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value === "bigint" ? "number" : typeof value}`;
}
