// Strings by code as strings in full, which the kernel writes: the rows of one batch at a time.
import { assert } from "../model/assert.ts";
import type { ResultBatch, ResultColumn, ResultField } from "../model/result-batch.ts";

const utf8 = new TextEncoder();
const NO_TEXT = new Uint8Array(0);

/** The same fields without codes. */
export function withoutCodes(fields: readonly ResultField[]): readonly ResultField[] {
  if (!fields.some(({ type }) => type.kind === "dictionary")) return fields;
  return fields.map((field) => (field.type.kind === "dictionary" ? { ...field, type: { kind: "utf8" } } : field));
}

/** Keeps the bytes of a dictionary's strings from one batch to the next. */
export class CodeStrings {
  private readonly known = new Map<number, { readonly dictionary: readonly string[]; readonly texts: (Uint8Array | undefined)[] }>();

  /** `batch`, its rows from `from` to before `to` with strings in full; of the others nothing is said. */
  expand(batch: ResultBatch, from: number, to: number): ResultBatch {
    if (!batch.columns.some(({ dictionary }) => dictionary !== undefined)) return batch;
    const columns = batch.columns.map((column, i) =>
      column.dictionary === undefined ? column : this.column(column, i, { rowCount: batch.rowCount, from, to }),
    );
    return { rowCount: batch.rowCount, columns };
  }

  private column(
    column: ResultColumn,
    index: number,
    { rowCount, from, to }: { rowCount: number; from: number; to: number },
  ): ResultColumn {
    const { validity, values, dictionary } = column;
    assert(dictionary !== undefined, "a column of codes has a dictionary");
    const kept = this.known.get(index);
    const texts = kept?.dictionary === dictionary ? kept.texts : [];
    if (texts !== kept?.texts) this.known.set(index, { dictionary, texts });
    const offsets = new Int32Array(rowCount + 1);
    const found: Uint8Array[] = [];
    let bytes = 0;
    for (let row = from; row < to; row++) {
      const isNull = validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0;
      const code = values[row] as number;
      let text = isNull ? NO_TEXT : texts[code];
      if (text === undefined) {
        text = utf8.encode(dictionary[code]!);
        texts[code] = text;
      }
      found.push(text);
      bytes += text.length;
      offsets[row + 1] = bytes;
    }
    offsets.fill(bytes, to + 1);
    const data = new Uint8Array(bytes);
    let at = 0;
    for (const text of found) {
      data.set(text, at);
      at += text.length;
    }
    return { validity, values: NO_TEXT, offsets, data };
  }
}
