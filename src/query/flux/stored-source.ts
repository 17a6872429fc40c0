// The buckets of a script as its source of rows: pinned snapshots of their databases, read measurement by measurement.
import type {
  BucketInfo,
  DatabaseInfo,
  FluxSource,
  OrganizationInfo,
  ReadRequest,
  ReduceRequest,
  SeriesAnswer,
  SeriesQuestion,
  SourceRows,
  SourceSeries,
} from "../../flux/interpret/flux-source.ts";
import { AnswerPending } from "../../flux/interpret/outside.ts";
import { UnplacedError } from "../../flux/values/flux-error.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { type FluxOptions, NEEDS_BUCKETS } from "../../model/query/flux.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { Turns } from "../../model/turns.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../../scan/snapshot.ts";
import type { TableScan } from "../../scan/table-scan.ts";
import { StatementMemory } from "../../tsdbql/execute/memory.ts";
import { MeasurementReader } from "./measurement-reader.ts";
import { ReducedReader } from "./reduced-reader.ts";
import { type SeriesFacts, SeriesLists } from "./series-lists.ts";

type OptionNames = "organizationId" | "organizationName" | "otherOrganizations" | "buckets" | "hasAllBuckets" | "databases";

export interface StoredSourceParts {
  readonly kernel: Kernel;
  readonly options: Pick<FluxOptions, OptionNames>;
  readonly snapshot: (need: SnapshotNeed) => Promise<DatabaseSnapshot>;
  readonly scanOf: (table: TableSnapshot) => TableScan;
  readonly signal: AbortSignal;
  readonly memoryBytesMax: number;
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** What a read waits for. */
class Arrival<T> {
  outcome: Outcome<T> | null = null;
  /** The script is evaluated again from its beginning, and reads the same again. */
  isKept = false;
  readonly settled: Promise<void>;

  constructor(made: Promise<T>) {
    this.settled = made.then(
      (value) => {
        this.outcome = { value };
      },
      (error: unknown) => {
        this.outcome = { error };
      },
    );
  }
}

/** The source of rows of one script. Owned: call `close`. */
export class StoredSource implements FluxSource {
  /** Set while a stream pauses for rows; the caller waits for it and clears it. */
  waiting: Promise<void> | null = null;
  private readonly tables = new Map<string, Arrival<readonly TableSnapshot[]>>();
  private readonly series = new Map<string, Arrival<readonly SourceSeries[]>>();
  private readonly rows = new Map<string, Arrival<readonly SourceRows[]>>();
  private readonly reductions = new Map<string, Arrival<readonly SourceSeries[] | null>>();
  private readonly facts = new Map<string, Arrival<SeriesFacts | null>>();
  private readonly scans: TableScan[] = [];
  private readonly memory: StatementMemory;
  private readonly reader: MeasurementReader;
  private readonly reducer: ReducedReader;
  private readonly lists: SeriesLists;
  /** One snapshot is requested at a time. */
  private lastSnapshot: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: StoredSourceParts) {
    this.memory = new StatementMemory(parts.memoryBytesMax);
    this.reader = new MeasurementReader(parts.kernel, new Turns(parts.signal), this.memory);
    this.lists = new SeriesLists(parts.kernel, new Turns(parts.signal), this.memory);
    this.reducer = new ReducedReader(parts.kernel, new Turns(parts.signal), this.memory);
  }

  organization(): OrganizationInfo {
    const { organizationId: id, organizationName: name } = this.parts.options;
    return { id, name };
  }

  seesOrganization(name: string): boolean {
    return this.parts.options.otherOrganizations.includes(name);
  }

  buckets(): readonly BucketInfo[] {
    const { buckets, hasAllBuckets, organizationId } = this.parts.options;
    if (!hasAllBuckets) throw needsBuckets();
    if (buckets.length === 0) throw new UnplacedError(`no buckets found in organization ${organizationId}`, "not found");
    return buckets;
  }

  databases(): readonly DatabaseInfo[] {
    const { databases } = this.parts.options;
    const buckets = this.buckets();
    const byId = new Map(buckets.map((bucket) => [bucket.id, bucket]));
    return (databases ?? []).flatMap(({ bucketId, ...names }) => {
      const bucket = byId.get(bucketId);
      return bucket === undefined ? [] : [{ ...names, bucket }];
    });
  }

  bucket(find: { readonly name: string } | { readonly id: string }): BucketInfo | undefined {
    const { buckets, hasAllBuckets } = this.parts.options;
    const found = buckets.find(({ id, name }) => ("name" in find ? name === find.name : id === find.id));
    if (found === undefined && !hasAllBuckets) throw needsBuckets();
    return found;
  }

  *read(request: ReadRequest): Iterable<SourceSeries | null> {
    const tables = yield* this.arrived(this.tables, tablesKey(request), () => this.tablesOf(request));
    for (const table of tables) {
      const key = `${table.table.id}/${readKey(request)}`;
      const used = this.memory.used;
      const series = yield* this.arrived(this.series, key, () => this.reader.read(this.opened(table), request));
      for (const each of series) yield each;
      // the tables made of them are the script's now
      if (this.series.get(key)?.isKept === false) this.series.delete(key);
      this.memory.giveDownTo(used);
    }
  }

  *readRows(request: ReadRequest): Iterable<SourceRows | null> {
    const tables = yield* this.arrived(this.tables, tablesKey(request), () => this.tablesOf(request));
    for (const table of tables) {
      const key = `${table.table.id}/${readKey(request)}`;
      const used = this.memory.used;
      const rows = yield* this.arrived(this.rows, key, () => this.reader.rows(this.opened(table), request));
      for (const each of rows) yield each;
      if (this.rows.get(key)?.isKept === false) this.rows.delete(key);
      this.memory.giveDownTo(used);
    }
  }

  *reduced(request: ReduceRequest): Generator<null, readonly SourceSeries[] | null, void> {
    const tables = yield* this.arrived(this.tables, tablesKey(request), () => this.tablesOf(request));
    if (request.reduction.oneTypeOf !== null && hasTypeConflict(tables, request)) return null;
    // the latest windows of one measurement need not be those of all
    const asked = tables.length === 1 ? request : { ...request, reduction: { ...request.reduction, latest: null } };
    const all: SourceSeries[] = [];
    for (const table of tables) {
      const key = `${table.table.id}/${readKey(request)}/${reductionKey(request)}`;
      const series = yield* this.arrived(this.reductions, key, () => this.reducer.read(this.opened(table), asked));
      if (series === null) return null;
      for (const each of series) all.push(each);
    }
    return all;
  }

  *described(request: ReadRequest, question: SeriesQuestion): Generator<null, SeriesAnswer | null, void> {
    const tables = yield* this.arrived(this.tables, tablesKey(request), () => this.tablesOf(request));
    const texts = new Set<string>();
    let count = 0;
    for (const table of tables) {
      const key = `${table.table.id}/${readKey(request)}/${JSON.stringify(question)}`;
      const facts = yield* this.arrived(this.facts, key, () => this.lists.read(this.opened(table), request, question));
      if (facts === null) return null;
      for (const text of facts.texts) texts.add(text);
      count += facts.count;
    }
    return { texts, count };
  }

  /** Records of all scans so far. */
  records(): ReturnType<TableScan["records"]> {
    return this.scans.flatMap((scan) => scan.records());
  }

  close(): void {
    for (const scan of this.scans) scan.close();
  }

  private opened(table: TableSnapshot): TableScan {
    const scan = this.parts.scanOf(table);
    this.scans.push(scan);
    return scan;
  }

  private *arrived<T>(all: Map<string, Arrival<T>>, key: string, make: () => Promise<T>): Generator<null, T, void> {
    let found = all.get(key);
    if (found === undefined) {
      found = new Arrival(make());
      all.set(key, found);
    }
    if (found.outcome === null) {
      this.waiting = found.settled;
      yield null;
      // nobody has waited: the stream is read where a script cannot pause
      if (found.outcome === null) {
        found.isKept = true;
        this.waiting = null;
        throw new AnswerPending(found.settled);
      }
    }
    const { outcome } = found as { outcome: Outcome<T> };
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  private async tablesOf({ bucketId, wanted }: ReadRequest): Promise<readonly TableSnapshot[]> {
    const names = wanted?.measurements ?? (await this.namesOf(bucketId));
    if (names.length === 0) return [];
    const { tables } = await this.pinned({ database: bucketId, tables: names, wholeCatalog: false, systemTables: [] });
    return [...tables].sort((a, b) => compareTexts(a.table.name, b.table.name));
  }

  private async namesOf(bucketId: string): Promise<readonly string[]> {
    const { catalog } = await this.pinned({ database: bucketId, tables: [], wholeCatalog: true, systemTables: [] });
    return catalog.map(({ name }) => name);
  }

  private pinned(need: SnapshotNeed): Promise<DatabaseSnapshot> {
    const next = this.lastSnapshot.then(() => this.parts.snapshot(need));
    this.lastSnapshot = next.catch(() => {});
    return next;
  }
}

function needsBuckets(): TsdbError {
  return new TsdbError("bad_query", "the buckets of the organization are needed", { [NEEDS_BUCKETS]: true });
}

function tablesKey({ bucketId, wanted }: ReadRequest): string {
  return JSON.stringify([bucketId, wanted?.measurements ?? null]);
}

function readKey({ startNs, stopNs, wanted }: ReadRequest): string {
  return `${startNs}/${stopNs}/${wanted?.key ?? ""}`;
}

function reductionKey({ reduction, values }: ReduceRequest): string {
  return JSON.stringify([reduction, values], (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

/** Whether fields that have to be of one type are not. */
function hasTypeConflict(tables: readonly TableSnapshot[], { wanted, reduction }: ReduceRequest): boolean {
  const types = new Map<string, ColumnType>();
  for (const { table } of tables) {
    for (const { name, type } of table.columns) {
      if (!isField(type) || wanted?.mayBe(table.name, name) === false) continue;
      const key = reduction.oneTypeOf === "each field" ? name : "";
      if ((types.get(key) ?? type) !== type) return true;
      types.set(key, type);
    }
  }
  return false;
}

function isField(type: ColumnType): boolean {
  return type !== ColumnType.tag && type !== ColumnType.time;
}
