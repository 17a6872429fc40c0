// Encodes series as line protocol, for SELECT … INTO: grouping tags become tags, all other columns fields; a row without fields is omitted.
import { assert } from "../model/assert.ts";
import { TsdbError } from "../model/errors.ts";
import type { ResultBatch, ResultColumn, ResultField } from "../model/query/result-batch.ts";
import type { SeriesHead } from "../model/query/series-piece.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../model/rows/column.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { Encoder } from "./encoder.ts";

/** Bytes collected before they are returned. */
const PART_BYTES = 64 << 10;
const TAG = COLUMN_TYPE_LABEL[ColumnType.tag];
const COMMA = 0x2c;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
/** Characters of a name in an error. */
const SHOWN_MAX = 100;

// ranges of a string column consist of whole characters
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Each part consists of whole lines. Values that line protocol cannot represent are omitted, like NULLs: NaN and infinite floats. */
export class LineEncoder implements Encoder<SeriesHead> {
  readonly contentType = "text/plain; charset=utf-8";
  private readonly out = new ByteWriter();
  private fields: readonly ResultField[] = [];
  private seriesKey = "";
  private labels: readonly string[] = [];
  /** Columns written as tags, in addition to those of the series. */
  private tagColumns: readonly number[] = [];
  private isLeftOut: readonly boolean[] = [];

  /** @param measurement that of all lines; null: each series' own */
  constructor(private readonly measurement: string | null) {}

  /** @throws TsdbError bad_request: line protocol has no text for a name or a tag of the series */
  begin(head: SeriesHead): null {
    const [time] = head.fields;
    assert(time?.type.kind === "timestamp" && time.type.unit === "ns", "rows that are written have a time");
    this.fields = head.fields;
    const tags = (head.tags ?? []).filter(([, value]) => value !== "");
    this.seriesKey = [measurementText(this.measurement ?? head.name), ...tags.map((pair) => pair.map(escapeKey).join("="))].join(",");
    const grouped = new Set((head.tags ?? []).map(([key]) => key));
    this.tagColumns = head.fields.flatMap(({ name: key, isTargetTag }, i) => (isTargetTag === true && !grouped.has(key) ? [i] : []));
    // a tag that is also selected is written once, as a tag: tables have no field with a tag's name
    const written = new Set([...grouped, ...this.tagColumns.map((i) => head.fields[i]!.name)]);
    this.isLeftOut = head.fields.map((field) => field.isTargetTag === true || (field.columnKind === TAG && written.has(field.name)));
    this.labels = head.fields.map((field) => `${escapeKey(field.name)}=`);
    return null;
  }

  rows(batch: ResultBatch): Uint8Array | null {
    for (let row = 0; row < batch.rowCount; row++) this.writeLine(this.fields, batch.columns, row);
    return this.out.length >= PART_BYTES ? this.out.take() : null;
  }

  end(): Uint8Array | null {
    return this.out.takeIfAny();
  }

  private writeLine(fields: readonly ResultField[], columns: readonly ResultColumn[], row: number): void {
    const { out } = this;
    const start = out.length;
    out.utf8(this.seriesKey);
    for (const i of this.tagColumns) {
      const value = textOf(columns[i]!, row);
      if (value !== "") out.utf8(`,${this.labels[i]!}${escapeKey(value)}`);
    }
    const before = out.length;
    for (let i = 1; i < fields.length; i++) {
      if (this.isLeftOut[i]) continue;
      const text = fieldText(fields[i]!, columns[i]!, row);
      if (text === null) continue;
      out.byte(out.length === before ? SPACE : COMMA);
      out.utf8(this.labels[i]!);
      out.utf8(text);
    }
    if (out.length === before) {
      out.truncate(start);
      return;
    }
    out.byte(SPACE);
    out.ascii(String(columns[0]!.values[row]!));
    out.byte(LINE_FEED);
  }
}

/** A line that begins with # is a comment. */
function measurementText(name: string): string {
  if (name.startsWith("#")) throw unwritable("measurement", name, "begins with #");
  return escaped("measurement", name, /[, ]/g);
}

function escapeKey(text: string): string {
  return escaped("tag or field", text, /[,= ]/g);
}

/** Backslashes are doubled where they would escape what follows: a special character or a backslash. */
function escaped(what: string, text: string, special: RegExp): string {
  if (!/[\\,= \n]/.test(text)) return text;
  if (text.includes("\n")) throw unwritable(what, text, "has a line end");
  if (text.endsWith("\\")) throw unwritable(what, text, "ends with a backslash");
  return text.replace(/\\+(?=[,= ])|\\{2,}/g, "$&$&").replace(special, "\\$&");
}

function unwritable(what: string, text: string, why: string): TsdbError {
  return new TsdbError("bad_request", `cannot write ${what} ${JSON.stringify(text.slice(0, SHOWN_MAX))}: it ${why}`);
}

/** "" for none. */
function textOf(column: ResultColumn, row: number): string {
  const { validity, values, dictionary, data, offsets } = column;
  if (validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0) return "";
  return dictionary !== undefined ? dictionary[values[row] as number]! : decoder.decode(data!.slice(offsets![row]!, offsets![row + 1]!));
}

/** Null: omitted. */
function floatText(value: number): string | null {
  if (!Number.isFinite(value)) return null;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Null: omitted. */
function fieldText({ type }: ResultField, column: ResultColumn, row: number): string | null {
  const { validity, values } = column;
  if (validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0) return null;
  switch (type.kind) {
    case "bool":
      return values[row] === 0 ? "false" : "true";
    case "int":
      return `${values[row]!}${type.signed ? "i" : "u"}`;
    case "float":
      return floatText(values[row] as number);
    case "utf8":
    case "dictionary":
      return quoted(textOf(column, row));
    case "timestamp":
      return `${values[row]!}i`;
    default:
      assert(type.kind === "null", `a field of type ${type.kind} in line protocol`);
      return null;
  }
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
