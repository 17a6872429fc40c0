// The state of a cache of either kind, as the cache manager uses it.
import type { CacheMemory } from "../kernel/cache/memory.ts";
import type { NewestRowsOfRun } from "../kernel/cache/newest-slots.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import type { Reclaimer } from "../model/reclaimer.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import type { Run } from "../model/rows/run.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";

/** Below: nothing was kept or seen yet. */
export const NEVER_NS = -(2n ** 63n);

export interface StateParts {
  readonly kernel: Kernel;
  readonly memory: CacheMemory;
  /** Of what answers may still read. */
  readonly reclaimer: Reclaimer;
}

/** Which rows can be seen: those that entered at or after `minEnteredNs` and have times from `minTimeNs` on. */
export interface Visible {
  readonly minEnteredNs: bigint;
  readonly minTimeNs: bigint;
}

/** The rows that can be seen, in their order. Text and dictionary belong to the state: they stay for who holds the reclaimer. */
export interface CacheAnswer {
  readonly run: Run;
  /** The run's own. */
  readonly bytes: number;
  /** It holds as long as `minEnteredNs` and `minTimeNs` are not above these. */
  readonly leastEnteredNs: bigint;
  readonly leastTimeNs: bigint;
  release(): void;
}

/** Not to be used when a call has thrown, but for `release`. */
export interface CacheState {
  /** Fields that rows are to have. */
  readonly fields: readonly ColumnDef[];
  /** Newest rows of series say all. */
  readonly wantsNewestOnly: boolean;
  /** Where the rows that follow are from: the table may have got columns, and rows be past their retention when they come. */
  setSnapshot(snapshot: TableSnapshot): void;
  /** Rows that come later have higher sequences, or are all of other points. @throws NoRoomError, TsdbError overloaded */
  add(rows: NewestRowsOfRun): void;
  /** What is known of other dictionaries goes. */
  keepMaps(dictionaryIds: ReadonlySet<number>): void;
  /** Lets go of what entered before, and of what is not needed any more. @throws as add */
  expire(minEnteredNs: bigint): void;
  /** @throws as add */
  answer(visible: Visible): CacheAnswer;
  count(): { readonly keys: number; readonly rows: number };
  release(): void;
}
