// The groups of a gap-filling query, sorted by keys and bin, with the place of the previous and the next value of each column.
import type { ChunkCursor } from "../../../duckdb/table-function.ts";
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import type { ResultColumn } from "../../../model/query/result-batch.ts";
import type { ColumnType } from "../../../model/rows/column.ts";
import { joinColumns } from "../../../model/rows/joined-column.ts";
import type { GapFill } from "../../bind/kind.ts";
import { RESULT_TYPE, readChunkColumn } from "../chunk-reader.ts";
import type { Breathe } from "../series/breathe.ts";

/** Above this number, and size, DuckDB sorts and fills within its memory limit. */
const GROUPS_MAX = 200_000;
const BYTES_MAX = 32 << 20;
/** Bits of a group's number in the keys by which groups are sorted. */
const GROUP_BITS = 2 ** 18;

/** Groups of one combination of keys: places `from` to `to` - 1 in order. */
export interface KeyRun {
  readonly from: number;
  readonly to: number;
}

/** The groups in order of keys and bin. */
export class SortedGroups {
  private constructor(
    /** By index of the groups' column; sorted nowhere: read through `rows`. */
    readonly columns: readonly ResultColumn[],
    /** The group at each place. */
    readonly rows: Uint32Array,
    /** The number of the bin at each place. */
    readonly bins: Uint32Array,
    readonly runs: readonly KeyRun[],
  ) {}

  /** Reads all groups; null if there are too many. `types`: of the groups' columns; `keys`: indexes of the grouping tags. Closes the
   *  cursor. */
  static async read(
    kernel: Kernel,
    cursor: ChunkCursor,
    { types, keys, gaps }: { readonly types: readonly ColumnType[]; readonly keys: readonly number[]; readonly gaps: GapFill },
    breathe: Breathe,
  ): Promise<SortedGroups | null> {
    const parts: { readonly columns: ResultColumn[]; readonly rowCount: number }[] = [];
    let count = 0;
    let bytes = 0;
    try {
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
        const { rowCount } = chunk;
        const columns = types.map((type, i) => readChunkColumn(kernel, type, chunk.columns[i]!, rowCount));
        count += rowCount;
        for (const { values, data } of columns) bytes += values.byteLength + (data?.length ?? 0);
        if (count > GROUPS_MAX || bytes > BYTES_MAX) return null;
        parts.push({ columns, rowCount });
        await breathe();
      }
    } finally {
      cursor.close();
    }
    if (count === 0) return new SortedGroups([], new Uint32Array(0), new Uint32Array(0), []);
    const columns = types.map((type, i) =>
      joinColumns(
        RESULT_TYPE[type],
        parts.map((part) => ({ column: part.columns[i]!, rowCount: part.rowCount })),
      ),
    );
    await breathe();
    return SortedGroups.sort(columns, count, keys, gaps);
  }

  private static sort(columns: readonly ResultColumn[], count: number, keys: readonly number[], gaps: GapFill): SortedGroups {
    const starts = columns[0]!.values as BigInt64Array;
    const byKeys = groupByKeys(
      keys.map((index) => columns[index]!),
      count,
    );
    const rows = new Uint32Array(count);
    const bins = new Uint32Array(count);
    const runs: KeyRun[] = [];
    let at = 0;
    for (const members of byKeys) {
      // a bin's number has 24 bits (bins.ts), so that number and group fit a float exactly
      const order = Float64Array.from(members, (row) => Number((starts[row]! - gaps.firstNs) / gaps.widthNs) * GROUP_BITS + row).sort();
      runs.push({ from: at, to: at + order.length });
      for (const key of order) {
        bins[at] = Math.floor(key / GROUP_BITS);
        rows[at++] = key % GROUP_BITS;
      }
    }
    return new SortedGroups(columns, rows, bins, runs);
  }

  /** True if the group at a place has a value in a column. */
  has(column: number, place: number): boolean {
    const { validity } = this.columns[column]!;
    return isPresent(validity, this.rows[place]!);
  }

  /** For each place: the place of the last group with a value up to it, and of the first one behind it, of the same keys; -1: none. */
  neighbours(column: number): { readonly before: Int32Array; readonly behind: Int32Array } {
    const before = new Int32Array(this.rows.length).fill(-1);
    const behind = new Int32Array(this.rows.length).fill(-1);
    for (const { from, to } of this.runs) {
      for (let place = from, last = -1; place < to; place++) {
        if (this.has(column, place)) last = place;
        before[place] = last;
      }
      for (let place = to - 1, next = -1; place >= from; place--) {
        behind[place] = next;
        if (this.has(column, place)) next = place;
      }
    }
    return { before, behind };
  }
}

/** The groups of each combination of keys, in order of the keys' bytes, NULL last. */
function groupByKeys(keys: readonly ResultColumn[], count: number): readonly number[][] {
  if (keys.length === 0) return [Array.from({ length: count }, (_, row) => row)];
  const found = new Map<string, { readonly texts: (Buffer | null)[]; readonly rows: number[] }>();
  for (let row = 0; row < count; row++) {
    const texts = keys.map((key) => textAt(key, row));
    const name = texts.map((text) => (text === null ? "-" : `${text.length}:${text.toString("latin1")}`)).join();
    const known = found.get(name);
    if (known === undefined) found.set(name, { texts, rows: [row] });
    else known.rows.push(row);
  }
  return [...found.values()].sort((a, b) => compareKeys(a.texts, b.texts)).map(({ rows }) => rows);
}

function isPresent(validity: Uint8Array | null, row: number): boolean {
  return validity === null || ((validity[row >>> 3]! >>> (row & 7)) & 1) !== 0;
}

/** The UTF-8 bytes of a text (borrowed); null for NULL. */
export function textAt({ validity, offsets, data }: ResultColumn, row: number): Buffer | null {
  if (!isPresent(validity, row)) return null;
  const from = offsets![row]!;
  return Buffer.from(data!.buffer, data!.byteOffset + from, offsets![row + 1]! - from);
}

function compareKeys(a: readonly (Buffer | null)[], b: readonly (Buffer | null)[]): number {
  for (const [i, x] of a.entries()) {
    const y = b[i]!;
    if (x === null || y === null) {
      if (x !== y) return x === null ? 1 : -1;
      continue;
    }
    const order = Buffer.compare(x, y);
    if (order !== 0) return order;
  }
  return 0;
}
