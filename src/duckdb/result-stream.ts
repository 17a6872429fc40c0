// DuckDB's chunks as ResultBatch, one at a time: nothing is read ahead, so a slow reader holds back the query.
import type duckdbTypes from "@duckdb/node-bindings";
import type { ResultBatch, ResultColumn, ResultField } from "../model/result-batch.ts";
import { duckdb } from "./binding.ts";
import { type ColumnReader, createColumnReader } from "./column-reader.ts";
import { brokenResult, engineError } from "./errors.ts";
import { nativeCalls } from "./native-calls.ts";

export class ResultStream {
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
    const columns: ResultColumn[] = [];
    for (let i = 0; i < this.readers.length; i++) {
      columns.push(this.readers[i]!.read(duckdb.data_chunk_get_vector(chunk, i), rowCount));
    }
    return { rowCount, columns };
  }
}
