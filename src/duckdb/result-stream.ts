// DuckDB's chunks as ResultBatch, one at a time: nothing is read ahead, so a slow reader holds back the query.
import type duckdbTypes from "@duckdb/node-bindings";
import type { ResultBatch, ResultColumn, ResultField } from "../model/result-batch.ts";
import { duckdb } from "./binding.ts";
import { type ColumnReader, createColumnReader } from "./column-reader.ts";
import { engineError } from "./errors.ts";

export class ResultStream {
  readonly fields: readonly ResultField[];
  private readonly readers: readonly ColumnReader[];

  constructor(private readonly result: duckdbTypes.Result) {
    const count = duckdb.column_count(result);
    this.readers = Array.from({ length: count }, (_, i) => createColumnReader(duckdb.column_logical_type(result, i)));
    this.fields = this.readers.map((reader, i) => ({ name: duckdb.column_name(result, i), type: reader.type }));
  }

  /** The next rows, or null at the end. The batch owns its buffers. @throws TsdbError */
  async next(): Promise<ResultBatch | null> {
    let chunk: duckdbTypes.DataChunk | null;
    try {
      chunk = await duckdb.fetch_chunk(this.result);
    } catch (error) {
      throw engineError(error);
    }
    if (chunk === null) return null;
    const rowCount = duckdb.data_chunk_get_size(chunk);
    if (rowCount === 0) return null;
    const columns: ResultColumn[] = [];
    for (let i = 0; i < this.readers.length; i++) {
      columns.push(this.readers[i]!.read(duckdb.data_chunk_get_vector(chunk, i), rowCount));
    }
    return { rowCount, columns };
  }
}
