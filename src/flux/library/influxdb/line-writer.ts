// Points as line protocol. Values that cannot be stored are left out: nulls, NaN, infinities, empty tags.
import { floatText } from "../../values/text.ts";
import { Duration, Time, UInt, type Value } from "../../values/value.ts";

/** Appends points to a text of line protocol. */
export class LineWriter {
  private lines: string[] = [];
  /** Characters so far. */
  length = 0;

  append(measurement: Value, tags: Iterable<readonly [string, Value]>, fields: Iterable<readonly [string, Value]>, ns: bigint): void {
    const written: string[] = [];
    for (const [name, value] of fields) {
      const text = fieldText(value);
      if (text !== null && name !== "") written.push(`${escaped(name, /[,= \n]/g)}=${text}`);
    }
    if (written.length === 0 || typeof measurement !== "string" || measurement === "") return;
    let line = escaped(measurement, /[, \n]/g);
    for (const [name, value] of [...tags].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (typeof value === "string" && value !== "") line += `,${escaped(name, /[,= \n]/g)}=${escaped(value, /[,= \n]/g)}`;
    }
    line += ` ${written.join(",")} ${ns}\n`;
    this.lines.push(line);
    this.length += line.length;
  }

  /** The lines, which are forgotten. */
  take(): string {
    const text = this.lines.join("");
    this.lines = [];
    this.length = 0;
    return text;
  }
}

/** A line end becomes two characters. A backslash in the end would escape what follows, and is left out. */
function escaped(text: string, special: RegExp): string {
  return text.replace(/\\+$/, "").replace(special, (char) => (char === "\n" ? "\\n" : `\\${char}`));
}

function fieldText(value: Value): string | null {
  if (typeof value === "number") return Number.isFinite(value) ? floatText(value) : null;
  if (typeof value === "bigint") return `${value}i`;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return `"${value.replace(/["\\]/g, "\\$&")}"`;
  if (value instanceof UInt) return `${value.value}u`;
  if (value instanceof Time) return `${value.ns}i`;
  return value instanceof Duration ? `${value.ns}i` : null;
}
