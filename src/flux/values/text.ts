// Values as text: `string(v:)`, interpolation, `display(v:)` and CSV cells.
import { durationText, timeText } from "./duration.ts";
import { FluxError } from "./flux-error.ts";
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

/** Characters of one text. */
const TEXT_MAX = 16 << 20;

/** @throws FluxError: a text would be too long */
export function checkLength(length: number): void {
  if (length > TEXT_MAX) throw new FluxError(`the text would be longer than ${TEXT_MAX} characters`);
}

/** The fewest digits that read back, never an exponent. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const text = Object.is(value, -0) ? "-0" : String(value);
  return text.includes("e") ? withoutExponent(text) : text;
}

/** In quotes, with escapes for what cannot be shown. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(/\\u00([01]\w)|\x7f/g, (_, code: string | undefined) => `\\x${code ?? "7f"}`);
}

/** With six digits behind the point, as some errors show floats. */
export function fixedText(value: number): string {
  const isShown = Number.isFinite(value) && Math.abs(value) < 1e21;
  return isShown ? value.toFixed(6) : `${floatText(value)}${Number.isFinite(value) ? ".000000" : ""}`;
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
/** Lists with more items have a line for each. */
const LINE_ITEMS_MAX = 3;

/** Any value, for people: members and keys in order, times with all their digits. */
export function displayText(value: Value): string {
  return displayed(value, 0, { length: 0 });
}

/** @param made of all parts so far: a value may hold another one many times over @throws FluxError: the text would be too long */
function displayed(value: Value, depth: number, made: { length: number }): string {
  if (depth > DISPLAY_DEPTH_MAX) return "...";
  made.length += 4;
  checkLength(made.length);
  const inner = (each: Value) => displayed(each, depth + 1, made);
  if (value instanceof Time) return fullTimeText(value.ns);
  if (typeof value === "number") return displayedFloat(value);
  const plain = stringOf(value);
  if (plain !== null) {
    made.length += plain.length;
    return plain;
  }
  if (value instanceof Null) return "<null>";
  if (value instanceof Regexp) return value.source;
  if (value instanceof Bytes) return `0x${Buffer.from(value.bytes).toString("hex")}`;
  if (value instanceof FluxArray) return listText("[", value.items.map(inner), "]", depth);
  if (value instanceof Dictionary) {
    const items = [...value.items.values()].sort((a, b) => compareKeys(a.key, b.key));
    return items.length === 0
      ? "[:]"
      : listText(
          "[",
          items.map((item) => `${inner(item.key)}: ${inner(item.value)}`),
          "]",
          depth,
          ", ",
        );
  }
  if (value instanceof FluxRecord) {
    const members = [...value.entries()].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return listText(
      "{",
      members.map(([label, each]) => `${label}: ${inner(each)}`),
      "}",
      depth,
    );
  }
  if (value instanceof Dynamic) return `dynamic(${value.value === null ? "<null>" : displayed(value.value, depth, made)})`;
  if (value instanceof FluxFunction) {
    const { typeText } = value;
    made.length += typeText.length;
    return typeText;
  }
  return value instanceof TableStream ? "<stream>" : String(value);
}

/** @param between what stands between items that have a line each, before the line ends */
function listText(open: string, items: readonly string[], close: string, depth: number, between = ","): string {
  if (items.length <= LINE_ITEMS_MAX) return open + items.join(", ") + close;
  const indent = "    ".repeat(depth);
  return `${open}\n    ${indent}${items.join(`${between}\n    ${indent}`)}\n${indent}${close}`;
}

/** RFC 3339 with nine digits of the second. */
export function fullTimeText(ns: bigint): string {
  const [, whole, fraction = ""] = /^([^.Z]*)(?:\.(\d+))?Z$/.exec(timeText(ns))!;
  return `${whole}.${fraction.padEnd(9, "0")}Z`;
}

/** The fewest digits that read back; with an exponent below 1e-4 and from 1e6. */
function displayedFloat(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size === 0 || (size >= 1e-4 && size < 1e6)) return floatText(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

function compareKeys(a: Value, b: Value): number {
  const [left, right] = [ordered(a), ordered(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function ordered(key: Value): string | number | bigint {
  if (key instanceof Time) return key.ns;
  if (key instanceof UInt) return key.value;
  return typeof key === "number" || typeof key === "bigint" ? key : String(key);
}
