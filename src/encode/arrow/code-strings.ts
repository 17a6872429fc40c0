// Expands dictionary codes to strings: for the kernel, which formats rows as text, and for Flight, whose clients do not support
// dictionaries.
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultColumn, ResultField } from "../../model/query/result-batch.ts";
import { shownRows } from "./shown-rows.ts";

const utf8 = new TextEncoder();
const NO_TEXT = new Uint8Array(0);

/** The fields with plain strings instead of codes. */
export function withoutCodes(fields: readonly ResultField[]): readonly ResultField[] {
  if (!fields.some(({ type }) => type.kind === "dictionary")) return fields;
  return fields.map((field) => (field.type.kind === "dictionary" ? { ...field, type: { kind: "utf8" } } : field));
}

interface Rows {
  readonly rowCount: number;
  readonly from: number;
  readonly to: number;
}

/** Keeps the bytes of a dictionary's strings between batches. */
export class CodeStrings {
  private readonly known = new Map<number, { readonly dictionary: readonly string[]; readonly texts: (Uint8Array | undefined)[] }>();

  /** @param fields those of all batches; needed for `parts` only */
  constructor(private readonly fields: readonly ResultField[] = []) {}

  /** `batch` with the strings of rows `from` .. `to` - 1 expanded; the other rows are undefined. Returns null if the strings of a column
   *  exceed `bytesMax`. */
  expand(batch: ResultBatch, from: number, to: number, bytesMax = Number.POSITIVE_INFINITY): ResultBatch | null {
    if (!hasCodes(batch)) return batch;
    const columns: ResultColumn[] = [];
    for (const [i, column] of batch.columns.entries()) {
      const rows = { rowCount: batch.rowCount, from, to };
      const expanded = column.dictionary === undefined ? column : this.column(column, i, rows, bytesMax);
      if (expanded === null) return null;
      columns.push(expanded);
    }
    return { rowCount: batch.rowCount, columns };
  }

  /** All rows with expanded strings, in parts of at most `bytesMax` bytes of text, but at least one row. A code has 4 bytes, a string
   *  may have thousands. */
  *parts(batch: ResultBatch, bytesMax: number): Generator<ResultBatch> {
    const { rowCount } = batch;
    if (!hasCodes(batch)) {
      yield batch;
      return;
    }
    for (let from = 0; from < rowCount; ) {
      const to = this.endOfPart(batch, from, bytesMax);
      const count = to - from;
      yield this.expand(count === rowCount ? batch : shownRows(batch, this.fields, { from, count }), 0, count)!;
      from = to;
    }
  }

  /** The end of the longest part that starts at `from` and whose strings fit. */
  private endOfPart({ rowCount, columns }: ResultBatch, from: number, bytesMax: number): number {
    const coded = columns.flatMap((column, i) => (column.dictionary === undefined ? [] : [{ column, texts: this.textsOf(column, i) }]));
    let bytes = 0;
    for (let row = from; row < rowCount; row++) {
      for (const { column, texts } of coded) {
        if (!isNull(column, row)) bytes += textOf(texts, column.dictionary!, column.values[row] as number).length;
      }
      if (bytes > bytesMax && row > from) return row;
    }
    return rowCount;
  }

  private textsOf({ dictionary }: ResultColumn, index: number): (Uint8Array | undefined)[] {
    assert(dictionary !== undefined, "a column of codes has a dictionary");
    const kept = this.known.get(index);
    if (kept?.dictionary === dictionary) return kept.texts;
    const texts: (Uint8Array | undefined)[] = [];
    this.known.set(index, { dictionary, texts });
    return texts;
  }

  private column(column: ResultColumn, index: number, { rowCount, from, to }: Rows, bytesMax: number): ResultColumn | null {
    const { validity, values, dictionary } = column;
    const texts = this.textsOf(column, index);
    const offsets = new Int32Array(rowCount + 1);
    let bytes = 0;
    for (let row = from; row < to; row++) {
      if (!isNull(column, row)) bytes += textOf(texts, dictionary!, values[row] as number).length;
      if (bytes > bytesMax) return null;
      offsets[row + 1] = bytes;
    }
    offsets.fill(bytes, to + 1);
    const data = new Uint8Array(bytes);
    // rows are sorted by series: one string for a run of rows
    for (let row = from; row < to; ) {
      if (isNull(column, row)) {
        row++;
        continue;
      }
      const code = values[row] as number;
      const first = row++;
      while (row < to && (values[row] === code || isNull(column, row))) row++;
      repeat(texts[code]!, data, offsets[first]!, offsets[row]!);
    }
    return { validity, values: NO_TEXT, offsets, data };
  }
}

function hasCodes({ columns }: ResultBatch): boolean {
  return columns.some(({ dictionary }) => dictionary !== undefined);
}

function isNull({ validity }: ResultColumn, row: number): boolean {
  return validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0;
}

function textOf(texts: (Uint8Array | undefined)[], dictionary: readonly string[], code: number): Uint8Array {
  const known = texts[code];
  if (known !== undefined) return known;
  const text = utf8.encode(dictionary[code]!);
  texts[code] = text;
  return text;
}

/** Fills `target` from `start` to `end` with repetitions of `text`. */
function repeat(text: Uint8Array, target: Uint8Array, start: number, end: number): void {
  if (end === start) return;
  target.set(text, start);
  for (let filled = text.length; start + filled < end; filled *= 2) {
    target.copyWithin(start + filled, start, Math.min(start + filled, end - filled));
  }
}
