// A column of one group as the language's functions see it: values that are there, each with its time. Rows of several columns are made
// of them at the end, by time.
import type { FieldType } from "../parse/ast.ts";

/** Values by type; integers stay exact. */
export interface PointValues {
  readonly float: Float64Array;
  readonly integer: BigInt64Array;
  readonly unsigned: BigUint64Array;
  readonly string: readonly string[];
  readonly boolean: Uint8Array;
}

export interface PointsOf<T extends FieldType> {
  readonly type: T;
  /** Nanoseconds, ascending, or descending in a statement that asks for it; equal times are possible. */
  readonly times: BigInt64Array;
  /** As many as there are times. */
  readonly values: PointValues[T];
}

export type Points = { readonly [T in FieldType]: PointsOf<T> }[FieldType];

/** Points of windows, of which some have no value: what fill and functions over aggregates work on. */
export interface WindowPoints {
  readonly points: Points;
  /** LSB-first, 1 = a value; null when all have one. */
  readonly validity: Uint8Array | null;
}
