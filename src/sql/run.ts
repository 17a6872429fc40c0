// One running statement: its scans, its connection, its end. Whatever happens, close() leaves no thread of DuckDB that reads the tables.
import type { Connection } from "../duckdb/connection.ts";
import { UNKNOWN_REASON } from "../duckdb/errors.ts";
import type { ResultStream } from "../duckdb/result-stream.ts";
import { castForReading } from "../duckdb/type-text.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { ResultBatch, ResultSchema } from "../model/result-batch.ts";
import { unknownTable } from "./check.ts";
import type { SqlAnswer, SqlEngine, SqlInput } from "./engine.ts";
import { EXPLAIN_FIELDS, explainAnswer } from "./explain.ts";
import { decodeNames, ident } from "./names.ts";
import type { SqlPlan } from "./plan.ts";
import { printQuery, SqlWriter } from "./print.ts";
import { ResultShape } from "./result-shape.ts";
import { rewriteQuery } from "./rewrite/rewriter.ts";
import type { OutputColumn } from "./scope.ts";
import { StatementScans } from "./statement-scans.ts";

const NO_PARENT_CTES = new Map();

export class SqlRun implements SqlAnswer {
  schema: ResultSchema = { fields: [], tableName: "" };
  private readonly scans: StatementScans;
  private stream: ResultStream | null = null;
  private shape: ResultShape | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private state: "running" | "cancelled" | "timed out" | "closed" = "running";
  private finished = false;
  private writer = new SqlWriter();
  /** What DuckDB was asked, without casts for reading. */
  private executed = "";

  constructor(
    private readonly engine: SqlEngine,
    private readonly connection: Connection,
    private readonly plan: SqlPlan,
    private readonly input: SqlInput,
    private readonly release: () => void,
  ) {
    this.scans = new StatementScans(engine, input.tables, input.databaseTables ?? []);
  }

  async start(): Promise<void> {
    const { signal, timeoutMs } = this.input;
    if (signal?.aborted) this.state = "cancelled";
    this.throwIfStopped();
    signal?.addEventListener("abort", this.onAbort);
    if (timeoutMs !== undefined) this.timer = setTimeout(() => this.stop("timed out"), timeoutMs);
    const { statement } = this.plan;
    if (statement.kind === "show") this.checkShown(statement.table);
    const outputs = this.translate();
    if (statement.kind === "explain") {
      await this.execute(`EXPLAIN ${statement.analyze ? "ANALYZE " : ""}${this.writer.toString()}`, null);
    } else await this.execute(this.writer.toString(), outputs);
  }

  /** Rewrites the plan's tree over this input's tables. */
  private translate(): readonly OutputColumn[] | null {
    const nowNs = this.input.nowNs ?? BigInt(Date.now()) * 1_000_000n;
    const { statement } = this.plan;
    for (;;) {
      const query = this.plan.tree();
      const outputs = rewriteQuery(query, { tables: this.scans, params: this.input.params, nowNs }, null, NO_PARENT_CTES);
      const runs = statement.kind !== "explain" || statement.analyze;
      if (runs && !this.scans.prepareGroups()) {
        this.scans.restart();
        continue;
      }
      printQuery(this.writer, query);
      return outputs;
    }
  }

  private checkShown(shown: { schema: string; table: string } | null): void {
    if (shown === null || shown.schema === "information_schema") return;
    const exists = shown.schema === "iox" && (this.input.databaseTables ?? []).some(({ name }) => name === shown.table);
    if (!exists) throw unknownTable("public", shown.schema, shown.table);
  }

  private async execute(sql: string, outputs: readonly OutputColumn[] | null): Promise<void> {
    let statement = await this.connection.prepare(sql);
    try {
      const { columnCount } = statement;
      if (columnCount > LIMITS.answerColumnsMax) {
        throw new TsdbError(
          "bad_query",
          `Error during planning: the answer has ${columnCount} columns, more than the ${LIMITS.answerColumnsMax} there may be`,
        );
      }
      const columns = statement.columns();
      const casts = columns.map(({ type }) => castForReading(type));
      if (casts.some((cast) => cast !== null)) {
        // Types that no client knows leave as text; the columns are named by position, because names may repeat.
        const names = columns.map((_, i) => ident(`c${i}`));
        const list = columns.map(({ name }, i) => `${casts[i] === null ? names[i] : `CAST(${names[i]} AS ${casts[i]})`} AS ${ident(name)}`);
        statement.close();
        statement = await this.connection.prepare(`SELECT ${list.join(", ")} FROM (${sql}) AS t(${names.join(", ")})`);
      }
      this.throwIfStopped();
      this.executed = sql;
      this.stream = await statement.execute();
    } finally {
      statement.close();
    }
    this.shape = new ResultShape(this.stream.fields, outputs);
    const fields = this.plan.statement.kind === "explain" ? EXPLAIN_FIELDS : this.shape.fields;
    this.schema = { fields, tableName: this.scans.tableName };
  }

  get batches(): AsyncIterable<ResultBatch> {
    return this.readBatches();
  }

  private async *readBatches(): AsyncGenerator<ResultBatch> {
    try {
      if (this.plan.statement.kind === "explain") {
        const { analyze } = this.plan.statement;
        const answer = await explainAnswer(this.stream!, {
          analyze,
          scans: () => this.input.tables.flatMap((table) => table.records?.() ?? []),
        });
        this.finished = true;
        yield answer;
        return;
      }
      for (;;) {
        this.throwIfStopped();
        const batch = await this.stream!.next();
        this.throwIfStopped();
        if (batch === null) break;
        yield this.shape!.apply(batch);
      }
      this.finished = true;
    } catch (error) {
      throw this.explain(await this.withReason(error));
    }
  }

  /** The error itself, or, when rows broke off without a reason, what DuckDB says when the statement runs again without an answer. */
  private async withReason(error: unknown): Promise<unknown> {
    if (!(error instanceof TsdbError) || error.details["engineKind"] !== UNKNOWN_REASON) return error;
    if (this.state !== "running" || this.scans.error !== undefined) return error;
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

  /** The error a user should see for one that ended this statement. */
  explain(error: unknown): unknown {
    this.engine.noticeError(error);
    const stopped = this.stopError();
    if (stopped !== null) return stopped;
    const own = this.scans.error;
    if (own !== undefined) return own;
    if (!(error instanceof TsdbError) || error.details["engineKind"] === undefined) return error;
    return translateError(error, this.writer, this.plan);
  }

  private readonly onAbort = (): void => this.stop("cancelled");

  private stop(why: "cancelled" | "timed out"): void {
    if (this.state !== "running") return;
    this.state = why;
    this.connection.interrupt();
  }

  private stopError(): TsdbError | null {
    if (this.state === "cancelled") return new TsdbError("cancelled", "the query was cancelled");
    if (this.state === "timed out") return new TsdbError("query_limit", `the query ran longer than ${this.input.timeoutMs} ms`);
    return null;
  }

  private throwIfStopped(): void {
    const error = this.stopError();
    if (error !== null) throw error;
    if (this.state === "closed") throw new Error("BUG: batches of a closed answer are read");
  }

  async close(): Promise<void> {
    if (this.state === "closed") return;
    clearTimeout(this.timer);
    this.input.signal?.removeEventListener("abort", this.onAbort);
    const started = this.stream !== null;
    this.state = "closed";
    if (started && !this.finished) this.connection.interrupt();
    this.scans.unregister();
    // The next statement on a connection ends the one before and waits for its threads.
    if (!this.finished || !this.scans.isEmpty) await this.connection.run("SELECT 1").catch((error) => this.engine.noticeError(error));
    this.scans.end();
    this.release();
  }
}

/** DuckDB's message in the words of the statement, with the place in it. */
function translateError(error: TsdbError, writer: SqlWriter, plan: SqlPlan): TsdbError {
  const message = cleanMessage(error.message);
  if (error.kind === "query_limit") return new TsdbError("query_limit", `Resources exhausted: ${message}`, {}, { cause: error });
  const engineKind = String(error.details["engineKind"]);
  const prefix = PLANNING.has(engineKind) ? "Error during planning: " : "Execution error: ";
  const position = error.details["position"];
  const source = typeof position === "number" ? writer.sourceOf(position) : null;
  if (source === null) return new TsdbError(error.kind, `${prefix}${message}`, {}, { cause: error });
  const place = plan.placeOf(source);
  return new TsdbError(error.kind, `${prefix}${message} at Line: ${place.line}, Column: ${place.column}`, { ...place }, { cause: error });
}

const PLANNING: ReadonlySet<string> = new Set(["Binder", "Catalog", "Parser", "Not implemented", "Syntax"]);

/** Encoded names decoded, names of our own macros and functions left out, DuckDB's long lists of candidates cut. */
function cleanMessage(text: string): string {
  return decodeNames(text)
    .replace(/\s*\n\s*Candidate functions:[\s\S]*$/, "")
    .replace(/\n*Possible solutions:[\s\S]*$/, "")
    .replace(/\n+/g, " ")
    .replace(/Type INT128 with value (-?\d+) can't be cast.*/, "Arithmetic overflow: $1 does not fit a 64-bit integer")
    .replace(/\b__[a-z_]+/g, "function")
    .trim();
}
