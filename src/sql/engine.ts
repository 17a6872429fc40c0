// SQL over the tables of a snapshot: a statement in, batches out. One engine lives in one worker; several statements may run at once, each
// on a connection of its own. I/O and snapshots are the caller's.
import type { Connection, Statement as DuckStatement } from "../duckdb/connection.ts";
import { Database } from "../duckdb/database.ts";
import { ScanRegistry } from "../duckdb/table-function.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { QueryParams } from "../model/query.ts";
import type { ResultBatch, ResultSchema } from "../model/result-batch.ts";
import type { ScanTable } from "../model/scan.ts";
import type { DatabaseTable } from "./catalog-tables.ts";
import { MACROS } from "./macros.ts";
import { planStatement, type SqlPlan } from "./plan.ts";
import { SqlRun } from "./run.ts";

export type { DatabaseTable } from "./catalog-tables.ts";
export type { SqlPlan } from "./plan.ts";

export interface SqlEngineOptions {
  readonly memoryBytes: number;
  readonly threads: number;
  /** Where DuckDB spills; null: never. */
  readonly tempDir: string | null;
}

export interface SqlInput {
  /** Those of `plan.tables` that exist. They stay pinned until `close` of the answer has resolved. */
  readonly tables: readonly ScanTable[];
  /** All tables of the database, when `plan.readsCatalog`. */
  readonly databaseTables?: readonly DatabaseTable[];
  readonly params: QueryParams;
  /** Aborting interrupts the statement: it fails with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Computing and reading together; beyond it the statement fails with `query_limit`. */
  readonly timeoutMs?: number;
  /** now() of the statement; the clock's time when absent. */
  readonly nowNs?: bigint;
}

export interface SqlAnswer {
  readonly schema: ResultSchema;
  /** Once. A batch is valid until the next one is asked for. @throws TsdbError */
  readonly batches: AsyncIterable<ResultBatch>;
  /** Must be called, also after the last batch and after an error. Once it resolves, nothing reads the tables any more. */
  close(): Promise<void>;
}

const PLANS_KEPT = 512;
const IDLE_CONNECTIONS = 8;

export class SqlEngine {
  private readonly plans = new Map<string, SqlPlan>();
  private readonly idle: Connection[] = [];

  private constructor(
    readonly kernel: Kernel,
    private readonly database: Database,
    readonly registry: ScanRegistry,
    private readonly parser: DuckStatement,
  ) {}

  static async open(kernel: Kernel, options: SqlEngineOptions): Promise<SqlEngine> {
    const registry = new ScanRegistry(kernel.memory);
    const database = await Database.open(options, async (connection) => {
      registry.install(connection);
      for (const macro of MACROS) await connection.run(macro);
    });
    const parserConnection = await database.connect();
    const parser = await parserConnection.prepare("SELECT json_serialize_sql(CAST($1 AS VARCHAR))");
    const engine = new SqlEngine(kernel, database, registry, parser);
    // The first statement pays for DuckDB's start; better nobody's.
    const answer = await engine.run(await engine.plan("SELECT 1"), { tables: [], params: {} });
    for await (const _ of answer.batches);
    await answer.close();
    return engine;
  }

  /** Parses and checks a statement. @throws TsdbError bad_query */
  async plan(statement: string): Promise<SqlPlan> {
    const known = this.plans.get(statement);
    if (known !== undefined) {
      // most recently used last
      this.plans.delete(statement);
      this.plans.set(statement, known);
      return known;
    }
    const plan = await planStatement(statement, (sql) => this.serialize(sql));
    if (statement.length <= 16384) this.plans.set(statement, plan);
    if (this.plans.size > PLANS_KEPT) this.plans.delete(this.plans.keys().next().value!);
    return plan;
  }

  /** Starts a plan. @throws TsdbError bad_query, query_limit, cancelled; then nothing needs to be closed */
  async run(plan: SqlPlan, input: SqlInput): Promise<SqlAnswer> {
    const connection = this.idle.pop() ?? (await this.database.connect());
    const run = new SqlRun(this, connection, plan, input);
    try {
      await run.start();
    } catch (error) {
      const explained = run.explain(error);
      await run.close();
      throw explained;
    }
    return run;
  }

  /** Takes back a connection on which nothing runs. */
  release(connection: Connection): void {
    if (this.idle.length < IDLE_CONNECTIONS) this.idle.push(connection);
    else connection.close();
  }

  /** No statement may be running. */
  close(): void {
    this.parser.close();
    for (const connection of this.idle) connection.close();
    this.database.close();
  }

  private serializing: Promise<unknown> = Promise.resolve();

  /** One at a time: they share a prepared statement. */
  private serialize(sql: string): Promise<string> {
    const result = this.serializing.then(async () => {
      this.parser.bindVarchar(1, sql);
      const stream = await this.parser.execute();
      const batch = await stream.next();
      return new TextDecoder().decode(batch!.columns[0]!.data!);
    });
    this.serializing = result.catch(() => {});
    return result;
  }
}
