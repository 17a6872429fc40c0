// Who counts the memory of series dictionaries, as a dictionary sees it.

import type { TsdbError } from "../errors.ts";

export interface SeriesGrowth {
  /** What a dictionary would grow by, about and at most. */
  readonly bytes: number;
  /** What an empty one would. */
  readonly fromEmptyBytes: number;
}

export interface SeriesAllowance {
  /** A dictionary has grown, or gone. */
  note(deltaBytes: number): void;
  /** What is left; below 0 when there is too much already. */
  readonly roomBytes: number;
  /** A dictionary may not grow so much, because that is more than what is left: why, and whether it may later. */
  refuse(growth: SeriesGrowth): TsdbError;
}
