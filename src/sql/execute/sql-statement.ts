// What a statement gets, what it gives, and what it needs of the engine that runs it.
import type { ScanRegistry } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { QueryParams } from "../../model/query/query.ts";
import type { ResultBatch, ResultSchema } from "../../model/query/result-batch.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { SystemRow } from "../../model/system-table.ts";
import type { FunctionMemory } from "../limits/function-memory.ts";
import type { DatabaseTable } from "../tables/catalog-tables.ts";
import type { DuckAnswer } from "./duck-answer.ts";

/** What a statement is run with. */
export interface SqlInput {
  /** Those of `plan.tables` that exist. They stay pinned until `close` of the answer has resolved. */
  readonly tables: readonly ScanTable[];
  /** Those of `plan.caches`, by `cacheKey`. */
  readonly caches?: ReadonlyMap<string, ScanTable>;
  /** All tables of the database, when `plan.readsCatalog`. */
  readonly databaseTables?: readonly DatabaseTable[];
  /** The database is `_internal`. */
  readonly isInternal?: boolean;
  /** Rows of those of `plan.systemTables` that the database has. */
  readonly systemRows?: Readonly<Record<string, readonly SystemRow[]>>;
  readonly params: QueryParams;
  /** Aborting interrupts the statement: it fails with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Computing and reading together; beyond it the statement fails with `query_limit`. */
  readonly timeoutMs?: number;
  /** now() of the statement; the clock's time when absent. */
  readonly nowNs?: bigint;
  /** Told when the statement is planned and begins to read. */
  readonly onPlanned?: () => void;
  /** For tests: DuckDB makes everything, of rows. */
  readonly isPlain?: boolean;
}

/** An answer that is read. */
export interface SqlAnswer {
  readonly schema: ResultSchema;
  /** Once. A batch is valid until the next one is asked for. @throws TsdbError */
  readonly batches: AsyncIterable<ResultBatch>;
  /** Must be called, also after the last batch and after an error. Once it resolves, nothing reads the tables any more. */
  close(): Promise<void>;
}

/** The engine, for its statements. */
export interface SqlHost {
  readonly kernel: Kernel;
  readonly registry: ScanRegistry;
  /** What running statements may make of it. */
  readonly functionMemory: FunctionMemory;
  /** Bytes of text and lists that the functions of a statement may make at a time: they are in no limit of DuckDB's. */
  readonly functionBytesMax: number;
  /** A connection for one statement. */
  lease(): Promise<DuckAnswer>;
  /** Told of every error that ended a statement. */
  noticeError(error: unknown): void;
}
