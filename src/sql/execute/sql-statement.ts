// Input and output of a statement, and the parts of the engine that it uses.
import type { ScanRegistry } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { QueryParams } from "../../model/query/query.ts";
import type { ResultBatch, ResultSchema } from "../../model/query/result-batch.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { SystemRow } from "../../model/system-table.ts";
import type { FunctionMemory } from "../limits/function-memory.ts";
import type { DatabaseTable } from "../tables/catalog-tables.ts";
import type { DuckAnswer } from "./duck-answer.ts";
import type { BulkReading } from "./duck-table.ts";
import type { KnownResults } from "./series/known-results.ts";

/** What a statement is run with. */
export interface SqlInput {
  /** Those of `plan.tables` that exist. They stay pinned until `close` of the answer has resolved. */
  readonly tables: readonly ScanTable[];
  /** Those of `plan.caches`, by `cacheKey`. */
  readonly caches?: ReadonlyMap<string, ScanTable>;
  /** All tables of the database, if `plan.readsCatalog`. */
  readonly databaseTables?: readonly DatabaseTable[];
  /** The database is `_internal`. */
  readonly isInternal?: boolean;
  /** Rows of those of `plan.systemTables` that the database has. */
  readonly systemRows?: Readonly<Record<string, readonly SystemRow[]>>;
  /** Those of `plan.systemTables` whose rows are stored, by name. */
  readonly storedSystemTables?: ReadonlyMap<string, ScanTable>;
  readonly params: QueryParams;
  /** Aborting interrupts the statement: it fails with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Limit for computing and reading together; beyond it the statement fails with `query_limit`. */
  readonly timeoutMs?: number;
  /** Value of now(); if absent, the current time. */
  readonly nowNs?: bigint;
  /** Called when the statement is planned and begins to read. */
  readonly onPlanned?: () => void;
  /** For tests: no pushdown; DuckDB computes everything from rows. */
  readonly isPlain?: boolean;
}

/** The answer of a statement. */
export interface SqlAnswer {
  readonly schema: ResultSchema;
  /** True if it only counts all rows of one table, or the combinations of tags that they have. */
  readonly countsTable: boolean;
  /** May be iterated once. A batch is valid until the next one is requested. @throws TsdbError */
  readonly batches: AsyncIterable<ResultBatch>;
  /** Must be called, also after the last batch and after an error. When it resolves, nothing reads the tables any more. */
  close(): Promise<void>;
}

/** The engine as its statements see it. */
export interface SqlHost {
  readonly kernel: Kernel;
  readonly registry: ScanRegistry;
  /** Function memory of all running statements. */
  readonly functionMemory: FunctionMemory;
  /** Of queries over combinations of tags. */
  readonly knownResults: KnownResults;
  /** Maximum bytes of text and lists that the functions of a statement may create at a time: DuckDB does not limit them. */
  readonly functionBytesMax: number;
  /** How scans of many rows are read. */
  readonly bulk: Omit<BulkReading, "names">;
  /** A connection for one statement. */
  lease(): Promise<DuckAnswer>;
  /** Reports every error that ended a statement. */
  noticeError(error: unknown): void;
}
