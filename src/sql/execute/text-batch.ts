// Rows of texts as a batch of an answer: EXPLAIN and DESCRIBE.
import type { ResultBatch } from "../../model/query/result-batch.ts";

/** At least one row; all have as many texts. */
export function textBatch(rows: readonly (readonly string[])[]): ResultBatch {
  return { rowCount: rows.length, columns: rows[0]!.map((_, i) => textColumn(rows.map((row) => row[i]!))) };
}

function textColumn(texts: readonly string[]): ResultBatch["columns"][number] {
  const encoded = texts.map((text) => Buffer.from(text));
  const offsets = new Int32Array(texts.length + 1);
  encoded.forEach((text, i) => {
    offsets[i + 1] = offsets[i]! + text.length;
  });
  return { validity: null, values: new Uint8Array(0), offsets, data: new Uint8Array(Buffer.concat(encoded)) };
}
