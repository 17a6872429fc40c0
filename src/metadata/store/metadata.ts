// The records of the v2 line: a change is operations of the catalog's log and rows of the view in one synchronous step, all or nothing.
// The log is what lasts; the view is made from it at each start.
import { TsdbError } from "../../model/errors.ts";
import { inFile } from "../../object-store/operation-values.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { CatalogOperation } from "../../storage/catalog/operations.ts";
import type { RecordValue } from "../../storage/catalog/records.ts";
import { databaseRows, putDatabase } from "./database-rows.ts";
import { bucketIdOf, nextId } from "./ids.ts";
import { KINDS, type RecordKind, type RecordTypes } from "./kinds.ts";
import { MetadataView } from "./view.ts";

/** What a plan may do within one change. */
export interface Change {
  /** For a new record. */
  newId(): string;
  /** For an operation that makes a database. */
  newDatabaseId(): number;
  /** Adds the record or replaces it as a whole. */
  put<K extends RecordKind>(kind: K, id: string, value: RecordTypes[K]): void;
  remove(kind: RecordKind, id: string): void;
  /** Other operations of the catalog, as of databases, that belong to the change. */
  apply(...operations: CatalogOperation[]): void;
  /** RFC 3339, the same for the whole change. */
  readonly now: string;
}

/** Of all records: they are in memory, and a snapshot of the catalog writes all of them in one step. */
const BYTES_MAX = 128 << 20;
const ALWAYS_KEPT: ReadonlySet<string> = new Set<RecordKind>(["task_state", "task_run"]);

/** Lists of these are made in one step, with all that each record holds. */
const SHORT_KINDS: ReadonlySet<string> = new Set<RecordKind>(["organization", "user", "bucket", "dbrp", "remote", "replication"]);
const SHORT_LENGTH_MAX = 65_536;

/** Reads the view, and applies changes to the log and the view. */
export class Metadata {
  readonly view = new MetadataView();
  private changes = 0;
  /** Grows within a change, and when it is undone. */
  private steps = 0;
  private restores = 0;
  private databasesGone: () => void = () => {};

  private constructor(
    readonly catalog: Catalog,
    private readonly nowMs: () => number,
    private readonly bytesMax: number,
  ) {}

  /** Makes the view. @throws TsdbError corrupt_file for records that contradict each other, or that a newer server wrote */
  static open(catalog: Catalog, nowMs: () => number, bytesMax = BYTES_MAX): Metadata {
    const metadata = new Metadata(catalog, nowMs, bytesMax);
    inFile("the catalog's records", () => metadata.view.transaction(() => metadata.build()));
    catalog.onDatabaseChanges((ids) => metadata.followDatabases(ids));
    return metadata;
  }

  /** Called in a turn of its own after databases were dropped. One at a time. */
  onDatabasesGone(listener: () => void): void {
    this.databasesGone = listener;
  }

  /** Grows with every change but of what tasks have done: what was made of an older one may be wrong. */
  get version(): number {
    return this.changes;
  }

  /** The same for lists that may be read within a change: grows with each record that it puts, and when it is undone. */
  get revision(): number {
    return this.changes + this.steps;
  }

  /** Grows when all records are replaced. */
  get generation(): number {
    return this.restores;
  }

  /** Plans and makes a change in one synchronous step; resolves to what the plan returns, when it is durable. An error undoes it.
   *  @throws TsdbError unavailable, no_space, read_only, limit_exceeded: nothing has changed then */
  async change<T>(plan: (change: Change) => T): Promise<T> {
    const { view, catalog } = this;
    let durable: Promise<void> = Promise.resolve();
    const { steps } = this;
    let isOfRuns = false;
    let result: T;
    try {
      result = view.transaction(() => {
        const operations: CatalogOperation[] = [];
        const bytesBefore = view.bytes;
        const planned = plan(this.planner(operations));
        this.requireRoom(operations, bytesBefore);
        if (operations.length > 0) ({ durable } = catalog.apply(operations));
        isOfRuns = operations.length > 0 && operations.every(isRun);
        return planned;
      });
      if (!isOfRuns) this.changes += 1;
    } finally {
      // what was read meanwhile may have been undone
      if (this.steps !== steps) this.steps += 1;
    }
    await durable;
    return result;
  }

  /** Applies operations that replace all records, in one synchronous step, and makes the view anew; `onApplied` belongs to the step.
   *  Resolves when it is durable. @throws TsdbError bad_request for records that contradict each other; as `change` */
  async replaceAll(plan: () => readonly CatalogOperation[], onApplied: () => void): Promise<void> {
    const operations = plan();
    const view = new MetadataView();
    try {
      view.transaction(() => putAll(view, operations));
    } catch (error) {
      view.close();
      throw error;
    }
    const { durable } = this.catalog.apply(operations);
    for (const row of databaseRows(this.catalog)) putDatabase(view, row);
    this.view.become(view);
    this.changes += 1;
    this.restores += 1;
    onApplied();
    await durable;
  }

  /** What runs of tasks need is always kept, and what makes records smaller. @throws TsdbError limit_exceeded */
  private requireRoom(operations: readonly CatalogOperation[], bytesBefore: number): void {
    const { bytes } = this.view;
    if (bytes <= this.bytesMax || bytes <= bytesBefore) return;
    if (!operations.some((each) => each.kind === "put_record" && !ALWAYS_KEPT.has(each.of))) return;
    const message = `dashboards, variables and all other records of this port take ${bytesBefore} bytes, and may take ${this.bytesMax}: delete what nobody uses`;
    throw new TsdbError("limit_exceeded", message, { bytes: bytesBefore, bytesMax: this.bytesMax });
  }

  /** A long one of before may become shorter. @throws TsdbError too_large */
  private requireShort(kind: RecordKind, id: string, value: object): void {
    const { length } = JSON.stringify(value);
    if (length <= SHORT_LENGTH_MAX) return;
    const before = this.catalog.records.ofKind(kind).get(id);
    if (before !== undefined && length <= JSON.stringify(before).length) return;
    throw new TsdbError("too_large", `this ${kind} has ${length} characters as JSON, and may have ${SHORT_LENGTH_MAX}`);
  }

  private planner(operations: CatalogOperation[]): Change {
    const { view } = this;
    const nowMs = this.nowMs();
    let last = this.catalog.records.lastId;
    let { databaseId } = this.catalog.nextIds;
    return {
      now: new Date(nowMs).toISOString(),
      newId: () => {
        last = nextId(last, nowMs);
        return last;
      },
      newDatabaseId: () => databaseId++,
      put: (kind, id, value) => {
        if (!RUN_KINDS.has(kind)) this.steps += 1;
        if (SHORT_KINDS.has(kind)) this.requireShort(kind, id, value);
        view.put(kind, id, value);
        operations.push({ kind: "put_record", of: kind, id, value: value as unknown as RecordValue });
      },
      remove: (kind, id) => {
        if (!RUN_KINDS.has(kind)) this.steps += 1;
        view.remove(kind, id);
        operations.push({ kind: "delete_record", of: kind, id });
      },
      apply: (...others) => void operations.push(...others),
    };
  }

  private build(): void {
    const { catalog, view } = this;
    for (const of of catalog.records.kinds()) {
      if (Object.hasOwn(KINDS, of)) continue;
      throw new TsdbError("corrupt_file", `records of kind ${JSON.stringify(of)}: this server does not know them; a newer one wrote them`);
    }
    for (const kind of Object.keys(KINDS) as RecordKind[]) {
      for (const [id, value] of catalog.records.ofKind(kind)) this.rebuild(kind, id, value);
    }
    for (const row of databaseRows(catalog)) putDatabase(view, row);
  }

  private rebuild(kind: RecordKind, id: string, value: RecordValue): void {
    try {
      this.view.put(kind, id, value as unknown as RecordTypes[typeof kind]);
    } catch (cause) {
      const message = `the ${kind} ${id} contradicts the others: ${(cause as Error).message}`;
      throw new TsdbError("corrupt_file", message, { kind, id }, { cause });
    }
  }

  /** Within the step that changed them, which may be a request of another port. */
  private followDatabases(databaseIds: ReadonlySet<number>): void {
    const { view, catalog } = this;
    this.changes += 1;
    for (const row of databaseRows(catalog, databaseIds)) putDatabase(view, row);
    const gone = [...databaseIds].filter((databaseId) => catalog.databaseById(databaseId) === undefined);
    for (const databaseId of gone) view.run("delete from databases where id = ?", bucketIdOf(databaseId));
    if (gone.length > 0) setImmediate(() => this.databasesGone());
  }
}

/** How far a task has come, and runs that wait: these change many times a second, and nothing else is made of them. */
const RUN_KINDS: ReadonlySet<string> = new Set(["task_state", "task_run"] satisfies RecordKind[]);

function isRun(operation: CatalogOperation): boolean {
  return (operation.kind === "put_record" || operation.kind === "delete_record") && RUN_KINDS.has(operation.of);
}

/** The records that operations put, in an order in which each comes after those that it refers to. @throws TsdbError bad_request */
function putAll(view: MetadataView, operations: readonly CatalogOperation[]): void {
  const puts = operations.filter((operation) => operation.kind === "put_record");
  const unknown = puts.find(({ of }) => !Object.hasOwn(KINDS, of));
  if (unknown !== undefined)
    throw new TsdbError("bad_request", `records of kind ${JSON.stringify(unknown.of)}: a newer server made the backup`);
  for (const kind of Object.keys(KINDS) as RecordKind[]) {
    for (const { of, id, value } of puts) {
      if (of !== kind) continue;
      try {
        view.put(kind, id, value as unknown as RecordTypes[typeof kind]);
      } catch (cause) {
        const message = `the backup contradicts itself in the ${kind} ${id}: ${(cause as Error).message}`;
        throw new TsdbError("bad_request", message, { kind, id }, { cause });
      }
    }
  }
}
