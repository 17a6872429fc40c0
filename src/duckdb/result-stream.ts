// DuckDB's chunks as ResultBatch, one at a time: nothing is read ahead, so a slow reader holds back the query.
import type duckdbTypes from "@duckdb/node-bindings";
import { LIMITS } from "../model/limits.ts";
import type { ResultBatch, ResultColumn, ResultField } from "../model/result-batch.ts";
import { takeRows } from "../model/take-rows.ts";
import { duckdb } from "./binding.ts";
import { type ColumnReader, createColumnReader, readTextPart, textBytesOf } from "./column-reader.ts";
import { brokenResult, engineError } from "./errors.ts";
import { nativeCalls } from "./native-calls.ts";

/** Rows of a chunk whose texts together are too long for one batch, in their order. */
interface LongRows {
  readonly chunk: duckdbTypes.DataChunk;
  readonly rowCount: number;
  from: number;
  /** Those that are not text, read once. */
  readonly columns: readonly (ResultColumn | null)[];
}

export class ResultStream {
  private long: LongRows | null = null;
  readonly fields: readonly ResultField[];
  private readonly readers: readonly ColumnReader[];

  /** `owner`: the connection, whose interrupt ends a wait for a thread. */
  constructor(
    private readonly result: duckdbTypes.Result,
    private readonly owner: object,
  ) {
    const count = duckdb.column_count(result);
    this.readers = Array.from({ length: count }, (_, i) => createColumnReader(duckdb.column_logical_type(result, i)));
    this.fields = this.readers.map((reader, i) => ({ name: duckdb.column_name(result, i), type: reader.type }));
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
      // The end looks the same after an error, and nothing is thrown then: only the result's type tells.
      if (duckdb.result_return_type(this.result) === duckdb.ResultType.INVALID) throw brokenResult();
      return null;
    }
    if (this.textBytes(chunk, 0, rowCount) > LIMITS.batchTextBytesMax) {
      const columns = this.readers.map((reader, i) =>
        isText(reader) ? null : reader.read(duckdb.data_chunk_get_vector(chunk, i), rowCount),
      );
      this.long = { chunk, rowCount, from: 0, columns };
      return this.nextPart(this.long);
    }
    const columns: ResultColumn[] = [];
    for (let i = 0; i < this.readers.length; i++) {
      columns.push(this.readers[i]!.read(duckdb.data_chunk_get_vector(chunk, i), rowCount));
    }
    return { rowCount, columns };
  }

  private textBytes(chunk: duckdbTypes.DataChunk, from: number, to: number): number {
    let bytes = 0;
    for (let i = 0; i < this.readers.length; i++) {
      if (isText(this.readers[i]!)) bytes += textBytesOf(duckdb.data_chunk_get_vector(chunk, i), from, to);
    }
    return bytes;
  }

  /** At least one row, and as many more as their texts allow. */
  private nextPart(long: LongRows): ResultBatch {
    const { chunk, rowCount, from } = long;
    let to = from;
    for (let bytes = 0; to < rowCount; to++) {
      bytes += this.textBytes(chunk, to, to + 1);
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
