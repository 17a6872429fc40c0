// An index over a table's blocks for choosing those of a time range; built once per block list, which stays the same object from statement
// to statement.
import type { TimeRange } from "../model/query/scan.ts";
import type { BlockSnapshot } from "./snapshot.ts";

const NS_PER_MS = 1_000_000n;

/** The blocks of one list, searchable by time. */
export class BlockIndex {
  private static readonly known = new WeakMap<readonly BlockSnapshot[], BlockIndex>();
  readonly fileCount: number;
  readonly rowCount: number;
  /** Contains the times of all rows; null if there are none. */
  readonly times: TimeRange | null;
  /** Whole milliseconds around each block's times: comparing them costs a tenth of comparing nanoseconds, and excludes almost all
   *  blocks. */
  private readonly beginsMs: Float64Array;
  private readonly endsMs: Float64Array;

  private constructor(private readonly blocks: readonly BlockSnapshot[]) {
    this.fileCount = new Set(blocks.map(({ fileId }) => fileId)).size;
    this.rowCount = blocks.reduce((sum, { rowCount }) => sum + rowCount, 0);
    this.beginsMs = Float64Array.from(blocks, ({ minTimeNs }) => before(minTimeNs));
    this.endsMs = Float64Array.from(blocks, ({ maxTimeNs }) => after(maxTimeNs));
    const first = this.beginsMs.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY);
    const last = this.endsMs.reduce((most, ms) => Math.max(most, ms), Number.NEGATIVE_INFINITY);
    this.times = blocks.length === 0 ? null : { minNs: BigInt(first) * NS_PER_MS, maxNs: BigInt(last) * NS_PER_MS };
  }

  static of(blocks: readonly BlockSnapshot[]): BlockIndex {
    let index = BlockIndex.known.get(blocks);
    if (index === undefined) {
      index = new BlockIndex(blocks);
      BlockIndex.known.set(blocks, index);
    }
    return index;
  }

  /** Blocks that overlap the range, in their order. */
  within({ minNs, maxNs }: TimeRange): BlockSnapshot[] {
    if (minNs > maxNs) return [];
    const { blocks, beginsMs, endsMs } = this;
    const [fromMs, toMs] = [before(minNs), after(maxNs)];
    const found: BlockSnapshot[] = [];
    for (let i = 0; i < blocks.length; i++) {
      if (beginsMs[i]! > toMs || endsMs[i]! < fromMs) continue;
      const block = blocks[i]!;
      if (block.minTimeNs <= maxNs && block.maxTimeNs >= minNs) found.push(block);
    }
    return found;
  }
}

// 64 bits of nanoseconds are 44 bits of milliseconds: exact in a double
const before = (ns: bigint) => Number(ns / NS_PER_MS) - 1;
const after = (ns: bigint) => Number(ns / NS_PER_MS) + 1;
