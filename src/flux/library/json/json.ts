// Packages `json`, `experimental/json` and `experimental/dynamic`: values from JSON and to it.
import { durationText, timeText } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { checkLength, floatText } from "../../values/text.ts";
import {
  Bytes,
  Dictionary,
  Duration,
  Dynamic,
  FluxArray,
  FluxRecord,
  isNull,
  kindOf,
  NULL,
  Regexp,
  Time,
  UInt,
  type Value,
} from "../../values/value.ts";
import type { LibraryPackage, NativeCall } from "../native-call.ts";
import { typeText } from "../universe/conversions.ts";
import { jsonProblem } from "./json-problem.ts";

const DEPTH_MAX = 200;
/** Of a value that becomes dynamic: it may hold another one many times over. */
const MEMBERS_MAX = 1_000_000;

/** Escaped as the reference does, so that the text is safe within HTML. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

interface Made {
  length: number;
  readonly isOfDynamic: boolean;
}

/** Members are sorted by their names. @throws FluxError: functions and streams have no JSON */
function encode(value: Value, depth: number, made: Made): string {
  if (depth > DEPTH_MAX) throw new FluxError("the value is nested too deep");
  // a value may hold another one many times over
  made.length += typeof value === "string" ? value.length : 4;
  checkLength(made.length);
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new FluxError(`json: unsupported value: ${floatText(value)}`);
    // JavaScript and Go begin with exponents at the same sizes
    return Object.is(value, -0) ? "-0" : String(value);
  }
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (isNull(value)) return "null";
  if (value instanceof UInt) return String(value.value);
  if (value instanceof Time) return JSON.stringify(timeText(value.ns));
  if (value instanceof Duration) return JSON.stringify(durationText(value));
  if (value instanceof Regexp) return JSON.stringify(value.source);
  if (value instanceof Bytes) return JSON.stringify(Buffer.from(value.bytes).toString("base64"));
  if (value instanceof FluxArray) return `[${value.items.map((item) => encode(item, depth + 1, made)).join(",")}]`;
  if (value instanceof FluxRecord) return object([...value.entries()], depth, made);
  if (value instanceof Dictionary)
    return object(
      [...value.items.values()].map(({ key, value: each }) => [String(key), each] as const),
      depth,
      made,
    );
  if (value instanceof Dynamic) {
    // as recorded: dynamic values have a function of their own
    if (!made.isOfDynamic) throw new FluxError("unknown nature dynamic");
    return value.value === null ? "null" : encode(value.value, depth, made);
  }
  throw new FluxError(`cannot encode a ${kindOf(value)} value`);
}

function object(entries: readonly (readonly [string, Value])[], depth: number, made: Made): string {
  const members = [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${quoted(name)}:${encode(value, depth + 1, made)}`);
  return `{${members.join(",")}}`;
}

function parsed(call: NativeCall): unknown {
  const { bytes } = call.bytes("data");
  const problem = jsonProblem(bytes);
  if (problem !== null) throw new FluxError(problem);
  return JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), (_, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new FluxError(`json: cannot unmarshal number ${context?.source ?? "beyond all"} into Go value of type float64`);
  });
}

/** The type of a plain value. @throws FluxError: a list has items of several types */
function checkedType(value: Value): string {
  if (value instanceof FluxArray) return `[${value.items.map(checkedType).reduce(commonType, "invalid")}]`;
  if (!(value instanceof FluxRecord)) return kindOf(value);
  const members = [...value.entries()].map(([label, each]) => `${quoted(label)}:${checkedType(each)}`);
  return `{${members.sort().join()}}`;
}

/** As recorded: nulls before the first item that has a type count for any. */
function commonType(known: string, type: string): string {
  if (known !== "invalid" && type !== known) throw new FluxError("array values must all be the same type");
  return type;
}

function plainValue(json: unknown, depth = 0): Value {
  if (depth > DEPTH_MAX) throw new FluxError("the JSON is nested too deep");
  if (json === null) return NULL;
  if (Array.isArray(json)) {
    const items = json.map((item) => plainValue(item, depth + 1));
    return new FluxArray(items);
  }
  // half a pair is no character
  if (typeof json === "string") return json.toWellFormed();
  if (typeof json !== "object") return json as Value;
  const members = Object.entries(json).map(([label, each]) => [label.toWellFormed(), plainValue(each, depth + 1)] as const);
  return new FluxRecord(new Map(members));
}

/** The value with everything in it dynamic. */
function dynamicOf(value: Value, made = { count: 0 }): Dynamic {
  if (value instanceof Dynamic) return value;
  if (++made.count > MEMBERS_MAX) throw new FluxError("the value has too many members");
  if (isNull(value)) return new Dynamic(null);
  if (value instanceof FluxArray) return new Dynamic(new FluxArray(value.items.map((item) => dynamicOf(item, made))));
  if (!(value instanceof FluxRecord)) return new Dynamic(value);
  return new Dynamic(new FluxRecord(new Map([...value.entries()].map(([label, each]) => [label, dynamicOf(each, made)]))));
}

function dynamicArgument(call: NativeCall): Dynamic {
  const value = call.value("v");
  return value instanceof Dynamic ? value : dynamicOf(value);
}

export const JSON_PACKAGE: LibraryPackage = {
  path: "json",
  name: "json",
  source: "builtin encode : (v: A) => bytes",
  natives: { encode: (call) => new Bytes(new TextEncoder().encode(encode(call.value("v"), 0, { length: 0, isOfDynamic: false }))) },
};

export const EXPERIMENTAL_JSON: LibraryPackage = {
  path: "experimental/json",
  name: "json",
  source: "builtin parse : (data: bytes) => A",
  natives: {
    parse: (call) => {
      const value = plainValue(parsed(call));
      checkedType(value);
      return value;
    },
  },
};

export const DYNAMIC_PACKAGE: LibraryPackage = {
  path: "experimental/dynamic",
  name: "dynamic",
  source: `
builtin dynamic : (v: A) => dynamic
builtin asArray : (<-v: dynamic) => [dynamic]
builtin jsonParse : (data: bytes) => dynamic
builtin jsonEncode : (v: dynamic) => bytes
builtin isType : (v: dynamic, type: string) => bool
_isNotDistinct = (a, b) => display(v: a) == display(v: b)
`,
  natives: {
    dynamic: (call) => dynamicOf(call.value("v")),
    asArray: (call) => {
      const { value } = dynamicArgument(call);
      if (value instanceof FluxArray) return new FluxArray(value.items, new Dynamic(null));
      throw new FluxError(`unable to convert ${value === null ? "<null>" : typeText(value)} to array`);
    },
    jsonParse: (call) => dynamicOf(plainValue(parsed(call))),
    jsonEncode: (call) => new Bytes(new TextEncoder().encode(encode(dynamicArgument(call), 0, { length: 0, isOfDynamic: true }))),
    isType: (call) => {
      const { value } = dynamicArgument(call);
      return value !== null && kindOf(value) === call.string("type");
    },
  },
};
