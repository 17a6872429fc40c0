// The first rows of an order, found while the rows are read: of the others only the first key is looked at, and the second.

import type { ResultColumn, ResultType } from "../../../model/query/result-batch.ts";
import type { ScanColumn } from "../../../model/query/scan-chunk.ts";
import type { ColumnType } from "../../../model/rows/column.ts";
import { joinColumns } from "../../../model/rows/joined-column.ts";
import { takeRows } from "../../../model/rows/take-rows.ts";
import type { Steps } from "../../../model/steps.ts";
import type { KnownBound } from "./key-bound.ts";
import { type KernelViews, KeyRanks } from "./key-ranks.ts";
import { LeastValues } from "./least-values.ts";
import { RowOrder, type SortKey } from "./row-order.ts";

/** More first rows are sorted with all others. */
const COUNT_MAX = 10_000;
/** Rows that are kept beside the first ones before those behind them are dropped. */
const SPARE_ROWS = 4096;
/** The same where the second key then leaves out others. */
const SPARE_ROWS_OF_TWO = 256;
/** So many rows that may be among the first, as those of a key with few values, are sorted faster by DuckDB. */
const CANDIDATES_MAX = 200_000;
const CANDIDATE_BYTES_MAX = 32 << 20;

/** A chunk of the scan. */
export interface KeyedChunk {
  readonly rowCount: number;
  /** The first key, and the second if there is one, as they lie in the kernel's memory. */
  readonly keys: readonly ScanColumn[];
  /** Copies of the columns' values at these rows. */
  read(rows: Uint32Array): readonly ResultColumn[];
}

interface Rows {
  readonly columns: readonly ResultColumn[];
  readonly rowCount: number;
}

/** The last of the first rows of those that were sorted, by the ranks of its first two keys. */
interface LastRow {
  readonly rank: number;
  readonly second: number;
}

/** The rows of a scan that come first. */
export class TopRows {
  private parts: Rows[] = [];
  private rowCount = 0;
  private candidates = 0;
  private candidateBytes = 0;
  private readonly least: LeastValues;
  private readonly found: Uint32Array;
  private readonly first: KeyRanks;
  /** Null: there is none, or it has no ranks. */
  private readonly second: KeyRanks | null;
  private last: LastRow | null = null;

  /** @param columnTypes of the scan @param types of its result columns @param keys see `fits` @param count number of rows wanted
   *  @param chunkRowsMax rows of a chunk */
  constructor(
    columnTypes: readonly ColumnType[],
    private readonly types: readonly ResultType[],
    private readonly keys: readonly SortKey[],
    private readonly count: number,
    chunkRowsMax: number,
  ) {
    const [first, second] = keys;
    const ranksOf = (key: SortKey) => new KeyRanks(columnTypes[key.column]!, key, chunkRowsMax);
    this.first = ranksOf(first!);
    this.second = second !== undefined && KeyRanks.fits(columnTypes[second.column]!) ? ranksOf(second) : null;
    this.least = new LeastValues(count);
    this.found = new Uint32Array(chunkRowsMax);
  }

  /** False if rows in this order must be sorted with all others. */
  static fits(columnTypes: readonly ColumnType[], keys: readonly SortKey[], count: number): boolean {
    const [key] = keys;
    return key !== undefined && count > 0 && count <= COUNT_MAX && KeyRanks.fits(columnTypes[key.column]!);
  }

  /** What is known of the first key of rows to come. */
  get bound(): KnownBound {
    const { bound: rank } = this.least;
    return { rank, isStrict: this.isStrict(rank) };
  }

  /** True if of rows with this rank, of which there are enough, no later one is among the first: their keys are equal. */
  private isStrict(rank: number): boolean {
    return this.keys.length === 1 && this.first.isExact(rank);
  }

  /** Takes the rows of a chunk, which is not needed afterwards. Returns false if too many may be among the first. */
  *add(views: KernelViews, { rowCount, keys, read }: KeyedChunk): Steps<boolean> {
    this.first.rank(views, keys[0]!, rowCount);
    if (this.last !== null) this.second?.rank(views, keys[1]!, rowCount);
    const found = this.rowsWithin(rowCount);
    if (found === 0) return true;
    const taken = read(this.found.subarray(0, found));
    this.parts.push({ columns: taken, rowCount: found });
    this.rowCount += found;
    this.candidates += found;
    for (const { values, data } of taken) this.candidateBytes += values.byteLength + (data?.length ?? 0);
    if (this.candidates > CANDIDATES_MAX || this.candidateBytes > CANDIDATE_BYTES_MAX) return false;
    const spare = this.second === null ? SPARE_ROWS : SPARE_ROWS_OF_TWO;
    if (this.rowCount >= this.count + Math.max(this.count, spare)) yield* this.drop();
    return true;
  }

  /** The first rows in order. */
  *rows(): Steps<Rows> {
    if (this.rowCount > 0) yield* this.drop();
    return this.parts[0] ?? { columns: [], rowCount: 0 };
  }

  /** Drops what is not among the first rows. */
  private *drop(): Steps<void> {
    const { parts, rowCount, types } = this;
    const columns = types.map((type, i) => {
      const rows = parts.map((part) => ({ column: part.columns[i]!, rowCount: part.rowCount }));
      return joinColumns(type, rows);
    });
    yield;
    const sorted = yield* new RowOrder(columns, types, rowCount, this.keys).sorted();
    const count = Math.min(rowCount, this.count);
    const rows = sorted?.subarray(0, count) ?? Uint32Array.from({ length: count }, (_, row) => row);
    const first = columns.map((column, i) => takeRows(column, types[i]!, rows));
    this.parts = [{ columns: first, rowCount: count }];
    this.rowCount = count;
    if (this.second !== null && count === this.count) this.last = this.lastOf(first, this.second);
  }

  /** Null: its first key is not known exactly. */
  private lastOf(columns: readonly ResultColumn[], second: KeyRanks): LastRow | null {
    const [a, b] = this.keys;
    const row = this.count - 1;
    const rank = this.first.of(columns[a!.column]!, row);
    return this.first.isExact(rank) ? { rank, second: second.of(columns[b!.column]!, row) } : null;
  }

  /** Puts the rows that may be among the first into `found`; returns their number. */
  private rowsWithin(rowCount: number): number {
    const { found, least, last, second } = this;
    const { ranks } = this.first;
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const rank = ranks[row]!;
      const { bound } = least;
      if (rank > bound || (rank === bound && this.isStrict(bound))) continue;
      if (last !== null && rank === last.rank && second!.ranks[row]! > last.second) continue;
      found[count++] = row;
      least.add(rank);
    }
    // the bound has come nearer
    const { bound } = least;
    let within = 0;
    for (let i = 0; i < count; i++) if (ranks[found[i]!]! <= bound) found[within++] = found[i]!;
    return within;
  }
}
