// The road of a row without sockets and threads: catalog, manifest, log, buffer and flush on a disk that the test gives; rows come back as
// plain objects, read as a statement would read them.
import { LiveTables } from "../../src/buffer/live-tables.ts";
import { Pins } from "../../src/buffer/pins.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import type { Disk } from "../../src/disk/disk.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { Replayer } from "../../src/ingest/replay.ts";
import { Kernel } from "../../src/kernel/kernel.ts";
import { Flusher } from "../../src/maintain/flush.ts";
import { ColumnType } from "../../src/model/column.ts";
import { Precision } from "../../src/model/precision.ts";
import { ALL_TIME, type TagPredicate, type TimeRange } from "../../src/model/scan.ts";
import type { WriteRequest, WriteResult } from "../../src/model/write.ts";
import { FileObjectStore } from "../../src/object-store/file-object-store.ts";
import { Snapshots } from "../../src/query/snapshots.ts";
import { TableScan } from "../../src/query/table-scan.ts";
import { Manifest } from "../../src/store/manifest.ts";
import { objectKeys } from "../../src/store/paths.ts";
import { writePt } from "../../src/store/pt-file.ts";
import { replay } from "../../src/wal/replay.ts";
import { Wal } from "../../src/wal/wal.ts";
import { readChunk, type TestRow, type TestValue } from "./rows.ts";

const I64_MIN = -(2n ** 63n);
const FIRST_RECEIVE_NS = 1_700_000_000_000_000_000n;
const KEYS = objectKeys("n");
const encoder = new TextEncoder();

/** One kernel for all paths of a test file: memory is freed by `close`. */
let sharedKernel: Kernel | undefined;

export class WritePath {
  private readonly flusher: Flusher;
  private readonly snapshots: Snapshots;
  /** Objects as a worker would read them, by key. */
  private readonly objects = new Map<string, Uint8Array>();
  private flushError: unknown;

  private constructor(
    readonly kernel: Kernel,
    private readonly store: FileObjectStore,
    readonly catalog: Catalog,
    readonly manifest: Manifest,
    readonly tables: LiveTables,
    readonly wal: Wal,
    readonly ingest: Ingest,
    pins: Pins,
    /** Rows that came back from the log. */
    readonly replayedRows: number,
  ) {
    this.flusher = new Flusher({
      tables,
      catalog,
      wal,
      manifest,
      store,
      ptKey: (fileId) => KEYS.ptFile(fileId),
      limits: { openBytesMax: Number.MAX_SAFE_INTEGER, ageMsMax: Number.MAX_SAFE_INTEGER, walBytesMax: Number.MAX_SAFE_INTEGER },
      nowMs: () => 0,
      encode: (input) => Promise.resolve(writePt(kernel, input)),
      onFlushed: () => {},
      onError: (error) => {
        this.flushError = error;
      },
    });
    const objectSource = (key: string) => ({ kind: "bytes" as const, bytes: this.objects.get(key)! });
    this.snapshots = new Snapshots({ catalog, tables, manifest, pins, objectSource });
  }

  /** Starts as a server does. @throws TsdbError corrupt_file, io, unavailable */
  static async open(disk: Disk): Promise<WritePath> {
    sharedKernel ??= Kernel.create();
    const kernel = sharedKernel;
    const store = new FileObjectStore(disk, "objects");
    await store.recover();
    const catalog = await Catalog.open(store, { prefix: KEYS.catalog });
    const manifest = await Manifest.open(store, { prefix: KEYS.manifest });
    const pins = new Pins();
    const tables = new LiveTables(kernel, pins, (tableId) => manifest.tableMaxTimeNs(tableId) ?? I64_MIN);
    const replayer = new Replayer(kernel, catalog, tables, 0);
    const replayed = await replay(disk, "wal", {
      afterSequence: manifest.flushedSequence,
      failOnError: true,
      onFrame: (sequence, payload, segment) => replayer.frame(sequence, payload, segment),
    });
    replayer.release();
    const wal = await Wal.open(disk, "wal", replayed);
    let nowNs = FIRST_RECEIVE_NS;
    const ingest = new Ingest({
      kernel,
      catalog,
      tables,
      wal,
      clockNs: () => nowNs++,
      admit: () => undefined,
      onFatal: (error) => {
        throw error;
      },
      onRows: () => {},
    });
    return new WritePath(kernel, store, catalog, manifest, tables, wal, ingest, pins, replayer.rowCount);
  }

  write(body: string | Uint8Array, options: Partial<WriteRequest> = {}): Promise<WriteResult> {
    const bytes = typeof body === "string" ? encoder.encode(body) : body;
    const defaults = { database: "db", precision: Precision.nanosecond, acceptPartial: true, noSync: false };
    return this.ingest.write({ ...defaults, ...options, body: bytes });
  }

  /** Puts everything buffered into a file. @throws what the disk threw */
  async flush(): Promise<void> {
    this.flushError = undefined;
    await this.flusher.flushAll();
    if (this.flushError !== undefined) throw this.flushError;
  }

  async close(): Promise<void> {
    await this.wal.close();
    await this.manifest.close();
    await this.catalog.close();
  }

  /** Columns of a table as `name:type number`, in the catalog's order; undefined when there is no such table. */
  schema(table: string, database = "db"): string[] | undefined {
    const found = this.catalog.findDatabase(database);
    const def = found === undefined ? undefined : this.catalog.findTable(found.id, table);
    return def?.columns.map(({ name, type }) => `${name}:${type}`);
  }

  /** Rows of a table in the order of the scan. */
  async rows(
    table: string,
    { database = "db", range = ALL_TIME, tags = [] }: { database?: string; range?: TimeRange; tags?: TagPredicate[] } = {},
  ): Promise<TestRow[]> {
    if (this.catalog.findDatabase(database) === undefined) return [];
    for (const { key } of this.manifest.files()) if (!this.objects.has(key)) this.objects.set(key, await this.store.get(key));
    const { snapshot, release } = this.snapshots.take(database, [table], false);
    const rows: TestRow[] = [];
    try {
      for (const tableSnapshot of snapshot.tables) {
        const scan = new TableScan(this.kernel, tableSnapshot);
        const cursor = scan.open({ columns: scan.columns, range, tags });
        for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
          for (const values of readChunk(this.kernel, scan.columns, chunk)) rows.push(toRow(scan.columns, values));
        }
        scan.close();
      }
    } finally {
      release();
    }
    return rows;
  }
}

function toRow(columns: TableScan["columns"], values: readonly (TestValue | null)[]): TestRow {
  let timeNs = 0n;
  const tags: Record<string, string> = {};
  const fields: Record<string, TestValue> = {};
  columns.forEach(({ name, type }, i) => {
    const value = values[i]!;
    if (type === ColumnType.time) timeNs = value as bigint;
    else if (value !== null && type === ColumnType.tag) tags[name] = value as string;
    else if (value !== null) fields[name] = value;
  });
  return { timeNs, tags, fields };
}
