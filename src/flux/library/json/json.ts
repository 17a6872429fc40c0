// Packages `json`, `experimental/json` and `experimental/dynamic`: values from JSON and to it.
import { durationText, timeText } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { floatText } from "../../values/text.ts";
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

const DEPTH_MAX = 200;

/** Members are sorted by their names. @throws FluxError: functions and streams have no JSON */
function encode(value: Value, depth = 0): string {
  if (depth > DEPTH_MAX) throw new FluxError("the value is nested too deep");
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new FluxError(`json: unsupported value: ${floatText(value)}`);
    return floatText(value);
  }
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (isNull(value)) return "null";
  if (value instanceof UInt) return String(value.value);
  if (value instanceof Time) return JSON.stringify(timeText(value.ns));
  if (value instanceof Duration) return JSON.stringify(durationText(value));
  if (value instanceof Regexp) return JSON.stringify(value.source);
  if (value instanceof Bytes) return JSON.stringify(Buffer.from(value.bytes).toString("base64"));
  if (value instanceof FluxArray) return `[${value.items.map((item) => encode(item, depth + 1)).join(",")}]`;
  if (value instanceof FluxRecord) return object([...value.entries()], depth);
  if (value instanceof Dictionary)
    return object(
      [...value.items.values()].map(({ key, value: each }) => [String(key), each] as const),
      depth,
    );
  if (value instanceof Dynamic) return value.value === null ? "null" : encode(value.value, depth);
  throw new FluxError(`cannot encode a ${kindOf(value)} value`);
}

function object(entries: readonly (readonly [string, Value])[], depth: number): string {
  const members = [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}:${encode(value, depth + 1)}`);
  return `{${members.join(",")}}`;
}

function parsed(call: NativeCall, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(call.bytes("data").bytes));
  } catch (error) {
    throw new FluxError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function plainValue(json: unknown, depth = 0): Value {
  if (depth > DEPTH_MAX) throw new FluxError("the JSON is nested too deep");
  if (json === null) return NULL;
  if (Array.isArray(json)) return new FluxArray(json.map((item) => plainValue(item, depth + 1)));
  if (typeof json !== "object") return json as Value;
  return new FluxRecord(new Map(Object.entries(json).map(([label, each]) => [label, plainValue(each, depth + 1)])));
}

/** The value with everything in it dynamic. */
export function dynamicOf(value: Value): Dynamic {
  if (value instanceof Dynamic) return value;
  if (isNull(value)) return new Dynamic(null);
  if (value instanceof FluxArray) return new Dynamic(new FluxArray(value.items.map(dynamicOf)));
  if (!(value instanceof FluxRecord)) return new Dynamic(value);
  return new Dynamic(new FluxRecord(new Map([...value.entries()].map(([label, each]) => [label, dynamicOf(each)]))));
}

function dynamicArgument(call: NativeCall): Dynamic {
  const value = call.value("v");
  return value instanceof Dynamic ? value : dynamicOf(value);
}

export const JSON_PACKAGE: LibraryPackage = {
  path: "json",
  name: "json",
  source: "builtin encode : (v: A) => bytes",
  natives: { encode: (call) => new Bytes(new TextEncoder().encode(encode(call.value("v")))) },
};

export const EXPERIMENTAL_JSON: LibraryPackage = {
  path: "experimental/json",
  name: "json",
  source: "builtin parse : (data: bytes) => A",
  natives: { parse: (call) => plainValue(parsed(call, "json.parse")) },
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
`,
  natives: {
    dynamic: (call) => dynamicOf(call.value("v")),
    asArray: (call) => {
      const { value } = dynamicArgument(call);
      if (value instanceof FluxArray) return value;
      throw new FluxError(`unable to convert dynamic value to array: dynamic value is ${value === null ? "null" : kindOf(value)}`);
    },
    jsonParse: (call) => dynamicOf(plainValue(parsed(call, "jsonParse"))),
    jsonEncode: (call) => new Bytes(new TextEncoder().encode(encode(dynamicArgument(call)))),
    isType: (call) => {
      const { value } = dynamicArgument(call);
      return value !== null && kindOf(value) === call.string("type");
    },
  },
};
