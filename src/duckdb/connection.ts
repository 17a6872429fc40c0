// A connection runs one statement at a time; its result streams. Starting another statement ends the previous one.
import type duckdbTypes from "@duckdb/node-bindings";
import { TsdbError } from "../model/errors.ts";
import { DuckType, duckdb } from "./binding.ts";
import { engineError } from "./errors.ts";
import { nativeCalls } from "./native-calls.ts";
import { ResultStream } from "./result-stream.ts";

export interface StatementColumn {
  readonly name: string;
  readonly type: duckdbTypes.LogicalType;
}

/** Prepared statements kept per connection, and their maximum length. */
const KEPT_MAX = 16;
const KEPT_CHARS_MAX = 16 << 10;
/** Time without a pause, and columns between two readings of the clock. */
const PAUSE_MS = 5;
const PAUSE_COLUMNS = 32;

/** DuckDB's error for a text without a statement. */
const NO_STATEMENT = "No statement to prepare";

/** A DuckDB connection with a cache of prepared statements. */
export class Connection {
  /** Least recently used first. */
  private readonly kept = new Map<string, Statement>();
  /** Statements not closed yet: those in use, those in the cache, and those whose users were terminated. */
  private readonly open = new Set<Statement>();

  constructor(
    readonly handle: duckdbTypes.Connection,
    private readonly onClose: () => void,
  ) {}

  /** Runs a short statement whose result is not needed. */
  async run(sql: string): Promise<void> {
    try {
      await nativeCalls.track(duckdb.query(this.handle, sql));
    } catch (error) {
      throw engineError(error);
    }
  }

  /** Ends the previous statement and resolves when none of its threads executes it any more. Preparing no statement does just that before
   *  it fails; running `SELECT 1` takes ten times as long (450 instead of 50 µs). @throws TsdbError for any other failure */
  async settle(): Promise<void> {
    try {
      await nativeCalls.track(duckdb.prepare(this.handle, ""));
    } catch (error) {
      if (!String(error).includes(NO_STATEMENT)) throw engineError(error);
    }
  }

  /** @throws TsdbError bad_query with `position` in `sql` if DuckDB reports it */
  async prepare(sql: string): Promise<Statement> {
    try {
      const handle = await nativeCalls.run(this, () => duckdb.prepare(this.handle, sql));
      const statement = new Statement(handle, this, () => this.open.delete(statement));
      this.open.add(statement);
      return statement;
    } catch (error) {
      throw engineError(error);
    }
  }

  /** The cached statement of this key. */
  findKept(key: string): Statement | undefined {
    const statement = this.kept.get(key);
    if (statement !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, statement);
    }
    return statement;
  }

  /** Caches a prepared statement instead of closing it. */
  keep(key: string, statement: Statement): void {
    if (key.length > KEPT_CHARS_MAX || this.kept.has(key)) {
      statement.close();
      return;
    }
    this.kept.set(key, statement);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT_MAX) this.forget(oldest!);
  }

  forget(key: string): void {
    this.kept.get(key)?.close();
    this.kept.delete(key);
  }

  /** Stops the running statement, if any; it fails with `cancelled`. May be called at any time. */
  interrupt(): void {
    nativeCalls.cancel(this);
    duckdb.interrupt(this.handle);
  }

  close(): void {
    this.kept.clear();
    for (const statement of [...this.open]) statement.close();
    duckdb.disconnect_sync(this.handle);
    this.onClose();
  }
}

/** A prepared statement. Owned: call `close`, or hand it to Connection.keep. */
export class Statement {
  private isClosed = false;

  constructor(
    private readonly handle: duckdbTypes.PreparedStatement,
    private readonly connection: Connection,
    private readonly onClose: () => void,
  ) {}

  get columnCount(): number {
    return duckdb.prepared_statement_column_count(this.handle);
  }

  /** The columns of the result. Takes quadratic time, because DuckDB examines all columns for each (400 ms for 4,000 decimals), so it
   *  pauses for other statements of the thread. @throws TsdbError cancelled if it was closed meanwhile */
  async columns(): Promise<StatementColumn[]> {
    const columns: StatementColumn[] = [];
    let pauseAtMs = performance.now() + PAUSE_MS;
    for (let i = 0; i < this.columnCount; i++) {
      columns.push({
        name: duckdb.prepared_statement_column_name(this.handle, i),
        type: duckdb.prepared_statement_column_logical_type(this.handle, i),
      });
      if (i % PAUSE_COLUMNS !== PAUSE_COLUMNS - 1 || performance.now() < pauseAtMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.isClosed) throw new TsdbError("cancelled", "the query was cancelled");
      pauseAtMs = performance.now() + PAUSE_MS;
    }
    return columns;
  }

  /** The parameters; a type is null if the statement does not determine it. */
  parameters(): { readonly name: string; readonly type: duckdbTypes.LogicalType | null }[] {
    return Array.from({ length: duckdb.nparams(this.handle) }, (_, i) => {
      const isKnown = duckdb.param_type(this.handle, i + 1) !== DuckType.INVALID;
      return { name: duckdb.parameter_name(this.handle, i + 1), type: isKnown ? duckdb.param_logical_type(this.handle, i + 1) : null };
    });
  }

  bindVarchar(index: number, text: string): void {
    duckdb.bind_varchar(this.handle, index, text);
  }

  /** Starts execution; rows are computed as the stream is read. */
  async execute(): Promise<ResultStream> {
    try {
      const result = await nativeCalls.run(this.connection, () => duckdb.execute_prepared_streaming(this.handle));
      return new ResultStream(result, this.connection);
    } catch (error) {
      throw engineError(error);
    }
  }

  /** Idempotent: its connection may have closed it during a pause of `columns`. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClose();
    duckdb.destroy_prepare_sync(this.handle);
  }
}
