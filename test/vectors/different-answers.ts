// Recorded requests that ours answers otherwise, by intent.

export type Difference = readonly [id: string, reason: string];

/** At most 40. */
export const DIFFERENT: readonly Difference[] = [
  ["iql-explain-003", "EXPLAIN of the v1 language has the one column that 1.x has"],
  ["iql-agg-124", "of percents above 100 the rank decides, as in 1.x"],
  ["lit-053", "an interval finer than a microsecond is a duration: DuckDB's intervals end there"],
  ["math-298", "trunc of an integer to places is a 32-bit float there; ours keeps all digits"],
  ["math-334", "atan2 of integers is a 32-bit float there; ours keeps all digits"],
  ["typeof-071", "from_unixtime takes nanoseconds too, which a time of seconds would lose"],
  ["agg-386", "a weight of each value's own: theirs is no percentile"],
  ["agg-414", "a sum beyond 64 bits is an error"],
  ["cast-196", "times of day end at the microsecond"],
  ["cast-200", "times of day end at the microsecond, and texts that are no time are refused"],
  ["cast-207", "times of day end at the microsecond"],
  ["err-068", "eras are answered"],
  ["err-088", "integers without a sign have negatives"],
];
