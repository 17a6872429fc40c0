// One running statement: its scans, its road, its end. What needs nothing of DuckDB any more after the rewrite is answered without it.
// Whatever happens, close() leaves no thread of DuckDB that reads the tables.
import { TsdbError } from "../model/errors.ts";
import type { ResultBatch, ResultSchema } from "../model/result-batch.ts";
import { unknownTable } from "./check.ts";
import { checkColumnCount, type DuckAnswer } from "./duck-answer.ts";
import type { SqlAnswer, SqlEngine, SqlInput } from "./engine.ts";
import { translateError } from "./engine-error.ts";
import { EXPLAIN_FIELDS } from "./explain.ts";
import type { SqlPlan } from "./plan.ts";
import { printQuery, SqlWriter } from "./print.ts";
import { ResultShape } from "./result-shape.ts";
import { rewriteQuery } from "./rewrite/rewriter.ts";
import { TableReferences } from "./rewrite/table-references.ts";
import type { OutputColumn } from "./scope.ts";
import { StatementScans } from "./statement-scans.ts";
import { StraightAnswer } from "./straight-answer.ts";
import { straightPlan } from "./straight-plan.ts";
import type { QueryNode } from "./tree.ts";

const NO_PARENT_CTES = new Map();
/** How long an answer without DuckDB may keep this thread from hearing of a cancel. */
const BREATH_MS = 5;

export class SqlRun implements SqlAnswer {
  schema: ResultSchema = { fields: [], tableName: "" };
  private readonly scans: StatementScans;
  private duck: DuckAnswer | null = null;
  private straight: StraightAnswer | null = null;
  private shape: ResultShape | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private state: "running" | "cancelled" | "timed out" | "closed" = "running";
  private isPlanned = false;
  private writer = new SqlWriter();

  constructor(
    private readonly engine: SqlEngine,
    private readonly plan: SqlPlan,
    private readonly input: SqlInput,
  ) {
    this.scans = new StatementScans(engine, input);
  }

  private breathAtMs = performance.now() + BREATH_MS;

  async start(): Promise<void> {
    const { signal, timeoutMs } = this.input;
    if (signal?.aborted) this.state = "cancelled";
    this.throwIfStopped();
    signal?.addEventListener("abort", this.onAbort);
    if (timeoutMs !== undefined) this.timer = setTimeout(() => this.stop("timed out"), timeoutMs);
    const { statement } = this.plan;
    if (statement.kind === "show") this.checkShown(statement.table);
    const { query, outputs } = await this.translate();
    if (statement.kind !== "explain" && this.startStraight(query, outputs)) return;
    printQuery(this.writer, query);
    const explain = statement.kind !== "explain" ? "" : statement.analyze ? "EXPLAIN ANALYZE " : "EXPLAIN ";
    this.duck = await this.engine.lease();
    this.throwIfStopped();
    const fields = await this.duck.start(explain + this.writer.toString(), explain === "" ? this.scans.shape : null, () => {
      this.throwIfStopped();
      this.planned();
    });
    this.shape = new ResultShape(fields, outputs);
    this.schema = { fields: explain === "" ? this.shape.fields : EXPLAIN_FIELDS, tableName: this.scans.tableName };
  }

  /** Rewrites the plan's tree over this input's tables. */
  private async translate(): Promise<{ query: QueryNode; outputs: readonly OutputColumn[] | null }> {
    const nowNs = this.input.nowNs ?? BigInt(Date.now()) * 1_000_000n;
    const { statement } = this.plan;
    for (;;) {
      const query = this.plan.tree();
      const context = { tables: this.scans, params: this.input.params, nowNs, references: new TableReferences(query) };
      const { columns: outputs } = rewriteQuery(query, context, null, NO_PARENT_CTES);
      if (this.scans.makesGroups) this.planned();
      const isRun = statement.kind !== "explain" || statement.analyze;
      if (!isRun || (await this.scans.prepare(() => this.breathe()))) return { query, outputs };
      this.scans.restart();
    }
  }

  /** False: DuckDB must answer. */
  private startStraight(query: QueryNode, outputs: readonly OutputColumn[] | null): boolean {
    const plan = this.input.isPlain === true ? null : straightPlan(query, this.scans.all);
    if (plan === null) return false;
    checkColumnCount(plan.outputs.length);
    this.planned();
    this.straight = new StraightAnswer(this.engine.kernel, plan);
    if (!this.straight.start()) {
      this.straight = null;
      return false;
    }
    this.shape = new ResultShape(this.straight.fields, outputs);
    this.schema = { fields: this.shape.fields, tableName: this.scans.tableName };
    return true;
  }

  private planned(): void {
    if (!this.isPlanned) this.input.onPlanned?.();
    this.isPlanned = true;
  }

  private checkShown(shown: { schema: string; table: string } | null): void {
    if (shown !== null && !this.scans.has(shown.schema, shown.table)) throw unknownTable("public", shown.schema, shown.table);
  }

  get batches(): AsyncIterable<ResultBatch> {
    return this.readBatches();
  }

  private async *readBatches(): AsyncGenerator<ResultBatch> {
    const { statement } = this.plan;
    try {
      if (statement.kind === "explain") {
        const { analyze } = statement;
        yield await this.duck!.explanation({ analyze, scans: () => this.input.tables.flatMap((table) => table.records?.() ?? []) });
        return;
      }
      for (;;) {
        this.throwIfStopped();
        const batch = this.straight === null ? await this.duck!.next() : this.straight.next();
        this.throwIfStopped();
        if (batch === null) break;
        yield this.shape!.apply(batch);
        if (this.straight !== null) await this.breathe();
      }
    } catch (error) {
      const isReasonKnown = this.duck === null || this.state !== "running" || this.scans.error !== undefined;
      throw this.explain(isReasonKnown ? error : await this.duck!.withReason(error));
    }
  }

  /** When the statement has worked for a while, others have their turn. */
  private breathe(): Promise<void> | null {
    const nowMs = performance.now();
    if (nowMs < this.breathAtMs) return null;
    return new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.breathAtMs = performance.now() + BREATH_MS;
      this.throwIfStopped();
    });
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
    this.duck?.interrupt();
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
    this.state = "closed";
    this.scans.unregister();
    this.straight?.close();
    await this.duck?.close(!this.scans.isEmpty, (error) => this.engine.noticeError(error));
    this.scans.end();
  }
}
