// A connection runs one statement at a time; its result streams. Beginning another statement ends the one before.
import type duckdbTypes from "@duckdb/node-bindings";
import { duckdb } from "./binding.ts";
import { engineError } from "./errors.ts";
import { ResultStream } from "./result-stream.ts";

export interface StatementColumn {
  readonly name: string;
  readonly type: duckdbTypes.LogicalType;
}

export class Connection {
  constructor(readonly handle: duckdbTypes.Connection) {}

  /** Runs a statement whose rows are of no interest. */
  async run(sql: string): Promise<void> {
    try {
      await duckdb.query(this.handle, sql);
    } catch (error) {
      throw engineError(error);
    }
  }

  /** @throws TsdbError bad_query with `position` in `sql` where DuckDB knows it */
  async prepare(sql: string): Promise<Statement> {
    try {
      return new Statement(await duckdb.prepare(this.handle, sql));
    } catch (error) {
      throw engineError(error);
    }
  }

  /** Stops what runs on this connection, if anything does; it fails with `cancelled`. May be called at any time. */
  interrupt(): void {
    duckdb.interrupt(this.handle);
  }

  close(): void {
    duckdb.disconnect_sync(this.handle);
  }
}

export class Statement {
  constructor(private readonly handle: duckdbTypes.PreparedStatement) {}

  /** The columns of the answer. */
  columns(): StatementColumn[] {
    const count = duckdb.prepared_statement_column_count(this.handle);
    return Array.from({ length: count }, (_, i) => ({
      name: duckdb.prepared_statement_column_name(this.handle, i),
      type: duckdb.prepared_statement_column_logical_type(this.handle, i),
    }));
  }

  bindVarchar(index: number, text: string): void {
    duckdb.bind_varchar(this.handle, index, text);
  }

  /** Starts the statement; rows are computed as the stream is read. */
  async execute(): Promise<ResultStream> {
    try {
      return new ResultStream(await duckdb.execute_prepared_streaming(this.handle));
    } catch (error) {
      throw engineError(error);
    }
  }

  close(): void {
    duckdb.destroy_prepare_sync(this.handle);
  }
}
