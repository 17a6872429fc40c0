// The memory accounting of series dictionaries, as a dictionary uses it.

import type { TsdbError } from "../errors.ts";

export interface SeriesGrowth {
  /** Upper estimate of a dictionary's growth. */
  readonly bytes: number;
  /** The same if the dictionary were empty. */
  readonly fromEmptyBytes: number;
}

export interface SeriesAllowance {
  /** Reports that a dictionary has grown or was freed. */
  note(deltaBytes: number): void;
  /** Remaining bytes; negative if the limit is exceeded. */
  readonly roomBytes: number;
  /** The error for growth beyond the remaining bytes: why, and whether retrying later can succeed. */
  refuse(growth: SeriesGrowth): TsdbError;
}
