// Executes SQL on the tables of a snapshot: a statement in, batches out. One engine per worker; several statements may run at once, each on
// a connection of its own. I/O and snapshots are the caller's task.
import type { Connection, Statement as DuckStatement } from "../../duckdb/connection.ts";
import { Database } from "../../duckdb/database.ts";
import { isEngineBug } from "../../duckdb/errors.ts";
import { LISTED_ROWS_MIN } from "../../duckdb/list-batch.ts";
import { PARALLEL_ROWS_MIN, SCAN_THREADS_MAX } from "../../duckdb/parallel-scans.ts";
import { registerScalarFunction } from "../../duckdb/scalar-function.ts";
import { ScanRegistry } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { MACROS } from "../functions/macros.ts";
import { NATIVE_FUNCTIONS } from "../functions/native-functions.ts";
import { VALUE_MACROS } from "../functions/value-macros.ts";
import { BOUNDED_MACROS } from "../limits/bounded-macros.ts";
import { FunctionMemory, functionBytesOf } from "../limits/function-memory.ts";
import { KnownTexts } from "../plan/known-texts.ts";
import type { SqlPlan } from "../plan/plan.ts";
import { PlanCache } from "../plan/plan-cache.ts";
import { describeStatement, type SqlDescription } from "./description.ts";
import { DuckAnswer } from "./duck-answer.ts";
import { SqlRun } from "./run.ts";
import type { Breathe } from "./series/breathe.ts";
import { KnownResults } from "./series/known-results.ts";
import type { SqlAnswer, SqlHost, SqlInput } from "./sql-statement.ts";

export type { SqlPlan } from "../plan/plan.ts";
export type { DatabaseTable } from "../tables/catalog-tables.ts";
export type { SqlDescription } from "./description.ts";
export type { SqlAnswer, SqlInput } from "./sql-statement.ts";

export interface SqlEngineOptions {
  readonly memoryBytes: number;
  readonly threads: number;
  /** DuckDB's spill folder; null: no spilling. */
  readonly tempDir: string | null;
  /** Scans of fewer rows are read by one thread. Default PARALLEL_ROWS_MIN. */
  readonly parallelRowsMin?: number;
  /** Scans of fewer rows are read value by value. Default LISTED_ROWS_MIN. */
  readonly listedRowsMin?: number;
  /** Memory limit of plans by text; 0: none is kept. Default 16 MiB. */
  readonly textBytesMax?: number;
}

/** Memory limit of cached plans: some thousand shapes of ordinary statements. */
const PLAN_BYTES_KEPT = 32 << 20;
/** About 400 texts of 200 characters. */
const TEXT_BYTES_KEPT = 16 << 20;
const IDLE_CONNECTIONS = 8;

/** A DuckDB with our functions registered. */
interface Instance {
  readonly database: Database;
  readonly parser: DuckStatement;
  readonly idle: Connection[];
}

/** The SQL engine of one worker. Owned: call `close`. */
export class SqlEngine implements SqlHost {
  readonly functionMemory: FunctionMemory;
  readonly knownResults = new KnownResults();
  private readonly plans = new PlanCache((sql) => this.serialize(sql), PLAN_BYTES_KEPT);
  private readonly texts: KnownTexts<SqlPlan>;
  private serializing: Promise<unknown> = Promise.resolve();
  /** Set after an internal error of DuckDB: it answers nothing any more, and the next statement gets a new instance. */
  private isBroken = false;

  private constructor(
    readonly kernel: Kernel,
    private readonly options: SqlEngineOptions,
    readonly registry: ScanRegistry,
    private instance: Instance,
  ) {
    this.texts = new KnownTexts(options.textBytesMax ?? TEXT_BYTES_KEPT);
    this.functionMemory = new FunctionMemory(functionBytesOf(options.memoryBytes));
  }

  static async open(kernel: Kernel, options: SqlEngineOptions): Promise<SqlEngine> {
    const registry = new ScanRegistry(kernel.memory);
    const engine = new SqlEngine(kernel, options, registry, await openInstance(options, registry));
    // The first statement pays for DuckDB's start: run one in advance.
    const answer = await engine.run(await engine.plan("SELECT 1"), { tables: [], params: {} });
    for await (const _ of answer.batches);
    await answer.close();
    return engine;
  }

  get bulk(): SqlHost["bulk"] {
    const { threads, parallelRowsMin = PARALLEL_ROWS_MIN, listedRowsMin = LISTED_ROWS_MIN } = this.options;
    return { threadsMax: Math.min(threads, SCAN_THREADS_MAX), parallelRowsMin, listedRowsMin };
  }

  get functionBytesMax(): number {
    return functionBytesOf(this.options.memoryBytes);
  }

  /** Parses and checks a statement. `breathe`: lets other statements run between the stages of a long one. @throws TsdbError bad_query */
  async plan(statement: string, breathe?: Breathe): Promise<SqlPlan> {
    const known = this.texts.find(statement);
    if (known !== null) return known;
    const plan = await this.plans.plan(statement, breathe);
    this.texts.keep(statement, plan);
    return plan;
  }

  /** Starts a plan. @throws TsdbError bad_query, query_limit, cancelled; then nothing needs to be closed */
  async run(plan: SqlPlan, input: SqlInput): Promise<SqlAnswer> {
    const run = new SqlRun(this, plan, input);
    try {
      await run.start();
    } catch (error) {
      const explained = run.explain(error);
      await run.close();
      throw explained;
    }
    return run;
  }

  /** Describes the answer of a plan. @throws TsdbError bad_query */
  describe(plan: SqlPlan, input: SqlInput): Promise<SqlDescription> {
    return describeStatement(this, plan, input);
  }

  async lease(): Promise<DuckAnswer> {
    if (this.isBroken) await this.reopen();
    const { instance } = this;
    const connection = instance.idle.pop() ?? (await instance.database.connect());
    return new DuckAnswer(connection, () => this.release(instance, connection));
  }

  noticeError(error: unknown): void {
    if (isEngineBug(error)) this.isBroken = true;
  }

  /** Stops all statements permanently: later ones read no row either. */
  stop(): void {
    this.registry.close();
    this.instance.database.interrupt();
  }

  /** After `stop`: resolves when no thread of DuckDB is in any statement. */
  async settle(): Promise<void> {
    await this.instance.database.settle();
    this.registry.clear();
  }

  /** No thread of DuckDB may be in a statement: it would wait for this thread. */
  close(): void {
    closeInstance(this.instance);
  }

  private async reopen(): Promise<void> {
    this.isBroken = false;
    const broken = this.instance;
    this.instance = await openInstance(this.options, this.registry);
    // Statements still running in it keep it alive and close their connections themselves.
    for (const connection of broken.idle.splice(0)) connection.close();
  }

  private release(instance: Instance, connection: Connection): void {
    if (instance === this.instance && instance.idle.length < IDLE_CONNECTIONS) instance.idle.push(connection);
    else connection.close();
  }

  /** DuckDB's tree of a statement as JSON. One at a time: calls share a prepared statement. */
  serialize(sql: string): Promise<string> {
    const result = this.serializing.then(async () => {
      if (this.isBroken) await this.reopen();
      const { parser } = this.instance;
      parser.bindVarchar(1, sql);
      const stream = await parser.execute().catch((error) => {
        if (!(error instanceof TsdbError) || error.kind !== "query_limit") throw error;
        throw new TsdbError(
          "query_limit",
          "Resources exhausted: the statement takes more memory than there is for queries",
          {},
          { cause: error },
        );
      });
      const batch = await stream.next();
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(batch!.columns[0]!.data!);
    });
    this.serializing = result.catch((error) => this.noticeError(error));
    return result;
  }
}

async function openInstance(options: SqlEngineOptions, registry: ScanRegistry): Promise<Instance> {
  const database = await Database.open(options, async (connection) => {
    registry.install(connection);
    for (const native of NATIVE_FUNCTIONS) registerScalarFunction(connection, native);
    await connection.run([...MACROS, ...VALUE_MACROS, ...BOUNDED_MACROS].join(";\n"));
  });
  const connection = await database.connect();
  return { database, parser: await connection.prepare("SELECT json_serialize_sql(CAST($1 AS VARCHAR))"), idle: [] };
}

function closeInstance(instance: Instance): void {
  instance.parser.close();
  instance.database.close();
}
