// The expected content of caches, computed from the sequence of writes: deliberately slow and simple. Rows are value lists, keys are
// strings.
import type { CacheDef, DistinctCacheDef, LastCacheDef } from "../../../src/model/caches.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import type { TestRow, TestValue } from "../rows/rows.ts";

/** Bounds of the time at which rows entered the cache (milliseconds). */
export interface ModelClock {
  readonly leastMs: number;
  readonly mostMs: number;
  readonly nowMs: number;
}

interface KeptRow {
  readonly row: TestRow;
  readonly fields: Record<string, TestValue>;
  enteredNs: bigint;
}

const NS = 1_000_000n;

const valueIn = ({ name, type }: ColumnDef, { tags, fields }: TestRow): TestValue | null =>
  (type === ColumnType.tag ? tags[name] : fields[name]) ?? null;

function enteredNs({ timeNs }: TestRow, { leastMs, mostMs }: ModelClock): bigint {
  const [least, most] = [BigInt(leastMs) * NS, BigInt(mostMs) * NS];
  return timeNs < least ? least : timeNs > most ? most : timeNs;
}

const keyOf = (values: readonly (TestValue | null)[]) => values.map((value) => `${typeof value} ${value}`).join("|");

/** NULL first, strings by bytes, numbers by value. */
function compareValues(a: TestValue | null, b: TestValue | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareLists(a: readonly (TestValue | null)[], b: readonly (TestValue | null)[]): number {
  for (const [i, value] of a.entries()) {
    const order = compareValues(value, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

const columnsOf = (ids: readonly number[], columns: readonly ColumnDef[]) => ids.map((id) => columns.find((column) => column.id === id)!);

/** Model of a last-value cache. */
export class LastModel {
  private keys = new Map<string, KeptRow[]>();

  constructor(readonly cache: LastCacheDef) {}

  clear(): void {
    this.keys.clear();
  }

  expire(nowMs: number): void {
    const minNs = BigInt(nowMs - this.cache.ttlSeconds * 1000) * NS;
    for (const [key, rows] of this.keys) {
      this.keys.set(
        key,
        rows.filter((kept) => kept.enteredNs >= minNs),
      );
    }
  }

  write(row: TestRow, columns: readonly ColumnDef[], clock: ModelClock): void {
    const key = columnsOf(this.cache.keyColumnIds, columns).map((column) => valueIn(column, row));
    if (key.includes(null)) return;
    const kept = this.keys.get(keyOf(key)) ?? [];
    this.keys.set(keyOf(key), kept);
    const entered = enteredNs(row, clock);
    const isSame = (one: KeptRow) => one.row.timeNs === row.timeNs && Bun.deepEquals(one.row.tags, row.tags);
    const same = kept.find(isSame);
    const fields = Object.fromEntries(Object.entries(row.fields).filter(([, value]) => value !== null)) as Record<string, TestValue>;
    if (same !== undefined) {
      Object.assign(same.fields, fields);
      if (entered > same.enteredNs) same.enteredNs = entered;
      return;
    }
    const [oldest] = kept.toSorted((a, b) => (a.row.timeNs < b.row.timeNs ? -1 : 1));
    if (kept.length === this.cache.count) {
      if (row.timeNs < oldest!.row.timeNs) return;
      kept.splice(kept.indexOf(oldest!), 1);
    }
    // the caller may modify the row
    kept.push({ row: { ...row, fields }, fields, enteredNs: entered });
  }

  /** In the order of the cache: keys, values, time. */
  rows(answer: readonly ColumnDef[], columns: readonly ColumnDef[], nowMs: number, retentionMinNs: bigint): (TestValue | null)[][] {
    this.expire(nowMs);
    const keyColumns = columnsOf(this.cache.keyColumnIds, columns);
    const visible = [...this.keys.values()].flat().filter(({ row }) => row.timeNs >= retentionMinNs);
    return visible
      .map(({ row, fields }) => ({ key: keyColumns.map((column) => valueIn(column, row)), row: { ...row, fields } }))
      .sort((a, b) => compareLists(a.key, b.key) || (a.row.timeNs > b.row.timeNs ? -1 : 1))
      .map(({ row }) => answer.map((column) => (column.type === ColumnType.time ? row.timeNs : valueIn(column, row))));
  }
}

/** Model of a distinct-value cache. */
export class DistinctModel {
  /** All combinations seen, including those beyond the maximum. */
  private readonly seen = new Map<string, { readonly values: readonly (TestValue | null)[]; enteredNs: bigint }>();

  constructor(readonly cache: DistinctCacheDef) {}

  clear(): void {
    this.seen.clear();
  }

  expire(nowMs: number): void {
    const minNs = BigInt(nowMs - this.cache.maxAgeSeconds * 1000) * NS;
    for (const [key, one] of this.seen) if (one.enteredNs < minNs) this.seen.delete(key);
  }

  write(row: TestRow, columns: readonly ColumnDef[], clock: ModelClock): void {
    const values = columnsOf(this.cache.columnIds, columns).map((column) => valueIn(column, row));
    const entered = enteredNs(row, clock);
    const known = this.seen.get(keyOf(values));
    if (known === undefined) this.seen.set(keyOf(values), { values, enteredNs: entered });
    else if (entered > known.enteredNs) known.enteredNs = entered;
  }

  rows(_: readonly ColumnDef[], __: readonly ColumnDef[], nowMs: number): (TestValue | null)[][] {
    this.expire(nowMs);
    return [...this.seen.values()].map(({ values }) => [...values]).sort(compareLists);
  }

  /** If there are more than the maximum, verifies that the remaining rows are possible: as many as the maximum, and none that entered
   *  before a missing one. */
  check(rows: readonly (readonly (TestValue | null)[])[]): void {
    const left = new Set(rows.map(keyOf));
    if (left.size !== rows.length || rows.length !== this.cache.maxCardinality)
      throw new Error(`${rows.length} rows, ${left.size} distinct`);
    let [leastIn, mostOut] = [2n ** 63n, -(2n ** 63n)];
    for (const [key, { enteredNs: entered }] of this.seen) {
      if (left.delete(key)) leastIn = entered < leastIn ? entered : leastIn;
      else mostOut = entered > mostOut ? entered : mostOut;
    }
    if (left.size > 0) throw new Error(`never seen: ${[...left].join(", ")}`);
    if (mostOut > leastIn) throw new Error(`the row of ${leastIn} stayed, that of ${mostOut} was dropped`);
  }
}

/** The model of a cache. */
export function modelOf(cache: CacheDef): LastModel | DistinctModel {
  return cache.kind === "last" ? new LastModel(cache) : new DistinctModel(cache);
}
