// Runs a statement inside the query worker: plan → pinned snapshot → scans → engine → encoded parts.

import { CacheManager, type CacheManagerParts } from "../caches/cache-manager.ts";
import { createEncoder } from "../encode/encode.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { KernelRowText } from "../kernel/text/row-text.ts";
import { assert } from "../model/assert.ts";
import type { CacheTable } from "../model/cache-table.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { FluxOptions } from "../model/query/flux.ts";
import type { QueryFormat, QueryParams, StatementWrite, TableRows, TsdbqlOptions } from "../model/query/query.ts";
import type { ResultType } from "../model/query/result-batch.ts";
import type { ScanRecord } from "../model/query/scan-record.ts";
import type { SeriesPiece } from "../model/query/series-piece.ts";
import { Turns } from "../model/turns.ts";
import { SortedSegments } from "../scan/segments/sorted-segments.ts";
import { SeriesNumbersOfTables } from "../scan/series-numbers.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../scan/snapshot.ts";
import type { KnownOfTable } from "../scan/table-reader.ts";
import { TableScan } from "../scan/table-scan.ts";
import type { SqlAnswer, SqlEngine, SqlInput, SqlPlan } from "../sql/execute/engine.ts";
import { cacheKey, unknownCache } from "../sql/tables/cache-tables.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import { describePieces, emptyTables, encodePieces, statementOf } from "../tsdbql/execute/answer.ts";
import { runTsdbql } from "../tsdbql/execute/tsdbql.ts";
import { AnswerParts, type AnswerRun } from "./answer-parts.ts";
import { StatementClock, type StatementTimes } from "./statement-clock.ts";
import { StatementTables } from "./statement-tables.ts";
import { storedSystemTables } from "./stored-system-table.ts";

export interface StatementRequest {
  readonly database: string;
  readonly statement: string;
  readonly format: QueryFormat;
  readonly params: QueryParams;
  /** Set for InfluxQL. */
  readonly tsdbql?: TsdbqlOptions;
  /** Set for Flux. */
  readonly flux?: FluxOptions;
  /** Set for rows of a table. */
  readonly rows?: TableRows;
  /** As in QueryRequest. */
  readonly memoryBytesMax?: number;
  /** Only the schema of the answer and the parameters are requested, as in QueryRequest. */
  readonly describe: boolean;
  readonly signal: AbortSignal;
  /** Requests the current rows and files of the tables from the main thread. Names as in the statement (case preserved). */
  readonly snapshot: (need: SnapshotNeed) => Promise<DatabaseSnapshot>;
  /** Stores rows of the statement itself. */
  readonly write: StatementWrite;
  /** Called when it begins and ends to wait for other servers. */
  readonly onWaits: (waits: boolean) => void;
  /** Called when the statement is planned and begins to read, with the milliseconds since `run`. */
  readonly onPlanned: (planMs: number) => void;
}

export interface StatementAnswer {
  readonly contentType: string;
  readonly parts: AsyncIterable<Uint8Array>;
  /** Rows encoded so far. */
  rowCount(): number;
  /** Statistics of its scans so far. */
  records(): readonly ScanRecord[];
  /** Milliseconds of planning, and of computing and encoding since then. */
  times(): StatementTimes;
  /** True if it only counts all rows of one table, or the combinations of tags that they have. Absent: false. */
  readonly countsTable?: boolean;
  /** Frees everything that the statement holds; called once, also after an error. When it resolves, nothing reads the snapshot any more. */
  close(): Promise<void>;
}

const NOTHING: DatabaseSnapshot = { tables: [], catalog: [], isInternal: false, systemRows: {} };

/** Drivers create values from a parameter's type; they cannot for an unknown one. */
function bindable(type: ResultType): ResultType {
  return type.kind === "null" ? { kind: "utf8" } : type;
}

/** The script language, which is a third of a worker's code and used only with the bucket-based API. */
export function loadFlux(): Promise<typeof import("./flux/flux-statement.ts")> {
  flux ??= import("./flux/flux-statement.ts");
  return flux;
}

let flux: ReturnType<typeof loadFlux> | undefined;

/** Runs statements of both languages in a query worker, several at a time. One instance per worker. */
export class QueryRunner {
  private readonly rowText: KernelRowText;
  private readonly numbers: SeriesNumbersOfTables;
  /** Is notified of closed segments. */
  readonly segments: SortedSegments;
  /** Null if another worker holds the caches. */
  readonly cacheWorker: CacheManager | null;

  constructor(
    private readonly kernel: Kernel,
    private readonly engine: SqlEngine,
    private readonly cache: BlockCache,
    /** For the rows of a statement of InfluxQL or a script. */
    private readonly memoryBytesMax: number,
    keeps: Pick<CacheManagerParts, "bytesMax" | "fillsFromHistory"> | undefined,
  ) {
    this.rowText = new KernelRowText(kernel);
    this.numbers = new SeriesNumbersOfTables(kernel);
    this.segments = new SortedSegments(kernel, cache);
    const known = (tableId: number) => this.known(tableId);
    this.cacheWorker = keeps === undefined ? null : new CacheManager({ kernel, cache, known, ...keeps });
  }

  private known(tableId: number): KnownOfTable {
    return { numbers: this.numbers.of(tableId), segments: this.segments };
  }

  private scanOf(snapshot: TableSnapshot, signal: AbortSignal): TableScan {
    return new TableScan(this.kernel, snapshot, this.cache, LIMITS, this.known(snapshot.table.id), signal);
  }

  /** @throws TsdbError bad_query, query_limit, cancelled */
  async run(request: StatementRequest): Promise<StatementAnswer> {
    if (request.tsdbql !== undefined) return this.runTsdbql(request, request.tsdbql);
    if (request.flux !== undefined) return this.runFlux(request, request.flux);
    if (request.rows !== undefined) return this.runRows(request, request.rows);
    const clock = new StatementClock();
    const turns = new Turns(request.signal);
    const plan = await this.engine.plan(request.statement, () => turns.pause());
    const snapshot = await snapshotOf(plan, request);
    const tables = await this.openTables(plan, snapshot, request.signal);
    const input: SqlInput = {
      tables: tables.scans.filter(({ tableId }) => tableId !== snapshot.triggerLog?.tableId && tableId !== snapshot.auditTableId),
      storedSystemTables: storedSystemTables(snapshot, tables.scans),
      ...(tables.caches === undefined ? {} : { caches: tables.caches }),
      databaseTables: snapshot.catalog,
      isInternal: snapshot.isInternal,
      systemRows: snapshot.systemRows,
      params: request.params,
      signal: request.signal,
      onPlanned: () => request.onPlanned(clock.planned()),
    };
    try {
      if (request.describe) return { ...(await this.description(plan, input)), close: async () => tables.close() };
      return await this.answer(await this.engine.run(plan, input), tables, { format: request.format, turns, clock });
    } catch (error) {
      tables.close();
      throw error;
    }
  }

  private async answer(result: SqlAnswer, tables: StatementTables, run: AnswerRun): Promise<StatementAnswer> {
    try {
      const encoder = await createEncoder(run.format, this.rowText);
      // what the format cannot hold is refused before the first byte
      const head = encoder.begin(result.schema);
      run.clock.pause();
      const parts = new AnswerParts(result, { encoder, head }, run);
      return {
        contentType: encoder.contentType,
        parts,
        rowCount: () => parts.rowCount,
        records: () => tables.records(),
        times: () => run.clock.times(),
        countsTable: result.countsTable,
        close: async () => {
          await result.close();
          tables.close();
        },
      };
    } catch (error) {
      await result.close();
      throw error;
    }
  }

  /** @throws TsdbError bad_query if a cache does not exist, query_limit */
  private async openTables({ caches }: SqlPlan, snapshot: DatabaseSnapshot, signal: AbortSignal): Promise<StatementTables> {
    const opened = caches.length === 0 ? undefined : await this.openCaches(snapshot, signal);
    const scans = snapshot.tables.map((table) => this.scanOf(table, signal));
    return new StatementTables(scans, opened);
  }

  /** Opens the caches of a statement, updated to its snapshot. @throws TsdbError bad_query for an unknown name, query_limit */
  private async openCaches({ tables, caches = [] }: DatabaseSnapshot, signal: AbortSignal): Promise<Map<string, CacheTable>> {
    const { cacheWorker } = this;
    // main sends every statement whose text contains such a function's name to the cache worker
    assert(cacheWorker !== null, "a statement that reads a cache has come to a worker that keeps none");
    const opened = new Map<string, CacheTable>();
    try {
      for (const found of caches) {
        const { reference } = found;
        if ("missing" in found) throw unknownCache(reference, found.missing);
        const { cache, clock } = found;
        const snapshot = tables.find(({ table }) => table.id === cache.tableId)!;
        opened.set(cacheKey(reference), await cacheWorker.open(cache, snapshot, clock, signal));
      }
      return opened;
    } catch (error) {
      for (const table of opened.values()) table.close();
      throw error;
    }
  }

  private bytesFor({ memoryBytesMax = Number.POSITIVE_INFINITY }: StatementRequest): number {
    return Math.min(this.memoryBytesMax, memoryBytesMax);
  }

  /** Runs an InfluxQL statement. */
  private async runTsdbql(request: StatementRequest, options: TsdbqlOptions): Promise<StatementAnswer> {
    const startMs = performance.now();
    const scans: TableScan[] = [];
    const scanOf = (table: TableSnapshot) => {
      const scan = this.scanOf(table, request.signal);
      scans.push(scan);
      return scan;
    };
    const { database, signal, snapshot } = request;
    const answer = await runTsdbql(statementOf(request.statement, options), {
      ...{ kernel: this.kernel, database, retentionPolicy: options.retentionPolicy, nowNs: options.nowNs },
      ...{ policies: options.policies, policyRules: options.policyRules, mappings: options.mappings, isTable: options.answer === null },
      ...{ snapshot, scanOf, signal, memoryBytesMax: this.bytesFor(request) },
    });
    const planMs = performance.now() - startMs;
    request.onPlanned(planMs);
    let rowCount = 0;
    const counted = async function* (): AsyncGenerator<SeriesPiece> {
      for await (const piece of answer.pieces) {
        rowCount += piece.batch.rowCount;
        yield piece;
      }
    };
    const countedAnswer = { ...answer, pieces: counted() };
    const encoded = await (request.describe
      ? describePieces(countedAnswer)
      : encodePieces(countedAnswer, options, request.format, this.rowText)
    ).catch(async (error) => {
      await answer.close();
      throw error;
    });
    return {
      ...encoded,
      rowCount: () => rowCount,
      records: () => scans.flatMap((scan) => scan.records()),
      times: () => ({ planMs, computeMs: performance.now() - startMs - planMs }),
      close: () => answer.close(),
    };
  }

  /** Runs a script. */
  private async runFlux(request: StatementRequest, options: FluxOptions): Promise<StatementAnswer> {
    const { statement, signal, snapshot, onPlanned, write, onWaits } = request;
    const { runFlux } = await loadFlux();
    const startMs = performance.now();
    const { source, ...answer } = runFlux(
      { text: statement, options },
      {
        ...{ kernel: this.kernel, snapshot, signal, memoryBytesMax: this.bytesFor(request) },
        scanOf: (table) => this.scanOf(table, signal),
      },
      { write, onWaits },
      { maker: this.rowText },
    );
    onPlanned(0);
    return {
      ...answer,
      // a script has as many answers as it yields
      rowCount: () => 0,
      records: () => source.records(),
      times: () => ({ planMs: 0, computeMs: performance.now() - startMs }),
      close: async () => source.close(),
    };
  }

  /** Reads rows without a language. */
  private async runRows({ snapshot, signal, onPlanned }: StatementRequest, { table, range }: TableRows): Promise<StatementAnswer> {
    const { tables } = await snapshot({ tables: [table], wholeCatalog: false, systemTables: [] });
    const found = tables[0];
    if (found === undefined) throw new TsdbError("unknown_table", `table not found: ${table}`, { table });
    const { kernel, cache } = this;
    const clock = new StatementClock();
    // on first use, like the encoders of Arrow and Parquet
    const { RowExport } = await import("./row-export.ts");
    const rows = new RowExport({ kernel, cache, turns: new Turns(signal), ...this.known(found.table.id) }, found, range);
    onPlanned(clock.planned());
    return {
      contentType: rows.contentType,
      parts: rows.answer(clock),
      rowCount: () => rows.rowCount,
      records: () => [rows.record],
      times: () => clock.times(),
      close: async () => rows.close(),
    };
  }

  /** Two empty answers with the schemas of the columns and of the parameters. */
  private async description(plan: SqlPlan, input: SqlInput): Promise<Omit<StatementAnswer, "close">> {
    const startMs = performance.now();
    const { schema, parameters } = await this.engine.describe(plan, input);
    const planMs = performance.now() - startMs;
    const asWritten = parameters.map(({ name, type, ...field }) => ({ ...field, name: `$${name}`, type: bindable(type) }));
    const answer = await emptyTables([schema, { fields: asWritten, tableName: "" }]);
    return { ...answer, rowCount: () => 0, records: () => [], times: () => ({ planMs, computeMs: 0 }) };
  }
}

/** The snapshot that a plan reads. @throws TsdbError unknown_database */
async function snapshotOf({ tables, readsCatalog, systemTables, caches }: SqlPlan, request: StatementRequest): Promise<DatabaseSnapshot> {
  const readsNothing = tables.length + systemTables.length + caches.length === 0 && !readsCatalog;
  if (readsNothing) return NOTHING;
  return request.snapshot({ tables, wholeCatalog: readsCatalog, systemTables, ...(caches.length === 0 ? {} : { caches }) });
}
