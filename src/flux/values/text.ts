// Values as text: `string(v:)`, interpolation, `display(v:)` and CSV cells.
import { durationText, timeText } from "./duration.ts";
import {
  Bytes,
  Dictionary,
  Duration,
  Dynamic,
  FluxArray,
  FluxFunction,
  FluxRecord,
  Null,
  Regexp,
  TableStream,
  Time,
  UInt,
  type Value,
} from "./value.ts";

/** The fewest digits that read back, never an exponent. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const text = Object.is(value, -0) ? "-0" : String(value);
  return text.includes("e") ? withoutExponent(text) : text;
}

function withoutExponent(text: string): string {
  const [, sign, whole, fraction = "", exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text)!;
  const digits = whole! + fraction;
  const point = whole!.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Text of a value that is Stringable, or null. */
export function stringOf(value: Value): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number") return floatText(value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof UInt) return String(value.value);
  if (value instanceof Time) return timeText(value.ns);
  if (value instanceof Duration) return durationText(value);
  return null;
}

const DISPLAY_DEPTH_MAX = 64;

/** Any value, for people. */
export function displayText(value: Value, depth = 0): string {
  if (depth > DISPLAY_DEPTH_MAX) return "...";
  const inner = (each: Value) => displayText(each, depth + 1);
  const plain = stringOf(value);
  if (plain !== null) return plain;
  if (value instanceof Null) return "<null>";
  if (value instanceof Regexp) return value.source;
  if (value instanceof Bytes) return `0x${Buffer.from(value.bytes).toString("hex")}`;
  if (value instanceof FluxArray) return `[${value.items.map(inner).join(", ")}]`;
  if (value instanceof Dictionary) {
    const items = [...value.items.values()].map(({ key, value: each }) => `${inner(key)}: ${inner(each)}`);
    return items.length === 0 ? "[:]" : `[${items.join(", ")}]`;
  }
  if (value instanceof FluxRecord) {
    return `{${[...value.entries()].map(([label, each]) => `${label}: ${inner(each)}`).join(", ")}}`;
  }
  if (value instanceof Dynamic) return `dynamic(${value.value === null ? "<null>" : inner(value.value)})`;
  if (value instanceof FluxFunction) {
    const parameters = value.parameters.map(({ name, isOptional, isPipe }) => `${isPipe ? "<-" : isOptional ? "?" : ""}${name}`);
    return `(${parameters.join(", ")}) => <function>`;
  }
  return value instanceof TableStream ? "<stream>" : String(value);
}
