// The write path without sockets and threads: catalog, manifest, log, buffer and flush on a disk supplied by the test; rows are returned as
// plain objects, read as by a statement.

import type { Disk } from "../../../src/disk/disk.ts";
import { Admission } from "../../../src/ingest/admission.ts";
import { BodyMemory } from "../../../src/ingest/body-memory.ts";
import { NamedData } from "../../../src/ingest/definitions/data-service.ts";
import { Deletions } from "../../../src/ingest/definitions/deletions.ts";
import { NamedFileIndexes } from "../../../src/ingest/definitions/file-index-service.ts";
import { Ingest } from "../../../src/ingest/ingest.ts";
import { Replayer } from "../../../src/ingest/replay.ts";
import { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { type AggregateRequest, aggregateColumns } from "../../../src/model/query/aggregate.ts";
import { ALL_TIME, type ScanRequest } from "../../../src/model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import { Precision } from "../../../src/model/time/precision.ts";
import type { IncomingBody, WriteRequest, WriteResult } from "../../../src/model/write.ts";
import { FileObjectStore } from "../../../src/object-store/file-object-store.ts";
import { SortedSegments } from "../../../src/scan/segments/sorted-segments.ts";
import { SeriesNumbersOfTables } from "../../../src/scan/series-numbers.ts";
import type { TableSnapshot } from "../../../src/scan/snapshot.ts";
import { Snapshots } from "../../../src/scan/snapshots.ts";
import { TableScan } from "../../../src/scan/table-scan.ts";
import { BlockCache } from "../../../src/storage/block-cache/block-cache.ts";
import { LiveTables } from "../../../src/storage/buffer/live-tables.ts";
import { Pins } from "../../../src/storage/buffer/pins.ts";
import { SeriesMemory } from "../../../src/storage/buffer/series-memory.ts";
import { Catalog } from "../../../src/storage/catalog/catalog.ts";
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from "../../../src/storage/catalog/schema-limits.ts";
import { buildFileIndex } from "../../../src/storage/compaction/build-index.ts";
import { Compactor } from "../../../src/storage/compaction/compactor.ts";
import { FileIndexer } from "../../../src/storage/compaction/file-indexer.ts";
import { writeMergedFile } from "../../../src/storage/compaction/merge-file.ts";
import { COMPACTION_LIMITS, type CompactionLimits } from "../../../src/storage/compaction/plan-compaction.ts";
import { FileIndexList } from "../../../src/storage/file-index/list.ts";
import { Flusher } from "../../../src/storage/flush/flush.ts";
import { Manifest } from "../../../src/storage/manifest/manifest.ts";
import { objectKeys } from "../../../src/storage/paths.ts";
import { blockMeta } from "../../../src/storage/pt/file.ts";
import { encodePt } from "../../../src/storage/pt/writer.ts";
import { replay } from "../../../src/storage/wal/replay.ts";
import { Wal } from "../../../src/storage/wal/wal.ts";
import { naiveRows } from "../rows/naive-table.ts";
import { readChunk, type TestRow, type TestValue } from "../rows/rows.ts";
import { RememberingStore } from "./remembering-store.ts";

const FIRST_RECEIVE_NS = 1_700_000_000_000_000_000n;
/** Small enough to fill up in tests that write some thousand rows. */
const CACHE_BYTES = 256 * 1024;
/** Merges whatever is possible, and closes every past day. */
const EAGER_LIMITS: CompactionLimits = {
  ...COMPACTION_LIMITS,
  closeAfterMs: 0,
  quietMs: 0,
  lateMs: 0,
  mergeRunsMin: 2,
  mergeGrowth: 1,
  tombstoneMs: 0,
};
const KEYS = objectKeys("n");
const encoder = new TextEncoder();

/** One kernel for all write paths of a test file: `close` frees its memory. */
let sharedKernel: Kernel | undefined;

export interface WritePathOptions {
  /** The current time for retention periods. */
  readonly nowMs?: () => number;
  readonly seriesMemory?: SeriesMemory;
  /** Limits of the catalog; defaults as without flags. */
  readonly limits?: Partial<SchemaLimits>;
  /** Default: one for all write paths of a test file. */
  readonly kernel?: Kernel;
}

/** The write path of this process, from body to files. Owned: call `close`. */
export class WritePath {
  private readonly flusher: Flusher;
  readonly snapshots: Snapshots;
  private flushError: unknown;
  private readonly compactor: Compactor;
  private readonly indexer: FileIndexer;
  readonly fileIndexes: NamedFileIndexes;
  private indexError: unknown;
  /** Blocks and pages excluded by file indexes, over all scans. */
  readonly ruledOut = { blocks: 0, pages: 0 };
  /** Above this number of values per block, an index has filters. */
  indexValuesMax = 1024;
  private readonly cache: BlockCache;
  private readonly numbers: SeriesNumbersOfTables;
  private readonly segments: SortedSegments;
  /** Segments of the last snapshot of a table. */
  private readonly segmentsOf = new Map<number, ReadonlySet<number>>();
  private readonly filesRead = new Set<number>();
  /** Page size of flushed files: a power of two from 64 on. */
  pageRowsMax: number = LIMITS.pageRowsMax;
  /** Runs before the worker encodes sealed rows or merges blocks. */
  beforeEncode: () => Promise<void> = () => Promise.resolve();
  /** Runs between two steps of a merge. */
  duringMerge: () => Promise<void> = () => Promise.resolve();

  private constructor(
    readonly kernel: Kernel,
    store: RememberingStore,
    readonly catalog: Catalog,
    readonly manifest: Manifest,
    readonly tables: LiveTables,
    readonly wal: Wal,
    readonly ingest: Ingest,
    readonly deletions: Deletions,
    readonly data: NamedData,
    readonly pins: Pins,
    readonly indexes: FileIndexList,
    /** The current time for retention periods. */
    nowMs: () => number,
    /** Number of rows replayed from the log. */
    readonly replayedRows: number,
  ) {
    this.cache = new BlockCache(kernel, CACHE_BYTES, { readsMax: 1, pageRowsMin: 1 });
    this.numbers = new SeriesNumbersOfTables(kernel, { seriesMax: 200_000, seriesOfTableMax: 200 });
    this.segments = new SortedSegments(kernel, this.cache, { rowsMin: 1, rowsPerSeriesMin: 0, scansMin: 2, joined: 2, joinScansMin: 2 });
    this.flusher = new Flusher({
      tables,
      pins,
      catalog,
      wal,
      manifest,
      store,
      tombstonesOf: (tableId) => deletions.tombstonesOf(tableId),
      ptKey: (fileId) => KEYS.ptFile(fileId),
      limits: {
        openBytesMax: Number.MAX_SAFE_INTEGER,
        ageMsMax: Number.MAX_SAFE_INTEGER,
        idleMsMax: Number.MAX_SAFE_INTEGER,
        idleBytesMin: 0,
        walBytesMax: Number.MAX_SAFE_INTEGER,
      },
      nowMs: () => 0,
      encode: async (pieces) => {
        const input = (await Array.fromAsync(pieces)).flat();
        if (input.length === 0) return null;
        await this.beforeEncode();
        const { bytes, directory } = encodePt(kernel, input, { pageRowsMax: this.pageRowsMax });
        return { bytes, directory: { blocks: directory.blocks.map(blockMeta) } };
      },
      onFlushed: () => {},
      onError: (error) => {
        this.flushError = error;
      },
    });
    this.compactor = this.createCompactor(store, pins, nowMs);
    this.indexer = this.createIndexer(store);
    this.fileIndexes = new NamedFileIndexes(catalog, () => {});
    const objectSource = (key: string) => ({ kind: "bytes" as const, bytes: store.objects.get(key)! });
    const tombstonesOf = (tableId: number) => deletions.tombstonesOf(tableId);
    const deleted = { tombstonesOf, lastDeletionOf: (tableId: number) => deletions.lastOf(tableId) };
    this.snapshots = new Snapshots({ catalog, tables, manifest, indexes, pins, objectSource, ...deleted, nowMs, systemRows: () => ({}) });
  }

  /** Starts like a server. @throws TsdbError corrupt_file, io, unavailable */
  static async open(disk: Disk, options: WritePathOptions = {}): Promise<WritePath> {
    const { nowMs = () => Number(FIRST_RECEIVE_NS / 1_000_000n), seriesMemory = new SeriesMemory(LIMITS.seriesBytesDefault) } = options;
    sharedKernel ??= options.kernel ?? Kernel.create();
    const kernel = options.kernel ?? sharedKernel;
    const files = new FileObjectStore(disk, "objects");
    await files.recover();
    const store = new RememberingStore(files);
    const catalog = await Catalog.open(files, { prefix: KEYS.catalog, limits: { ...DEFAULT_SCHEMA_LIMITS, ...options.limits } });
    const manifest = await Manifest.open(files, { prefix: KEYS.manifest });
    for (const { key } of [...manifest.files(), ...(await files.list(KEYS.indexes))]) await store.get(key);
    const indexes = await FileIndexList.open(store, manifest, {
      prefix: KEYS.indexes,
      objectSource: (key) => ({ kind: "bytes", bytes: store.objects.get(key)! }),
    });
    const pins = new Pins();
    const tables = new LiveTables(kernel, pins, (tableId) => manifest.tableTimes(tableId), seriesMemory);
    const replayer = new Replayer(kernel, catalog, tables, 0);
    const replayed = await replay(disk, "wal", {
      afterSequence: manifest.flushedSequence,
      takenSequences: catalog.tombstones().map(({ sequence }) => sequence),
      failOnError: true,
      onFrame: (sequence, payload, segment) => replayer.frame(sequence, payload, segment),
    });
    replayer.release();
    const wal = await Wal.open(disk, "wal", replayed, { stepBytes: { min: 64 << 10, max: 64 << 10 } });
    await wal.makeRoom(0).catch(() => {}); // the next write fails
    let nowNs = FIRST_RECEIVE_NS;
    let flusher: Flusher | undefined;
    const admission = new Admission({
      bytesMax: Number.MAX_SAFE_INTEGER,
      bufferBytes: () => tables.bytes,
      seriesMemory,
      kernelBytes: () => kernel.extents.usedBytes,
      flush: () => flusher?.check(),
      flushSettled: () => flusher?.settled() ?? Promise.resolve(),
    });
    const ingest = new Ingest({
      kernel,
      catalog,
      tables,
      wal,
      bodies: new BodyMemory(kernel, { bytesMax: LIMITS.bodyMemoryBytesMax, bodyBytesMax: LIMITS.bodyBytesMax }),
      clockNs: () => nowNs++,
      admission,
      onFatal: (error) => {
        throw error;
      },
      onRows: () => {},
    });
    const deletions = new Deletions({ catalog, tables, wal, manifest });
    const data = new NamedData(catalog, deletions);
    const made = [catalog, manifest, tables, wal, ingest, deletions, data, pins, indexes] as const;
    const path = new WritePath(kernel, store, ...made, nowMs, replayer.rowCount);
    flusher = path.flusher;
    return path;
  }

  write(text: string | Uint8Array, options: Partial<WriteRequest> = {}): Promise<WriteResult> {
    const bytes = typeof text === "string" ? encoder.encode(text) : text;
    const defaults = { database: "db", precision: Precision.nanosecond, acceptPartial: true, noSync: false };
    const take = (body: IncomingBody) => {
      body.append(bytes);
      return body.write({ ...defaults, ...options });
    };
    const place = this.ingest.receive(bytes.byteLength);
    return place instanceof Promise ? place.then(take) : take(place);
  }

  /** Flushes all buffered rows to a file. @throws the disk's error */
  async flush(): Promise<void> {
    this.flushError = undefined;
    await this.flusher.flushAll();
    if (this.flushError !== undefined) throw this.flushError;
  }

  /** As `Flusher.barrier`. */
  barrier(): Promise<number> {
    return this.flusher.barrier();
  }

  /** Runs all compaction jobs that are due under these limits. @throws a job's error */
  compact(limits: Partial<CompactionLimits> = {}): Promise<void> {
    return this.compactor.compactAll({ ...EAGER_LIMITS, ...limits });
  }

  /** Creates and removes file indexes until they match the catalog. @throws the last error */
  async index(): Promise<void> {
    this.indexError = undefined;
    await this.indexer.settled();
    if (this.indexError !== undefined) throw this.indexError;
  }

  private createIndexer(store: RememberingStore): FileIndexer {
    const { kernel, catalog, manifest, pins, indexes } = this;
    let nowMs = 0;
    return new FileIndexer({
      ...{ catalog, manifest, store, pins, list: indexes, rowsMin: 1 },
      indexKey: (fileId, revision) => KEYS.fileIndex(fileId, revision),
      objectSource: (key) => ({ kind: "bytes", bytes: store.objects.get(key)! }),
      build: async (request, write) => {
        await this.beforeEncode();
        return buildFileIndex(kernel, request, { write, pace: () => this.duringMerge(), valuesMax: this.indexValuesMax });
      },
      cancelBuild: () => {},
      // a failed job is retried the next time
      nowMs: () => (nowMs += 1e9),
      onIndexed: () => {},
      onError: (error) => {
        this.indexError = error;
      },
    });
  }

  private createCompactor(store: RememberingStore, pins: Pins, nowMs: () => number): Compactor {
    const { kernel, catalog, manifest, deletions } = this;
    return new Compactor({
      manifest,
      store,
      pins,
      ptKey: (fileId) => KEYS.ptFile(fileId),
      objectSource: (key) => ({ kind: "bytes", bytes: store.objects.get(key)! }),
      tableState: (tableId, now) => ({
        table: catalog.tableById(tableId),
        retentionMinNs: catalog.retentionMinNs(tableId, now),
        tombstones: deletions.tombstonesOf(tableId),
      }),
      stateVersion: () => ({}),
      deletionsDurable: () => deletions.durable(),
      retireDeletions: () => deletions.retireApplied(),
      merge: async (request, write) => {
        await this.beforeEncode();
        return writeMergedFile(kernel, request, { write, pace: () => this.duringMerge() });
      },
      cancelMerge: () => {},
      limits: EAGER_LIMITS,
      graceMs: 0,
      nowMs,
      later: (_, run) => run(),
      onCompacted: () => {},
      onError: () => {}, // compactAll throws it
    });
  }

  async close(): Promise<void> {
    await this.ingest.close();
    await this.wal.close();
    await this.manifest.close();
    await this.catalog.close();
    this.release();
  }

  /** Frees the memory of the rows of a write path that is not closed and no longer used. */
  release(): void {
    for (const fileId of this.filesRead) this.cache.dropFile(fileId);
    this.numbers.release();
    for (const tableId of this.segmentsOf.keys()) this.setSegments(tableId, new Set());
    this.tables.release();
  }

  /** Columns of a table as `name:type number`, in catalog order; undefined if the table does not exist. */
  schema(table: string, database = "db"): string[] | undefined {
    const found = this.catalog.findDatabase(database);
    const def = found === undefined ? undefined : this.catalog.findTable(found.id, table);
    return def?.columns.map(({ name, type }) => `${name}:${type}`);
  }

  columns(table: string, database = "db"): readonly ColumnDef[] {
    const found = this.catalog.findDatabase(database);
    return (found === undefined ? undefined : this.catalog.findTable(found.id, table)?.columns) ?? [];
  }

  /** Rows of a table in scan order. */
  rows(table: string, { database = "db", columns, ...request }: Partial<ScanRequest> & { database?: string } = {}): Promise<TestRow[]> {
    const rows: TestRow[] = [];
    this.withSnapshot(table, database, (tableSnapshot) => {
      const scan = this.scanOf(tableSnapshot);
      const projected = columns ?? scan.columns;
      const cursor = scan.open({ range: ALL_TIME, tags: [], ...request, columns: projected });
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
        for (const values of readChunk(this.kernel, projected, chunk)) rows.push(toRow(projected, values));
      }
      this.finished(scan);
    });
    return Promise.resolve(rows);
  }

  /** The groups of a table's scan, one value per answer column; null if it does not aggregate. */
  groups(table: string, database: string, request: AggregateRequest): (TestValue | null)[][] | null {
    let groups: (TestValue | null)[][] | null = null;
    this.withSnapshot(table, database, (tableSnapshot) => {
      const scan = this.scanOf(tableSnapshot);
      const cursor = scan.aggregate(request);
      const columns = aggregateColumns(request).map((type, id) => ({ id, name: "", type }));
      if (cursor !== null) {
        groups = [];
        for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) groups.push(...readChunk(this.kernel, columns, chunk));
      }
      this.finished(scan);
    });
    return groups;
  }

  private finished(scan: TableScan): void {
    for (const { blocksRuledOut, pagesRuledOut } of scan.records()) {
      this.ruledOut.blocks += blocksRuledOut;
      this.ruledOut.pages += pagesRuledOut;
    }
    scan.close();
  }

  /** For a table of a snapshot; close it before the snapshot is released. */
  scanOf(snapshot: TableSnapshot): TableScan {
    for (const { fileId } of snapshot.blocks) this.filesRead.add(fileId);
    const { segments } = this;
    this.setSegments(snapshot.table.id, new Set(snapshot.runs.flatMap(({ segment }) => segment ?? [])));
    return new TableScan(this.kernel, snapshot, this.cache, LIMITS, { numbers: this.numbers.of(snapshot.table.id), segments });
  }

  private setSegments(tableId: number, numbers: ReadonlySet<number>): void {
    for (const number of numbers) this.segments.begin(number);
    for (const number of this.segmentsOf.get(tableId) ?? []) if (!numbers.has(number)) this.segments.end(number);
    this.segmentsOf.set(tableId, numbers);
  }

  /** Rows of a table as read by naive-table.ts, in arbitrary order. */
  naiveRows(table: string, database = "db"): TestRow[] {
    let rows: TestRow[] = [];
    this.withSnapshot(table, database, (tableSnapshot) => {
      rows = naiveRows(this.kernel, tableSnapshot);
    });
    return rows;
  }

  /** Calls `use` with a statement's snapshot of the table, if it exists; valid until `use` returns. */
  withSnapshot(table: string, database: string, use: (snapshot: TableSnapshot) => void): void {
    const taken = this.takeSnapshot(table, database);
    try {
      if (taken !== null) use(taken.snapshot);
    } finally {
      taken?.release();
    }
  }

  /** The same, until `release`; null if the table does not exist. */
  takeSnapshot(table: string, database = "db"): { snapshot: TableSnapshot; release(): void } | null {
    if (this.catalog.findDatabase(database) === undefined) return null;
    const { snapshot, release } = this.snapshots.take(database, { tables: [table], wholeCatalog: false, systemTables: [] });
    const [found] = snapshot.tables;
    if (found !== undefined) return { snapshot: found, release };
    release();
    return null;
  }

  /** For readers of blocks. */
  get blockCache(): BlockCache {
    return this.cache;
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
