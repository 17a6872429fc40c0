// A statement that DuckDB runs, on a connection of its own until it is closed.
import { fieldsOf } from "../../duckdb/column-reader.ts";
import type { Connection, Statement, StatementColumn } from "../../duckdb/connection.ts";
import { UNKNOWN_REASON } from "../../duckdb/errors.ts";
import type { ResultStream } from "../../duckdb/result-stream.ts";
import { castForReading } from "../../duckdb/type-text.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ResultBatch, ResultField } from "../../model/query/result-batch.ts";
import { ident } from "../parse/names.ts";

interface PreparedAnswer {
  readonly statement: Statement;
  /** Null: columns are cast to text because clients do not support their types, and these columns are not examined. */
  readonly columns: readonly StatementColumn[] | null;
}

/** The execution of one statement in DuckDB. */
export class DuckAnswer {
  private stream: ResultStream | null = null;
  private isFinished = false;
  /** Cache key of the prepared statement in the connection. */
  private keptAs: string | null = null;
  /** The executed text, without casts for reading. */
  private executed = "";

  constructor(
    private readonly connection: Connection,
    private readonly release: () => void,
  ) {}

  /** Starts `sql`; `check` throws if the statement was stopped meanwhile. Returns the columns. Statements with equal text and `keepAs`
   *  have equal plans: DuckDB plans them once per connection; null: do not cache. @throws TsdbError */
  async start(sql: string, keepAs: string | null, check: () => void): Promise<readonly ResultField[]> {
    this.executed = sql;
    this.isFinished = false;
    const key = keepAs === null ? null : `${sql}\0${keepAs}`;
    const kept = key === null ? undefined : this.connection.findKept(key);
    if (kept !== undefined) {
      this.keptAs = key;
      check();
      this.stream = await kept.execute();
    } else await this.prepareAndStart(sql, key, check);
    return this.stream!.fields;
  }

  /** The columns of the answer to `sql`, and its parameters. @throws TsdbError */
  async describe(sql: string): Promise<{ readonly fields: readonly ResultField[]; readonly parameters: readonly ResultField[] }> {
    const { statement, columns } = await this.prepare(sql);
    try {
      return { fields: fieldsOf(columns ?? (await statement.columns())), parameters: fieldsOf(statement.parameters()) };
    } finally {
      statement.close();
    }
  }

  private async prepare(sql: string): Promise<PreparedAnswer> {
    const statement = await this.connection.prepare(sql);
    let isKept = false;
    try {
      checkColumnCount(statement.columnCount);
      const columns = await statement.columns();
      const casts = columns.map(({ type }) => castForReading(type));
      isKept = casts.every((cast) => cast === null);
      if (isKept) return { statement, columns };
      // columns are named by position, because names may repeat
      const names = columns.map((_, i) => ident(`c${i}`));
      const list = columns.map(({ name }, i) => `${casts[i] === null ? names[i] : `CAST(${names[i]} AS ${casts[i]})`} AS ${ident(name)}`);
      const cast = await this.connection.prepare(`SELECT ${list.join(", ")} FROM (${sql}) AS t(${names.join(", ")})`);
      return { statement: cast, columns: null };
    } finally {
      if (!isKept) statement.close();
    }
  }

  private async prepareAndStart(sql: string, key: string | null, check: () => void): Promise<void> {
    const { statement, columns } = await this.prepare(sql);
    try {
      check();
      this.stream = await statement.execute();
      if (key !== null && columns !== null) this.keptAs = key;
    } finally {
      if (this.keptAs === null) statement.close();
      else this.connection.keep(this.keptAs, statement);
    }
  }

  async next(): Promise<ResultBatch | null> {
    const batch = await this.stream!.next();
    this.isFinished = batch === null;
    return batch;
  }

  /** The whole answer of an EXPLAIN: the text of its second column. */
  async explanation(): Promise<string> {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let text = "";
    for (let batch = await this.next(); batch !== null; batch = await this.next()) text += decoder.decode(batch.columns[1]!.data!);
    return text;
  }

  /** The error itself or, if the result failed without a reason, the error of running the statement again without an answer. */
  async withReason(error: unknown): Promise<unknown> {
    if (!(error instanceof TsdbError) || error.details["engineKind"] !== UNKNOWN_REASON) return error;
    try {
      const statement = await this.connection.prepare(`EXPLAIN ANALYZE ${this.executed}`);
      try {
        await statement.execute();
      } finally {
        statement.close();
      }
      return error;
    } catch (reason) {
      if (!(reason instanceof TsdbError)) return reason;
      // a position would count from the text inserted before the statement
      return new TsdbError(reason.kind, reason.message, { engineKind: reason.details["engineKind"] }, { cause: error });
    }
  }

  interrupt(): void {
    this.connection.interrupt();
  }

  /** @param hasScans DuckDB's threads may be in the statement's scans; when it resolves none is */
  async close(hasScans: boolean, noticeError: (error: unknown) => void): Promise<void> {
    if (this.stream !== null && !this.isFinished) this.connection.interrupt();
    // do not cache a failed or abandoned statement
    if (!this.isFinished && this.keptAs !== null) this.connection.forget(this.keptAs);
    if (!this.isFinished || hasScans) await this.connection.settle().catch(noticeError);
    this.release();
  }
}

/** @throws TsdbError bad_query */
export function checkColumnCount(columnCount: number): void {
  if (columnCount <= LIMITS.answerColumnsMax) return;
  throw new TsdbError(
    "bad_query",
    `Error during planning: the answer has ${columnCount} columns, more than the ${LIMITS.answerColumnsMax} there may be`,
  );
}
