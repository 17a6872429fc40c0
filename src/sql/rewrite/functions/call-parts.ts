// What the scan's side of an aggregate call is made of.
import type { Aggregate, AggregateFunction } from "../../../model/query/aggregate.ts";
import type { ColumnDef } from "../../../model/rows/column.ts";
import type { Expression } from "../../parse/tree.ts";

/** Resolves the parts of an aggregate call. */
export interface CallParts {
  /** The column denoted by an argument; null for anything else. */
  column(argument: Expression): ColumnDef | null;
  /** The argument as a column that the scan computes; null: it cannot. */
  computedColumn(argument: Expression, fn: AggregateFunction): ColumnDef | null;
  /** The value of a constant; null for anything else. */
  number(argument: Expression): number | null;
  /** The scan's result column for an aggregate. */
  value(aggregate: Aggregate): Expression;
}
