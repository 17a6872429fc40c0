// Points as line protocol. Values that cannot be stored are left out: nulls, NaN, infinities, empty tags.
import { near } from "../../../model/errors.ts";
import { FluxError } from "../../values/flux-error.ts";
import { floatText } from "../../values/text.ts";
import { Duration, Time, UInt, type Value } from "../../values/value.ts";

const MEASUREMENT = /[, \n]/g;
/** Of tags and fields, and values of tags. */
const NAME = /[,= \n]/g;

/** Appends points to a text of line protocol. */
export class LineWriter {
  private lines: string[] = [];
  /** Characters so far. */
  length = 0;

  /** @param isStored the lines become rows: none may be a comment */
  constructor(private readonly isStored = false) {}

  /** @throws FluxError: a field without a name, a measurement that begins with # */
  append(measurement: Value, tags: Iterable<readonly [string, Value]>, fields: Iterable<readonly [string, Value]>, ns: bigint): void {
    const written: string[] = [];
    for (const [key, value] of fields) {
      const text = fieldText(value);
      if (text === null) continue;
      if (key === "") throw new FluxError("all fields must have non-empty names");
      const name = escaped(key, NAME);
      if (name !== "") written.push(`${name}=${text}`);
    }
    let line = typeof measurement === "string" ? escaped(measurement, MEASUREMENT) : "";
    if (written.length === 0 || line === "") return;
    if (this.isStored && line.startsWith("#")) {
      throw new FluxError(`cannot write measurement ${JSON.stringify(near(line, 100))}: a line that begins with # is a comment`);
    }
    for (const [key, value] of [...tags].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (typeof value !== "string") continue;
      const name = escaped(key, NAME);
      const text = escaped(value, NAME);
      if (name !== "" && text !== "") line += `,${name}=${text}`;
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

/** No name and no value of a tag may end with a backslash: those at the end are left out. Others are doubled where they would escape what
 *  follows, a special character or a backslash; elsewhere one stands for itself, for servers too that know no doubled ones. A line end
 *  becomes two characters. */
function escaped(text: string, special: RegExp): string {
  if (!/[\\,= \n]/.test(text)) return text;
  const kept = text.replace(/\\+$/, "").replace(/\\+(?=[,= ])|\\{2,}/g, "$&$&");
  return kept.replace(special, (char) => (char === "\n" ? "\\n" : `\\${char}`));
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
