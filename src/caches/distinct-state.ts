// The state of a distinct-value cache: the combinations of values, and when each was last seen.

import { KeyOrder } from "../kernel/cache/key-order.ts";
import { CacheKeys } from "../kernel/cache/keys.ts";
import { GrowingBlock } from "../kernel/cache/memory.ts";
import type { NewestRowsOfRun } from "../kernel/cache/newest-slots.ts";
import { Blocks } from "../kernel/memory/blocks.ts";
import { cacheColumns } from "../model/cache-table.ts";
import type { DistinctCacheDef } from "../model/caches.ts";
import { type ColumnDef, ColumnType, type TableDef } from "../model/rows/column.ts";
import { I64_MAX } from "../model/rows/int64.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import { type CacheAnswer, type CacheState, NEVER_NS, type StateParts, type Visible } from "./cache-state.ts";

/** Fewer unused combinations are not removed. */
const UNUSED_MIN = 1024;
/** The cache is cut when it exceeds its maximum by this factor. */
const SLACK = 1.25;

/** The combinations of one distinct-value cache. Owned: call `release`. */
export class DistinctState implements CacheState {
  readonly fields: readonly ColumnDef[];
  readonly wantsNewestOnly: boolean;
  private retentionMinNs = NEVER_NS;
  /** Rows that arrived earlier are removed, or will be. */
  private expiredNs = NEVER_NS;
  private readonly columns: readonly ColumnDef[];
  private keys: CacheKeys;
  private readonly seen: GrowingBlock;
  private readonly order: KeyOrder;

  constructor(
    private readonly parts: StateParts,
    private readonly cache: DistinctCacheDef,
    table: TableDef,
  ) {
    this.columns = cacheColumns(cache, table);
    this.fields = this.columns.filter(({ type }) => type !== ColumnType.tag);
    this.wantsNewestOnly = this.fields.length === 0;
    this.order = new KeyOrder(parts.kernel, parts.memory, this.columns);
    this.keys = new CacheKeys({ ...parts, columns: this.columns, skipsNulls: false });
    this.seen = new GrowingBlock(parts.kernel, parts.memory, 8, NEVER_NS);
  }

  setSnapshot({ retentionMinNs }: TableSnapshot): void {
    this.retentionMinNs = retentionMinNs;
  }

  add(rows: NewestRowsOfRun): void {
    const { kernel } = this.parts;
    const { run, first, end, leastNs, mostNs } = rows;
    const scratch = new Blocks(kernel);
    try {
      const { idsPtr, mapPtr } = this.keys.of(rows, scratch);
      this.seen.reserve(this.keys.count);
      for (let from = first; from < end; ) {
        from = kernel.call.seenRows(this.seen.ptr, idsPtr, run.timePtr, mapPtr, this.retentionMinNs, leastNs, mostNs, from, end);
        if (from === end) break;
        this.keys.learn({ run, first: from, end });
        this.seen.reserve(this.keys.count);
      }
    } finally {
      scratch.release();
    }
    if (this.keys.count > this.cache.maxCardinality * SLACK + UNUSED_MIN) this.cut();
  }

  keepMaps(dictionaryIds: ReadonlySet<number>): void {
    this.keys.tags.keepMaps(dictionaryIds);
  }

  expire(minEnteredNs: bigint): void {
    const { count } = this.keys;
    this.expiredNs = minEnteredNs;
    const scratch = new Blocks(this.parts.kernel);
    try {
      const listPtr = scratch.alloc(count * 4);
      const left = this.parts.kernel.call.seenKeys(this.seen.ptr, 0, count, minEnteredNs, listPtr);
      if (count > left * 2 + UNUSED_MIN) this.only(listPtr, left);
    } finally {
      scratch.release();
    }
  }

  answer({ minEnteredNs }: Visible): CacheAnswer {
    const { kernel, memory } = this.parts;
    const blocks = new Blocks(kernel);
    try {
      if (this.keys.count > this.cache.maxCardinality) this.cut();
      const orderPtr = this.order.of(this.keys);
      const listPtr = blocks.alloc(this.keys.count * 4);
      const count = kernel.call.seenKeys(this.seen.ptr, orderPtr, this.keys.count, minEnteredNs, listPtr);
      const leastEnteredNs = kernel.call.seenLeast();
      const columns = this.fields.map((column) => {
        const { ptr, validityPtr } = this.keys.fieldViews(column, { listPtr, count }, blocks);
        return { columnId: column.id, type: column.type, dataPtr: ptr, validityPtr };
      });
      const seriesPtr = this.keys.tagKeys(listPtr, count, blocks);
      const timePtr = blocks.allocZeroed(count * 8);
      const rows = { rowCount: count, seriesPtr, timePtr, columns, dictionary: this.keys.tags.view() };
      const { bytes } = blocks;
      memory.take(bytes);
      return {
        run: { ...rows, sorted: false, unique: true, minTimeNs: 0n, maxTimeNs: 0n, seqMin: 1, seqMax: 1 },
        bytes,
        leastEnteredNs,
        leastTimeNs: I64_MAX,
        release: () => {
          blocks.release();
          memory.note(-bytes);
        },
      };
    } catch (error) {
      blocks.release();
      throw error;
    }
  }

  count(): { keys: number; rows: number } {
    const { kernel } = this.parts;
    const { count } = this.keys;
    const scratch = new Blocks(kernel);
    try {
      const rows = kernel.call.seenKeys(this.seen.ptr, 0, count, this.expiredNs, scratch.alloc(count * 4));
      return { keys: rows, rows };
    } finally {
      scratch.release();
    }
  }

  release(): void {
    this.order.forget();
    this.seen.release();
    this.keys.release();
  }

  /** Removes the combinations seen longest ago if there are too many. */
  private cut(): void {
    const { kernel } = this.parts;
    const scratch = new Blocks(kernel);
    try {
      const { count } = this.keys;
      const listPtr = scratch.alloc(count * 4);
      const left = kernel.call.seenKeys(this.seen.ptr, 0, count, NEVER_NS, listPtr);
      const { maxCardinality } = this.cache;
      if (left <= maxCardinality) {
        if (count > left * SLACK + UNUSED_MIN) this.only(listPtr, left);
        return;
      }
      const seen = kernel.i64.slice(this.seen.ptr / 8, this.seen.ptr / 8 + count);
      const list = kernel.u32.slice(listPtr / 4, listPtr / 4 + left);
      const times = BigInt64Array.from(list, (key) => seen[key]!).sort();
      const least = times[left - maxCardinality]!;
      // of those with exactly the limiting time, as many as there is room for
      let room = maxCardinality - times.reduce((above, time) => (time > least ? above + 1 : above), 0);
      const kept = list.filter((key) => seen[key]! > least || (seen[key] === least && room-- > 0));
      kernel.u32.set(kept, listPtr / 4);
      this.only(listPtr, kept.length);
    } finally {
      scratch.release();
    }
  }

  /** Renumbers the listed keys (ascending) and removes all others. */
  private only(listPtr: number, count: number): void {
    const { call } = this.parts.kernel;
    const keys = this.keys.only(listPtr, count);
    this.keys.release();
    this.keys = keys;
    call.gather8(this.seen.ptr, listPtr, count, this.seen.ptr);
    this.seen.cut(count);
    this.order.forget();
  }
}
