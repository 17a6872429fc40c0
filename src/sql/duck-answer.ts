// A statement that DuckDB runs on a connection of its own until it is closed.
import type { Connection } from "../duckdb/connection.ts";
import { UNKNOWN_REASON } from "../duckdb/errors.ts";
import type { ResultStream } from "../duckdb/result-stream.ts";
import { castForReading } from "../duckdb/type-text.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { ResultBatch, ResultField } from "../model/result-batch.ts";
import { type ExplainOptions, explainAnswer } from "./explain.ts";
import { ident } from "./names.ts";

export class DuckAnswer {
  private stream: ResultStream | null = null;
  private isFinished = false;
  /** What DuckDB was asked, without casts for reading. */
  private executed = "";

  constructor(
    private readonly connection: Connection,
    private readonly release: () => void,
  ) {}

  /** Starts `sql`; `check` throws when the statement was stopped meanwhile. Gives the columns. @throws TsdbError */
  async start(sql: string, check: () => void): Promise<readonly ResultField[]> {
    let statement = await this.connection.prepare(sql);
    try {
      checkColumnCount(statement.columnCount);
      const columns = statement.columns();
      const casts = columns.map(({ type }) => castForReading(type));
      if (casts.some((cast) => cast !== null)) {
        // Types that no client knows leave as text; the columns are named by position, because names may repeat.
        const names = columns.map((_, i) => ident(`c${i}`));
        const list = columns.map(({ name }, i) => `${casts[i] === null ? names[i] : `CAST(${names[i]} AS ${casts[i]})`} AS ${ident(name)}`);
        statement.close();
        statement = await this.connection.prepare(`SELECT ${list.join(", ")} FROM (${sql}) AS t(${names.join(", ")})`);
      }
      check();
      this.executed = sql;
      this.stream = await statement.execute();
    } finally {
      statement.close();
    }
    return this.stream.fields;
  }

  async next(): Promise<ResultBatch | null> {
    const batch = await this.stream!.next();
    this.isFinished = batch === null;
    return batch;
  }

  /** The whole answer of an EXPLAIN. */
  async explanation(options: ExplainOptions): Promise<ResultBatch> {
    const answer = await explainAnswer(this.stream!, options);
    this.isFinished = true;
    return answer;
  }

  /** The error itself, or, when rows broke off without a reason, what DuckDB says when the statement runs again without an answer. */
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
      // a position would count from the words put before the statement
      return new TsdbError(reason.kind, reason.message, { engineKind: reason.details["engineKind"] }, { cause: error });
    }
  }

  interrupt(): void {
    this.connection.interrupt();
  }

  /** `hasScans`: DuckDB's threads may be in the statement's scans. Once it resolves none is. */
  async close(hasScans: boolean, noticeError: (error: unknown) => void): Promise<void> {
    if (this.stream !== null && !this.isFinished) this.connection.interrupt();
    // The next statement on a connection ends the one before and waits for its threads.
    if (!this.isFinished || hasScans) await this.connection.run("SELECT 1").catch(noticeError);
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
