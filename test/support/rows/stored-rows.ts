// Rows in one of the states of row-states.ts, in this process: real ingest, log, files and scans on a disk in memory; statements of both
// languages over them.

import type { FluxQuery } from "../../../src/flux/interpret/query.ts";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { KernelRowText } from "../../../src/kernel/text/row-text.ts";
import { TsdbError } from "../../../src/model/errors.ts";
import type { FluxBucket } from "../../../src/model/query/flux.ts";
import type { QueryParams } from "../../../src/model/query/query.ts";
import type { ResultSchema } from "../../../src/model/query/result-batch.ts";
import type { ScanTable } from "../../../src/model/query/scan-table.ts";
import type { ColumnDef } from "../../../src/model/rows/column.ts";
import type { DeleteRequest } from "../../../src/model/rows/deletion.ts";
import { scriptPieces } from "../../../src/query/flux/flux-statement.ts";
import { StoredSource } from "../../../src/query/flux/stored-source.ts";
import type { SnapshotNeed } from "../../../src/scan/snapshot.ts";
import type { TableScan } from "../../../src/scan/table-scan.ts";
import type { SqlEngine, SqlInput } from "../../../src/sql/execute/engine.ts";
import type { TsdbqlContext } from "../../../src/tsdbql/execute/context.ts";
import { runTsdbql } from "../../../src/tsdbql/execute/tsdbql.ts";
import { parseQuery } from "../../../src/tsdbql/parse/parser.ts";
import { prng } from "../prng.ts";
import { readRows, type SqlValue } from "../sql/sql-rows.ts";
import { type AnswerSeries, type AskOptions, readSeries } from "../sql/tsdbql-data.ts";
import { FaultyDisk } from "../storage/faulty-disk.ts";
import { WritePath } from "../storage/write-path.ts";
import { bringInto, type RowHolder, type RowState, type RowStep } from "./row-states.ts";

/** Default time of statements. */
const NOW_NS = 2_000_000_000_000_000_000n;

/** A database of another namespace than port 8181's, under the name that steps and statements have for it. */
export interface NamedDatabase {
  readonly as: string;
  readonly namespace: number;
  readonly name: string;
}

export interface SqlAsk extends Pick<SqlInput, "isPlain" | "nowNs"> {
  /** A name, or an id. */
  readonly database?: string | number;
  readonly params?: QueryParams;
  /** Wraps the table given to the engine, such as with a feature disabled. */
  readonly view?: (scan: TableScan) => ScanTable;
  /** Additional tables that are not stored. */
  readonly others?: readonly ScanTable[];
}

export interface SqlRows {
  readonly schema: ResultSchema;
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Rows in the storage of this process. */
export class StoredRows implements RowHolder {
  private readonly disk = new FaultyDisk({ below: prng(1) });
  private path!: WritePath;
  /** Ids of databases of other namespaces. */
  private readonly ids = new Map<string, number>();

  private constructor(
    readonly kernel: Kernel,
    private readonly pageRowsMax: number,
  ) {}

  /** @param kernel also that of the engine for SQL. @param pageRowsMax of flushed files: a power of two from 64 on */
  static async open(
    kernel: Kernel,
    state: RowState,
    steps: readonly RowStep[],
    { pageRowsMax = 64, databases = [] }: { readonly pageRowsMax?: number; readonly databases?: readonly NamedDatabase[] } = {},
  ): Promise<StoredRows> {
    const stored = new StoredRows(kernel, pageRowsMax);
    await stored.start();
    for (const each of databases) await stored.createDatabase(each);
    await bringInto(stored, state, steps);
    return stored;
  }

  async write(database: string, retentionPolicy: string | null, lines: string): Promise<void> {
    const databaseId = this.ids.get(database);
    const target = { database: databaseOf(database, retentionPolicy), ...(databaseId === undefined ? {} : { databaseId }) };
    const { rejectedCount, lineErrors } = await this.path.write(lines, target);
    if (rejectedCount > 0) throw new Error(`a line was rejected: ${JSON.stringify(lineErrors[0])}`);
  }

  deleteRows(request: DeleteRequest): Promise<void> {
    return this.path.data.deleteRows({ ...request, database: this.reference(request.database) });
  }

  flush(): Promise<void> {
    return this.path.flush();
  }

  compact(): Promise<void> {
    return this.path.compact();
  }

  async restartFromLog(): Promise<void> {
    await this.path.close();
    await this.start();
  }

  private async createDatabase({ as, namespace, name }: NamedDatabase): Promise<void> {
    const { catalog } = this.path;
    const id = catalog.nextIds.databaseId;
    await catalog.apply([{ kind: "create_database", id, namespace, name }]).durable;
    this.ids.set(as, id);
  }

  private reference(database: string | number): string | number {
    return this.ids.get(String(database)) ?? database;
  }

  private async start(): Promise<void> {
    this.path = await WritePath.open(this.disk, { kernel: this.kernel });
    this.path.pageRowsMax = this.pageRowsMax;
  }

  /** Indexes every file of the table, or of all tables of the database. */
  async index(table: string | null, columns: readonly string[], database = "db"): Promise<void> {
    await this.path.fileIndexes.create({ database, table }, columns);
    await this.path.index();
  }

  /** @throws TsdbError of a statement that fails */
  async sql(
    engine: SqlEngine,
    statement: string,
    { database = "db", params = {}, view, others = [], ...input }: SqlAsk = {},
  ): Promise<SqlRows> {
    const plan = await engine.plan(statement);
    const { tables, readsCatalog: wholeCatalog } = plan;
    const { snapshot, release } = this.path.snapshots.take(this.reference(database), { tables, wholeCatalog, systemTables: [] });
    const scans = snapshot.tables.map((table) => this.path.scanOf(table));
    try {
      const answer = await engine.run(plan, {
        ...{ nowNs: NOW_NS, databaseTables: snapshot.catalog, params, ...input },
        tables: [...(view === undefined ? scans : scans.map(view)), ...others],
      });
      try {
        return { schema: answer.schema, rows: await readRows(answer) };
      } finally {
        await answer.close();
      }
    } finally {
      for (const scan of scans) scan.close();
      release();
    }
  }

  /** One statement of the v1 language. @throws TsdbError if it fails */
  async tsdbql(text: string, { nowNs = NOW_NS, memoryBytesMax = 1 << 30, database = "db", retentionPolicy = null }: AskOptions = {}) {
    const pins: (() => void)[] = [];
    const context: TsdbqlContext = {
      ...{ kernel: this.kernel, database, retentionPolicy, nowNs, memoryBytesMax },
      signal: new AbortController().signal,
      snapshot: async (need: SnapshotNeed & { readonly database: string }) => {
        const { snapshot, release } = this.path.snapshots.take(this.reference(need.database), need);
        pins.push(release);
        return snapshot;
      },
      scanOf: (table) => this.path.scanOf(table),
    };
    let series: AnswerSeries[] = [];
    try {
      const answer = await runTsdbql(parseQuery(text)[0]!.statement, context);
      try {
        series = await readSeries(answer);
      } finally {
        await answer.close();
      }
    } finally {
      for (const release of pins) release();
    }
    return series;
  }

  /** A script over databases as buckets: an id is the name of one. @throws FluxError before the first piece */
  async flux(
    script: Pick<FluxQuery, "text" | "extern" | "now" | "dialect" | "pushesDown">,
    buckets: readonly FluxBucket[],
  ): Promise<string> {
    const pins: (() => void)[] = [];
    const source = new StoredSource({
      ...{ kernel: this.kernel, memoryBytesMax: 1 << 30, signal: new AbortController().signal },
      options: {
        ...{ organizationId: buckets[0]?.organizationId ?? "", organizationName: "o", otherOrganizations: [] },
        ...{ buckets, hasAllBuckets: true, databases: null },
      },
      snapshot: async (need) => {
        const { snapshot, release } = this.path.snapshots.take(this.reference(need.database!), need);
        pins.push(release);
        return snapshot;
      },
      scanOf: (table) => this.path.scanOf(table),
    });
    let text = "";
    try {
      // also the smallest table goes through the kernel
      const kernelRows = { maker: new KernelRowText(this.kernel), rowsMin: 1 };
      const decoder = new TextDecoder();
      // what scripts write is taken, and left
      const services = { write: () => Promise.resolve(null) };
      for await (const piece of scriptPieces({ kernelRows, services, ...script }, source, new AbortController().signal)) {
        text += typeof piece === "string" ? piece : decoder.decode(piece);
      }
    } finally {
      source.close();
      for (const release of pins) release();
    }
    return text;
  }

  /** Columns of the table in the catalog. */
  columns(table: string, database = "db"): readonly ColumnDef[] {
    return this.path.columns(table, database);
  }

  close(): Promise<void> {
    return this.path.close();
  }
}

/** The database that a v1 write resolves to. */
function databaseOf(database: string, retentionPolicy: string | null): string {
  return retentionPolicy === null ? database : `${database}/${retentionPolicy}`;
}

/** The value of an answer or the message of its error, for comparisons. */
export async function outcomeOf<T>(answer: Promise<T>): Promise<T | string> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TsdbError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}
