// DuckDB's chunks as ResultBatch, one at a time: nothing is read ahead, so a slow reader holds back the query.
import type duckdbTypes from "@duckdb/node-bindings";
import { LIMITS } from "../model/limits.ts";
import { type ResultBatch, type ResultColumn, type ResultField, rowsOfBatch } from "../model/query/result-batch.ts";
import { takeRows } from "../model/rows/take-rows.ts";
import { duckdb } from "./binding.ts";
import { addTextBytes, createColumnReader, readTextPart } from "./column-reader.ts";
import { brokenResult, engineError } from "./errors.ts";
import { nativeCalls } from "./native-calls.ts";
import type { ColumnReader } from "./vector.ts";

/** A chunk that is split into several batches, in row order. */
interface LongChunk {
  readonly chunk: duckdbTypes.DataChunk;
  readonly rowCount: number;
  from: number;
  /** Columns that were read as a whole; null: read per batch. */
  readonly columns: readonly (ResultColumn | null)[];
  /** Text bytes per row; null if they fit one batch. */
  readonly textBytes: Float64Array | null;
}

/** Number of live results of this thread: a result keeps its database alive until garbage collection. */
let liveCount = 0;
const collected = new FinalizationRegistry<null>(() => {
  liveCount--;
});

/** Results of this thread that were not collected yet. */
export function liveResultCount(): number {
  return liveCount;
}

/** Time without a pause while reading a wide chunk. */
const TURN_MS = 5;

/** The streaming result of one statement. */
export class ResultStream {
  private long: LongChunk | null = null;
  /** Approximate rows per batch. */
  private readonly rowsMax: number;
  readonly fields: readonly ResultField[];
  private readonly readers: readonly ColumnReader[];

  /** @param owner the connection, whose interrupt ends waiting for a thread */
  constructor(
    private readonly result: duckdbTypes.Result,
    private readonly owner: object,
  ) {
    liveCount++;
    collected.register(result, null);
    const count = duckdb.column_count(result);
    this.readers = Array.from({ length: count }, (_, i) => createColumnReader(duckdb.column_logical_type(result, i)));
    this.fields = this.readers.map((reader, i) => ({ name: duckdb.column_name(result, i), type: reader.type }));
    this.rowsMax = rowsOfBatch(count);
  }

  /** The next rows, or null at the end. The batch owns its buffers. @throws TsdbError */
  async next(): Promise<ResultBatch | null> {
    if (this.long !== null) return this.nextPart(this.long);
    let chunk: duckdbTypes.DataChunk | null;
    try {
      chunk = await nativeCalls.run(this.owner, () => duckdb.fetch_chunk(this.result));
    } catch (error) {
      throw engineError(error);
    }
    const rowCount = chunk === null ? 0 : duckdb.data_chunk_get_size(chunk);
    if (chunk === null || rowCount === 0) {
      // The end looks the same after an error, without an exception: only the result's type differs.
      if (duckdb.result_return_type(this.result) === duckdb.ResultType.INVALID) throw brokenResult();
      return null;
    }
    const textBytes = this.longTexts(chunk, rowCount);
    const columns: (ResultColumn | null)[] = [];
    let sinceMs = performance.now();
    for (const [i, reader] of this.readers.entries()) {
      columns.push(textBytes !== null && isText(reader) ? null : reader.read(duckdb.data_chunk_get_vector(chunk, i), rowCount));
      if (performance.now() - sinceMs < TURN_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      sinceMs = performance.now();
    }
    if (textBytes === null && rowCount <= this.rowsMax) return { rowCount, columns: columns as ResultColumn[] };
    this.long = { chunk, rowCount, from: 0, columns, textBytes };
    return this.nextPart(this.long);
  }

  /** Text bytes by row; null if all rows of the chunk fit one batch. */
  private longTexts(chunk: duckdbTypes.DataChunk, rowCount: number): Float64Array | null {
    const bytes = new Float64Array(rowCount);
    for (const [i, reader] of this.readers.entries()) if (isText(reader)) addTextBytes(duckdb.data_chunk_get_vector(chunk, i), bytes);
    return bytes.reduce((sum, row) => sum + row, 0) > LIMITS.batchTextBytesMax ? bytes : null;
  }

  /** The next rows of the chunk, at least one, up to a batch's size. */
  private nextPart(long: LongChunk): ResultBatch {
    const { chunk, rowCount, from, textBytes } = long;
    const end = Math.min(rowCount, from + this.rowsMax);
    let to = textBytes === null ? end : from;
    for (let bytes = 0; to < end; to++) {
      bytes += textBytes![to]!;
      if (bytes > LIMITS.batchTextBytesMax && to > from) break;
    }
    long.from = to;
    if (to === rowCount) this.long = null;
    const rows = Uint32Array.from({ length: to - from }, (_, i) => from + i);
    const columns = this.readers.map((reader, i): ResultColumn => {
      const whole = long.columns[i]!;
      return whole === null ? readTextPart(duckdb.data_chunk_get_vector(chunk, i), from, to) : takeRows(whole, reader.type, rows);
    });
    return { rowCount: to - from, columns };
  }
}

function isText({ type }: ColumnReader): boolean {
  return type.kind === "utf8" || type.kind === "binary";
}
