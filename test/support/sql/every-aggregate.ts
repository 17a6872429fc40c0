// The aggregates of all columns that have a type, for tests of aggregation.
import { type Aggregate, type AggregateFunction, aggregateType } from "../../../src/model/query/aggregate.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import { ALL_TYPES } from "../rows/random-rows.ts";

const FUNCTIONS: readonly AggregateFunction[] = [
  "count",
  "sum",
  "mean",
  "squares",
  "min",
  "max",
  "minTime",
  "maxTime",
  "first",
  "last",
  "firstTime",
  "lastTime",
];

/** Quantiles at both ends, in between, and of small and large digests; weighted by a column of another type. */
function quantilesOf(column: ColumnDef): Aggregate[] {
  const others = ALL_TYPES.filter(({ id, type }) => id !== column.id && (type === ColumnType.integer || type === ColumnType.unsigned));
  return [
    ...[0, 0.5, 0.95, 1].map((share): Aggregate => ({ fn: "quantile", column, share, size: 100, weight: null })),
    { fn: "quantile", column, share: 0.25, size: 1000, weight: null },
    ...others.map((weight): Aggregate => ({ fn: "quantile", column, share: 0.5, size: 100, weight })),
  ];
}

export const EVERY_AGGREGATE: readonly Aggregate[] = [
  { fn: "count", column: null },
  ...ALL_TYPES.flatMap((column): Aggregate[] => [...FUNCTIONS.map((fn) => ({ fn, column })), ...quantilesOf(column)]).filter(
    (aggregate) => aggregateType(aggregate) !== null,
  ),
];
