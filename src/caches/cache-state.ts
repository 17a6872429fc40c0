// The interface of both kinds of cache state.
import type { CacheMemory } from "../kernel/cache/memory.ts";
import type { NewestRowsOfRun } from "../kernel/cache/newest-slots.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import type { Reclaimer } from "../model/reclaimer.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import { I64_MIN } from "../model/rows/int64.ts";
import type { Run } from "../model/rows/run.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";

/** Initial bound: nothing was seen yet. */
export const NEVER_NS = I64_MIN;

export interface StateParts {
  readonly kernel: Kernel;
  readonly memory: CacheMemory;
  /** Frees data that running answers may still read. */
  readonly reclaimer: Reclaimer;
}

/** The visible rows: those that arrived at or after `minEnteredNs` with times from `minTimeNs` on. */
export interface Visible {
  readonly minEnteredNs: bigint;
  readonly minTimeNs: bigint;
}

/** The visible rows, in order. Text and dictionary belong to the state and stay valid for holders of the reclaimer. */
export interface CacheAnswer {
  readonly run: Run;
  /** Memory of the run itself. */
  readonly bytes: number;
  /** The answer is valid while `minEnteredNs` and `minTimeNs` do not exceed these. */
  readonly leastEnteredNs: bigint;
  readonly leastTimeNs: bigint;
  release(): void;
}

/** After an exception only `release` is allowed. */
export interface CacheState {
  /** Field columns that added rows must have. */
  readonly fields: readonly ColumnDef[];
  /** True if the newest rows of each series suffice. */
  readonly wantsNewestOnly: boolean;
  /** Sets the source of later rows: the table may have new columns, and some rows may be past their retention. */
  setSnapshot(snapshot: TableSnapshot): void;
  /** Rows added later have higher sequences, or none shares series and time with earlier ones. @throws NoRoomError, TsdbError overloaded */
  add(rows: NewestRowsOfRun): void;
  /** Discards the mappings of all other dictionaries. */
  keepMaps(dictionaryIds: ReadonlySet<number>): void;
  /** Removes rows that arrived earlier, and unused keys and series. @throws as add */
  expire(minEnteredNs: bigint): void;
  /** @throws as add */
  answer(visible: Visible): CacheAnswer;
  count(): { readonly keys: number; readonly rows: number };
  release(): void;
}
