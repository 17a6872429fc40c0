// Who counts the memory of series dictionaries, as a dictionary sees it.

export interface SeriesGrowth {
  /** What a dictionary would grow by, about and at most. */
  readonly bytes: number;
  /** What an empty one would. */
  readonly fromEmptyBytes: number;
}

export interface SeriesAllowance {
  /** A dictionary has grown, or gone. */
  note(deltaBytes: number): void;
  /** May a dictionary grow so much? @throws TsdbError overloaded, too_large: it may not */
  check(growth: SeriesGrowth): void;
}
