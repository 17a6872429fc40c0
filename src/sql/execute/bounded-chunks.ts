// Limits the text per chunk of a scan: functions copy a chunk's text, which the engine's memory limit does not count, and a row may hold a
// megabyte.
import type { ChunkCursor } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ScanChunk, ScanColumn } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";

/** Bitmaps can be cut at whole bytes only. */
const STEP_ROWS = 8;
/** Tag values are short: this many rows are sampled to detect chunks with long ones. */
const SAMPLES = 16;
const LONG_BYTES = LIMITS.chunkTextBytesMax / LIMITS.vectorRows;
const VIEW_WORDS = 4;

/** The same rows in limited chunks. `columns` are those of the cursor's chunks. */
export function boundChunks(kernel: Kernel, cursor: ChunkCursor, columns: readonly ColumnDef[]): ChunkCursor {
  const texts = columns.flatMap(({ type }, i) => (type === ColumnType.string || type === ColumnType.tag ? [{ column: i, type }] : []));
  if (texts.length === 0) return cursor;
  const types = columns.map(({ type }) => type);
  let rest: ScanChunk | null = null;
  const measure = (chunk: ScanChunk, from: number, to: number) => {
    let bytes = 0;
    for (const { column } of texts) bytes += textBytes(kernel, chunk.columns[column]!, from, to);
    return bytes;
  };
  /** Fast for short text, which is the common case. */
  const isShort = (chunk: ScanChunk) =>
    texts.every(({ column, type }) => type === ColumnType.tag && seemsShort(kernel, chunk.columns[column]!, chunk.rowCount)) ||
    measure(chunk, 0, chunk.rowCount) <= LIMITS.chunkTextBytesMax;
  return {
    next: () => {
      const chunk: ScanChunk | null = rest ?? cursor.next();
      rest = null;
      if (chunk === null || chunk.rowCount <= STEP_ROWS || isShort(chunk)) return chunk;
      let count = 0;
      for (let bytes = 0; count < chunk.rowCount; count += STEP_ROWS) {
        bytes += measure(chunk, count, Math.min(count + STEP_ROWS, chunk.rowCount));
        if (bytes > LIMITS.chunkTextBytesMax && count > 0) break;
      }
      if (count >= chunk.rowCount) return chunk;
      rest = part(chunk, types, count, chunk.rowCount - count);
      return part(chunk, types, 0, count);
    },
    close: () => cursor.close(),
  };
}

/** The same rows, at most `firstRows` in the first chunk, twice as many in each next one, up to `rowsMax`; both are multiples of 8. */
export function cutChunks(cursor: ChunkCursor, types: readonly ColumnType[], firstRows: number, rowsMax: number): ChunkCursor {
  let rest: ScanChunk | null = null;
  let rows = Math.min(firstRows, rowsMax);
  return {
    next: () => {
      const chunk: ScanChunk | null = rest ?? cursor.next();
      const count = rows;
      rows = Math.min(2 * rows, rowsMax);
      rest = null;
      if (chunk === null || chunk.rowCount <= count) return chunk;
      rest = part(chunk, types, count, chunk.rowCount - count);
      return part(chunk, types, 0, count);
    },
    close: () => cursor.close(),
  };
}

function part(chunk: ScanChunk, types: readonly ColumnType[], from: number, rowCount: number): ScanChunk {
  return {
    rowCount,
    columns: chunk.columns.map(({ dataPtr, validityPtr }, i): ScanColumn => {
      if (dataPtr === 0) return { dataPtr, validityPtr };
      return {
        dataPtr: dataPtr + from * VALUE_BYTES[types[i]!],
        validityPtr: validityPtr === 0 ? 0 : validityPtr + from / STEP_ROWS,
      };
    }),
  };
}

/** Views of NULLs have undefined lengths, so they are counted up to the maximum length of a value. */
function textBytes({ u32 }: Kernel, { dataPtr }: ScanColumn, from: number, to: number): number {
  if (dataPtr === 0) return 0;
  let bytes = 0;
  const first = dataPtr >>> 2;
  for (let row = from; row < to; row++) bytes += Math.min(u32[first + row * VIEW_WORDS]!, LIMITS.stringFieldBytesMax);
  return bytes;
}

function seemsShort({ u32 }: Kernel, { dataPtr }: ScanColumn, rowCount: number): boolean {
  if (dataPtr === 0) return true;
  const first = dataPtr >>> 2;
  const step = Math.max(1, Math.floor(rowCount / SAMPLES));
  for (let row = 0; row < rowCount; row += step) if (u32[first + row * VIEW_WORDS]! > LONG_BYTES) return false;
  return true;
}
