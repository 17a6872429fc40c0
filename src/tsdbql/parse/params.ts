// Bind parameters: the JSON object of a request, each value as the token that replaces `$name` in the statement.
import { TsdbError } from "../../model/errors.ts";
import { formatDuration } from "./durations.ts";
import type { TokenKind } from "./tokens.ts";

export interface BoundToken {
  readonly kind: TokenKind;
  /** For kind `param`: why the value cannot be bound. */
  readonly literal: string;
}

export type Params = ReadonlyMap<string, BoundToken>;

export const NO_PARAMS: Params = new Map();

/** A number as written, so that integers and floats are distinguished and large ones stay exact. */
class JsonNumber {
  constructor(readonly text: string) {}
}

/** Parses the request's `params`. @throws TsdbError bad_query with 1.x's texts; text after the object is ignored, as in 1.x */
export function parseParams(json: string): Params {
  if (json === "") return NO_PARAMS;
  const value = new JsonReader(json).read();
  if (value === null) return NO_PARAMS;
  if (!isObject(value)) {
    throw new TsdbError(
      "bad_query",
      `error parsing query parameters: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  }
  return new Map([...value].map(([name, one]) => [name, bind(one)]));
}

type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | ReadonlyMap<string, JsonValue>;

const isObject = (value: JsonValue): value is ReadonlyMap<string, JsonValue> => value instanceof Map;

function jsonKind(value: JsonValue): string {
  if (value instanceof JsonNumber) return "number";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

const failed = (literal: string): BoundToken => ({ kind: "param", literal });

function bind(value: JsonValue): BoundToken {
  if (isObject(value)) return bindObject(value);
  if (value instanceof JsonNumber) {
    const token = numberToken(value);
    if (typeof token === "string") throw new TsdbError("bad_query", `error parsing json value: ${token}`);
    return token;
  }
  if (typeof value === "string") return { kind: "string", literal: value };
  if (typeof value === "boolean") return { kind: value ? "true" : "false", literal: "" };
  return failed(`unable to bind parameter with type ${value === null ? "<nil>" : "[]interface {}"}`);
}

/** `{"regex": "a.*"}`: the key selects the type of the value. */
function bindObject(object: ReadonlyMap<string, JsonValue>): BoundToken {
  const [entry] = object;
  if (object.size !== 1 || entry === undefined) return failed("bound object parameter value must have exactly one entry");
  const [type, value] = entry;
  const number = value instanceof JsonNumber ? numberToken(value) : undefined;
  if (typeof number === "string") return failed(number);
  const text = typeof value === "string" ? value : undefined;
  switch (type) {
    case "ident":
    case "identifier":
      return text === undefined ? failed("identifier must be a string value") : { kind: "ident", literal: text };
    case "regex":
      return text === undefined ? failed("regex literal must be a string value") : { kind: "regex", literal: text };
    case "string":
      return text === undefined ? failed("string literal must be a string value") : { kind: "string", literal: text };
    case "float":
    case "number":
      return number === undefined ? failed("number literal must be a float value") : { kind: "number", literal: number.literal };
    case "int":
    case "integer":
      return number?.kind === "integer" ? number : failed("integer literal must be an integer value");
    case "duration":
      if (text !== undefined) return { kind: "duration", literal: text };
      if (number?.kind === "integer") return { kind: "duration", literal: formatDuration(BigInt(number.literal)) };
      return failed("duration literal must be a string or integer value");
    default:
      return failed(`unknown bind object type: ${type}`);
  }
}

/** Returns the reason if it is neither a 64-bit integer nor a decimal number. */
function numberToken({ text }: JsonNumber): BoundToken | string {
  if (text.includes(".")) return { kind: "number", literal: decimalText(Number(text)) };
  const cannot = (why: string) => `strconv.ParseInt: parsing "${text}": ${why}`;
  if (/[eE]/.test(text)) return cannot("invalid syntax");
  if (text.length > 20 || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) return cannot("value out of range");
  return { kind: "integer", literal: String(BigInt(text)) };
}

/** Without an exponent, as the lexer requires. */
function decimalText(value: number): string {
  const [mantissa, exponent] = String(value).split("e") as [string, string?];
  if (exponent === undefined) return mantissa;
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(mantissa)!;
  const digits = whole! + fraction;
  const point = whole!.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return sign + (point >= digits.length ? digits.padEnd(point, "0") : `${digits.slice(0, point)}.${digits.slice(point)}`);
}

const DEPTH_MAX = 100;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** A JSON parser that keeps numbers as text; errors in 1.x's words. */
class JsonReader {
  private at = 0;

  constructor(private readonly text: string) {}

  read(depth = 0): JsonValue {
    if (depth > DEPTH_MAX) throw this.error("exceeded max depth");
    const char = this.skipSpace();
    if (char === "{") return this.readObject(depth);
    if (char === "[") return this.readArray(depth);
    if (char === '"') return this.readString();
    if (char === "-" || (char >= "0" && char <= "9")) return this.readNumber();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (char === word[0]) return this.readWord(word, value);
    }
    throw this.unexpected("looking for beginning of value");
  }

  private readObject(depth: number): JsonValue {
    const object = new Map<string, JsonValue>();
    this.at++;
    if (this.skipSpace() === "}") {
      this.at++;
      return object;
    }
    for (;;) {
      if (this.skipSpace() !== '"') throw this.unexpected("looking for beginning of object key string");
      const name = this.readString();
      if (this.skipSpace() !== ":") throw this.unexpected("after object key");
      this.at++;
      object.set(name, this.read(depth + 1));
      const char = this.skipSpace();
      if (char !== "," && char !== "}") throw this.unexpected("after object key:value pair");
      this.at++;
      if (char === "}") return object;
    }
  }

  private readArray(depth: number): JsonValue {
    const items: JsonValue[] = [];
    this.at++;
    if (this.skipSpace() === "]") {
      this.at++;
      return items;
    }
    for (;;) {
      items.push(this.read(depth + 1));
      const char = this.skipSpace();
      if (char !== "," && char !== "]") throw this.unexpected("after array element");
      this.at++;
      if (char === "]") return items;
    }
  }

  private readString(): string {
    const from = this.at;
    for (this.at++; this.at < this.text.length; this.at++) {
      const char = this.text[this.at]!;
      if (char === "\\") this.at++;
      else if (char < " ") throw this.unexpected("in string literal");
      else if (char === '"') {
        this.at++;
        try {
          return JSON.parse(this.text.slice(from, this.at)) as string;
        } catch {
          throw this.error("invalid character in string escape code");
        }
      }
    }
    throw this.error("unexpected EOF");
  }

  private readNumber(): JsonNumber {
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (found === null) {
      this.at++;
      throw this.unexpected("in numeric literal");
    }
    this.at = NUMBER.lastIndex;
    return new JsonNumber(found[0]);
  }

  private readWord<T extends JsonValue>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      this.at++;
      if (this.text[this.at] !== word[i]) throw this.unexpected(`in literal ${word} (expecting '${word[i]}')`);
    }
    this.at++;
    return value;
  }

  private skipSpace(): string {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? "")) this.at++;
    return this.text[this.at] ?? "";
  }

  private unexpected(where: string): TsdbError {
    const code = this.text.codePointAt(this.at);
    if (code === undefined) return this.error("unexpected EOF");
    return this.error(`invalid character '${String.fromCodePoint(code)}' ${where}`);
  }

  private error(why: string): TsdbError {
    return new TsdbError("bad_query", `error parsing query parameters: ${why}`);
  }
}
