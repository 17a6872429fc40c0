// One running statement, from plan to end. Statements that need no DuckDB after the rewrite are answered without it. close() always leaves
// no thread of DuckDB that reads the tables.
import { dependsOnOrder } from "../../duckdb/parallel-scans.ts";
import { type ScanSource, scanCall, shapeOfScan } from "../../duckdb/table-function.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryParams } from "../../model/query/query.ts";
import type { ResultBatch, ResultField, ResultSchema } from "../../model/query/result-batch.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { unknownTable } from "../parse/check.ts";
import { ident } from "../parse/names.ts";
import type { Statement } from "../parse/statement.ts";
import { PhysicalPlan, type PlanOptions } from "../plan/physical-plan.ts";
import type { SqlPlan } from "../plan/plan.ts";
import type { SeriesQuery } from "../plan/series-query.ts";
import { printStatement } from "../print/print.ts";
import type { SqlWriter } from "../print/sql-writer.ts";
import { DESCRIBE_FIELDS, describedColumns } from "./described-columns.ts";
import { DirectAnswer } from "./direct-answer.ts";
import type { DirectScan } from "./direct-scan.ts";
import { checkColumnCount, type DuckAnswer } from "./duck-answer.ts";
import type { StatementScan } from "./duck-table.ts";
import { translateError } from "./engine-error.ts";
import { directLines, EXPLAIN_FIELDS, type ExplainedPart, explainBatch, milliseconds, planLines, readable, recordLine } from "./explain.ts";
import { ResultShape } from "./result-shape.ts";
import type { PrepareParts } from "./series/combinations.ts";
import type { SqlAnswer, SqlHost, SqlInput } from "./sql-statement.ts";
import { StatementScans } from "./statement-scans.ts";

type ExplainStatement = Extract<Statement, { kind: "explain" }>;

const EXPLAIN = "EXPLAIN (FORMAT json) ";
const ANALYZE = "EXPLAIN (ANALYZE, FORMAT json) ";

/** Maximum time of this thread without checking for cancellation in an answer without DuckDB. */
const BREATH_MS = 5;

interface Translation {
  /** SQL text for DuckDB; `isRead`: it is run, so that scans of many rows are read in bulk. */
  readonly text: (isRead: boolean) => string;
  readonly outputs: readonly OutputColumn[] | null;
  /** Null: DuckDB is needed. */
  readonly direct: DirectScan<StatementScan> | null;
}

/** The execution of one SQL statement. Owned: call `close`. */
export class SqlRun implements SqlAnswer {
  schema: ResultSchema = { fields: [], tableName: "" };
  private readonly scans: StatementScans;
  private duck: DuckAnswer | null = null;
  private direct: DirectAnswer | null = null;
  countsTable = false;
  private shape: ResultShape | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private state: "running" | "cancelled" | "timed out" | "closed" = "running";
  private isPlanned = false;
  /** Produces the only batch of an EXPLAIN or DESCRIBE. */
  private explained: (() => Promise<ResultBatch>) | null = null;
  private headChars = 0;
  /** Reserved function memory. */
  private reservedBytes = 0;
  /** The statement for DuckDB; null if it was not needed. */
  private printed: SqlWriter | null = null;
  private readonly nowNs: bigint;

  constructor(
    private readonly engine: SqlHost,
    private readonly plan: SqlPlan,
    private readonly input: SqlInput,
  ) {
    // a description reads nothing: counts stay counts
    this.scans = new StatementScans(engine, plan.statement.kind === "describe" ? { ...input, isPlain: true } : input);
    this.nowNs = input.nowNs ?? BigInt(Date.now()) * 1_000_000n;
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
    const { text, outputs, direct } = await this.translate();
    if (statement.kind === "explain") {
      const parts = await this.startExplain(statement, text(statement.analyze), direct);
      this.explained = async () => explainBatch(await parts());
      this.schema = { fields: EXPLAIN_FIELDS, tableName: "" };
      return;
    }
    if (statement.kind === "describe") {
      const columns = new ResultShape(await this.columnsOf(text(false)), outputs).fields;
      this.explained = async () => describedColumns(columns, outputs);
      this.schema = { fields: DESCRIBE_FIELDS, tableName: "" };
      return;
    }
    if (direct !== null && (await this.startPlan(direct))) {
      this.shape = new ResultShape(this.direct!.fields, outputs);
      this.schema = { fields: this.shape.fields, tableName: this.scans.tableName };
      this.countsTable = direct.scan.countsTable === true;
      return;
    }
    const sql = text(true);
    const keepAs = this.printed?.runsOnce === true ? null : this.scans.shape;
    this.shape = new ResultShape(await this.startDuck("", sql, keepAs), outputs);
    this.schema = { fields: this.shape.fields, tableName: this.scans.tableName };
  }

  /** @param head text before the statement */
  private async startDuck(head: string, text: string, keepAs: string | null): Promise<readonly ResultField[]> {
    this.duck = await this.engine.lease();
    this.throwIfStopped();
    this.headChars = head.length;
    return this.duck.start(head + text, keepAs, () => {
      this.throwIfStopped();
      this.planned();
    });
  }

  private async columnsOf(text: string): Promise<readonly ResultField[]> {
    this.duck = await this.engine.lease();
    this.throwIfStopped();
    const { fields } = await this.duck.describe(text);
    this.planned();
    return fields;
  }

  /** Returns the function that produces the answer of an EXPLAIN. */
  private async startExplain(
    { analyze, verbose }: ExplainStatement,
    statement: string,
    direct: DirectScan<StatementScan> | null,
  ): Promise<() => Promise<ExplainedPart[]>> {
    const reads = this.scans.all.map((scan) => `  ${scan.describe()}`);
    const part = (lines: readonly string[]): ExplainedPart[] => {
      const read = [...this.input.tables, ...(this.input.caches?.values() ?? [])];
      const records = analyze ? read.flatMap((table) => table.records?.() ?? []).map(recordLine) : [];
      const text = [...lines, ...(reads.length === 0 ? [] : ["reads", ...reads]), ...records].join("\n");
      const plan = { type: analyze ? "Plan with Metrics" : "physical_plan", text };
      return verbose ? [plan, { type: "engine_statement", text: readable(statement) }] : [plan];
    };
    if (direct !== null && !analyze) return async () => part(directLines(direct));
    if (direct !== null && (await this.startPlan(direct))) return async () => part(await this.runDirect(direct));
    await this.startDuck(analyze ? ANALYZE : EXPLAIN, statement, null);
    return async () => part(planLines(await this.duck!.explanation(), analyze) ?? (await this.unmeasuredPlan(statement)));
  }

  private async unmeasuredPlan(statement: string): Promise<string[]> {
    await this.duck!.start(EXPLAIN + statement, null, () => this.throwIfStopped());
    return planLines(await this.duck!.explanation(), false) ?? [];
  }

  private async runDirect(plan: DirectScan<StatementScan>): Promise<string[]> {
    const startMs = performance.now();
    let rowCount = 0;
    for (let batch = this.direct!.next(); batch !== null; batch = this.direct!.next()) {
      rowCount += batch.rowCount;
      await this.breathe();
    }
    const [line] = directLines(plan);
    return [`${line} [${rowCount} rows, ${milliseconds((performance.now() - startMs) / 1000)}]`];
  }

  /** Plans the statement on this input's tables, and opens its scans. */
  private async translate(): Promise<Translation> {
    const { statement } = this.plan;
    for (;;) {
      const physical = await this.physicalPlan();
      this.reserve(physical.functionBytes);
      this.scans.open(physical.scans);
      const { direct: plan, outputs } = physical;
      const direct = plan === null ? null : { ...plan, scan: this.scans.all[plan.scan.handle]! };
      const { returned } = physical;
      if (returned !== null) this.scans.all[returned.handle]!.returns?.(returned.rows);
      this.printed = null;
      const text = (isRead: boolean) => {
        this.printed ??= this.print(physical, isRead);
        return this.printed.text;
      };
      if (this.scans.isPrepared) this.planned();
      const isRun = statement.kind === "explain" ? statement.analyze : statement.kind !== "describe";
      if (!isRun || (await this.scans.prepare(this.prepareParts))) return { text, outputs, direct };
      this.scans.restart();
    }
  }

  private print(physical: PhysicalPlan, isRead: boolean): SqlWriter {
    const printed = physical.print(this.scans.calls);
    const { bulk } = this.engine;
    if (!isRead || !this.scans.areLong(Math.min(bulk.listedRowsMin, bulk.parallelRowsMin))) return printed;
    const { text, namesAll, wholeRows } = printed;
    const namesRow = wholeRows.some((row) => !this.scans.all.every(({ columns }) => columns.some(({ name }) => name === row)));
    const names = namesAll || namesRow ? null : (name: string) => text.includes(ident(name));
    this.scans.readInBulk({ ...bulk, threadsMax: dependsOnOrder(text) ? 1 : bulk.threadsMax, names });
    return physical.print(this.scans.calls);
  }

  private get prepareParts(): PrepareParts {
    return {
      breathe: () => this.breathe(),
      readSeries: (query, source) => this.readSeries(query, source),
      known: this.engine.knownResults,
    };
  }

  /** Runs a query over combinations of tags, on a connection of its own. */
  private async *readSeries({ query }: SeriesQuery, source: ScanSource): AsyncGenerator<ResultBatch> {
    const { registry } = this.engine;
    const handle = registry.add(source);
    const duck = await this.engine.lease();
    this.duck = duck;
    try {
      this.throwIfStopped();
      await duck.start(printStatement(query, [scanCall({ ...source, handle })]).text, shapeOfScan(source), () => this.throwIfStopped());
      for (let batch = await duck.next(); batch !== null; batch = await duck.next()) {
        this.throwIfStopped();
        yield batch;
      }
    } catch (error) {
      this.engine.noticeError(error);
      this.throwIfStopped();
      throw error;
    } finally {
      this.duck = null;
      registry.remove(handle);
      await duck.close(true, (error) => this.engine.noticeError(error));
      registry.release(handle);
    }
  }

  private async physicalPlan(): Promise<PhysicalPlan> {
    const { plan, options } = this;
    const known = plan.known.find(options);
    if (known !== null) return known;
    const physical = await PhysicalPlan.inTurns(plan, options, () => this.breathe());
    plan.known.keep(physical);
    return physical;
  }

  private get options(): PlanOptions {
    const { params } = this.input;
    const isGuarded = !this.plan.isSimple || hasLongTexts(params);
    const { names } = this.plan.statement;
    const functionBytesMax = isGuarded ? this.engine.functionBytesMax : null;
    return { params, nowNs: this.nowNs, names, tables: this.scans, functionBytesMax };
  }

  private async startPlan(plan: DirectScan<StatementScan>): Promise<boolean> {
    checkColumnCount(plan.outputs.length);
    this.planned();
    this.direct = new DirectAnswer(this.engine.kernel, plan);
    const steps = this.direct.start();
    for (;;) {
      const { done, value: isStarted } = steps.next();
      if (done && isStarted) return true;
      if (done) break;
      await this.breathe();
    }
    this.direct = null;
    return false;
  }

  private reserve(bytes: number): void {
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
    if (shown === null) return;
    if (!this.scans.has(shown.schema, shown.table)) throw unknownTable("public", shown.schema, shown.table);
    this.scans.narrow(shown.table);
  }

  get batches(): AsyncIterable<ResultBatch> {
    return this.readBatches();
  }

  private async *readBatches(): AsyncGenerator<ResultBatch> {
    try {
      if (this.explained !== null) {
        yield await this.explained();
        return;
      }
      for (;;) {
        this.throwIfStopped();
        const batch = this.direct === null ? await this.duck!.next() : this.direct.next();
        this.throwIfStopped();
        if (batch === null) break;
        yield this.shape!.apply(batch);
        await this.breathe();
      }
    } catch (error) {
      const isReasonKnown = this.duck === null || this.state !== "running" || this.scans.error !== undefined;
      throw this.explain(isReasonKnown ? error : await this.duck!.withReason(error));
    }
  }

  /** Pauses for other statements after some time. */
  private breathe(): Promise<void> | null {
    const nowMs = performance.now();
    if (nowMs < this.breathAtMs) return null;
    return new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.breathAtMs = performance.now() + BREATH_MS;
      this.throwIfStopped();
    });
  }

  /** The error to report for the error that ended this statement. */
  explain(error: unknown): unknown {
    this.engine.noticeError(error);
    const stopped = this.stopError();
    if (stopped !== null) return stopped;
    const own = this.scans.error;
    if (own !== undefined) return own;
    if (!(error instanceof TsdbError) || error.details["engineKind"] === undefined) return error;
    return translateError(error, {
      plan: this.plan,
      sourceOf: (offset) => this.printed?.sourceOf(offset - this.headChars) ?? null,
      find: this.scans.find,
    });
  }

  private readonly onAbort = (): void => this.stop("cancelled");

  private stop(why: "cancelled" | "timed out"): void {
    if (this.state !== "running") return;
    this.state = why;
    // the timer would keep DuckDB's objects of an abandoned statement alive
    clearTimeout(this.timer);
    this.duck?.interrupt();
  }

  private stopError(): TsdbError | null {
    if (this.state === "cancelled") return new TsdbError("cancelled", "the query was cancelled");
    if (this.state === "timed out") return new TsdbError("query_limit", `the query ran longer than ${this.input.timeoutMs} ms`);
    return null;
  }

  private throwIfStopped(): void {
    // the abort may be visible before its event is delivered
    if (this.input.signal?.aborted) this.stop("cancelled");
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
    this.direct?.close();
    await this.duck?.close(!this.scans.isEmpty, (error) => this.engine.noticeError(error));
    this.scans.end();
    this.engine.functionMemory.give(this.reservedBytes);
  }
}

/** Longer texts are scanned before they leave. */
const LONG_TEXT_CHARS = 1000;

function hasLongTexts(params: QueryParams): boolean {
  return Object.values(params).some((value) => typeof value === "string" && value.length > LONG_TEXT_CHARS);
}
