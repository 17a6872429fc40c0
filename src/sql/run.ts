// One running statement: its scans, its road, its end. What needs nothing of DuckDB any more after the rewrite is answered without it.
// Whatever happens, close() leaves no thread of DuckDB that reads the tables.
import { TsdbError } from "../model/errors.ts";
import type { QueryParams } from "../model/query.ts";
import type { ResultBatch, ResultField, ResultSchema } from "../model/result-batch.ts";
import { unknownTable } from "./check.ts";
import { checkColumnCount, type DuckAnswer } from "./duck-answer.ts";
import type { SqlAnswer, SqlEngine, SqlInput } from "./engine.ts";
import { translateError } from "./engine-error.ts";
import {
  EXPLAIN_FIELDS,
  type ExplainedPart,
  explainBatch,
  milliseconds,
  planLines,
  readable,
  recordLine,
  straightLines,
} from "./explain.ts";
import { guardQuery } from "./guard.ts";
import type { SqlPlan } from "./plan.ts";
import { printQuery, SqlWriter } from "./print.ts";
import { ResultShape } from "./result-shape.ts";
import { rewriteQuery } from "./rewrite/rewriter.ts";
import { TableReferences } from "./rewrite/table-references.ts";
import type { OutputColumn } from "./scope.ts";
import type { Statement } from "./statement.ts";
import { StatementScans } from "./statement-scans.ts";
import { StraightAnswer } from "./straight-answer.ts";
import { type StraightPlan, straightPlan } from "./straight-plan.ts";
import type { StatementScan } from "./table-scan.ts";
import type { QueryNode } from "./tree.ts";

type ExplainStatement = Extract<Statement, { kind: "explain" }>;

const EXPLAIN = "EXPLAIN (FORMAT json) ";
const ANALYZE = "EXPLAIN (ANALYZE, FORMAT json) ";

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
  private explained: (() => Promise<ExplainedPart[]>) | null = null;
  private headChars = 0;
  /** Of functions' memory. */
  private reservedBytes = 0;
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
    if (statement.kind === "explain") {
      this.explained = await this.startExplain(statement, query);
      this.schema = { fields: EXPLAIN_FIELDS, tableName: "" };
      return;
    }
    if (this.startStraight(query, outputs)) return;
    printQuery(this.writer, query);
    this.shape = new ResultShape(await this.startDuck("", this.scans.shape), outputs);
    this.schema = { fields: this.shape.fields, tableName: this.scans.tableName };
  }

  /** `head`: words before the statement that was written. */
  private async startDuck(head: string, keepAs: string | null): Promise<readonly ResultField[]> {
    this.duck = await this.engine.lease();
    this.throwIfStopped();
    this.headChars = head.length;
    return this.duck.start(head + this.writer.toString(), keepAs, () => {
      this.throwIfStopped();
      this.planned();
    });
  }

  /** What is left to do for the answer of an EXPLAIN. */
  private async startExplain({ analyze, verbose }: ExplainStatement, query: QueryNode): Promise<() => Promise<ExplainedPart[]>> {
    const reads = this.scans.all.map((scan) => `  ${scan.describe()}`);
    const straight = this.findStraight(query);
    printQuery(this.writer, query);
    const part = (lines: readonly string[]): ExplainedPart[] => {
      const records = analyze ? this.input.tables.flatMap((table) => table.records?.() ?? []).map(recordLine) : [];
      const text = [...lines, ...(reads.length === 0 ? [] : ["reads", ...reads]), ...records].join("\n");
      const plan = { type: analyze ? "Plan with Metrics" : "physical_plan", text };
      return verbose ? [plan, { type: "engine_statement", text: readable(this.writer.toString()) }] : [plan];
    };
    if (straight !== null && !analyze) return async () => part(straightLines(straight));
    if (straight !== null && this.startPlan(straight)) return async () => part(await this.runStraight(straight));
    await this.startDuck(analyze ? ANALYZE : EXPLAIN, null);
    return async () => part(planLines(await this.duck!.explanation(), analyze) ?? (await this.unmeasuredPlan()));
  }

  private async unmeasuredPlan(): Promise<string[]> {
    await this.duck!.start(EXPLAIN + this.writer.toString(), null, () => this.throwIfStopped());
    return planLines(await this.duck!.explanation(), false) ?? [];
  }

  private async runStraight(plan: StraightPlan<StatementScan>): Promise<string[]> {
    const startMs = performance.now();
    let rowCount = 0;
    for (let batch = this.straight!.next(); batch !== null; batch = this.straight!.next()) {
      rowCount += batch.rowCount;
      await this.breathe();
    }
    const [line] = straightLines(plan);
    return [`${line} [${rowCount} rows, ${milliseconds((performance.now() - startMs) / 1000)}]`];
  }

  /** Rewrites the plan's tree over this input's tables. */
  private async translate(): Promise<{ query: QueryNode; outputs: readonly OutputColumn[] | null }> {
    const nowNs = this.input.nowNs ?? BigInt(Date.now()) * 1_000_000n;
    const { statement } = this.plan;
    for (;;) {
      const query = this.plan.tree();
      const context = { tables: this.scans, params: this.input.params, nowNs, references: new TableReferences(query) };
      const { columns: outputs } = rewriteQuery(query, context, null, NO_PARENT_CTES);
      if (!this.plan.isSimple || hasLongTexts(this.input.params)) this.guard(query);
      if (this.scans.makesGroups) this.planned();
      const isRun = statement.kind !== "explain" || statement.analyze;
      if (!isRun || (await this.scans.prepare(() => this.breathe()))) return { query, outputs };
      this.scans.restart();
    }
  }

  /** False: DuckDB must answer. */
  private startStraight(query: QueryNode, outputs: readonly OutputColumn[] | null): boolean {
    const plan = this.findStraight(query);
    if (plan === null || !this.startPlan(plan)) return false;
    this.shape = new ResultShape(this.straight!.fields, outputs);
    this.schema = { fields: this.shape.fields, tableName: this.scans.tableName };
    return true;
  }

  private findStraight(query: QueryNode): StraightPlan<StatementScan> | null {
    return this.input.isPlain === true ? null : straightPlan(query, this.scans.all);
  }

  private startPlan(plan: StraightPlan<StatementScan>): boolean {
    checkColumnCount(plan.outputs.length);
    this.planned();
    this.straight = new StraightAnswer(this.engine.kernel, plan);
    if (this.straight.start()) return true;
    this.straight = null;
    return false;
  }

  private guard(query: QueryNode): void {
    const columnsOf = (handle: number) => this.scans.all.find((scan) => scan.handle === handle)?.columns ?? null;
    const bytes = guardQuery(query, { bytesMax: this.engine.functionBytesMax, columnsOf });
    this.engine.functionMemory.give(this.reservedBytes);
    this.reservedBytes = 0;
    this.engine.functionMemory.take(bytes);
    this.reservedBytes = bytes;
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
    try {
      if (this.explained !== null) {
        yield explainBatch(await this.explained());
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
    return translateError(error, { writer: this.writer, headChars: this.headChars }, this.plan);
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
    this.engine.functionMemory.give(this.reservedBytes);
  }
}

/** Too long to leave with every row unseen. */
const LONG_TEXT_CHARS = 1000;

function hasLongTexts(params: QueryParams): boolean {
  return Object.values(params).some((value) => typeof value === "string" && value.length > LONG_TEXT_CHARS);
}
