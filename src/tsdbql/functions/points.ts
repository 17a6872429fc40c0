// A column of one group as functions process it: present values with their times. Rows of several columns are joined from points at the
// end, by time.
import type { FieldType } from "../parse/ast.ts";
import type { Texts } from "./texts.ts";

/** Values by type; integers stay exact. */
export interface PointValues {
  readonly float: Float64Array;
  readonly integer: BigInt64Array;
  readonly unsigned: BigUint64Array;
  readonly string: Texts;
  readonly boolean: Uint8Array;
}

export interface PointsOf<T extends FieldType> {
  readonly type: T;
  /** Nanoseconds, ascending, or descending if the statement orders so; equal times are possible. */
  readonly times: BigInt64Array;
  /** One per time. */
  readonly values: PointValues[T];
}

export type Points = { readonly [T in FieldType]: PointsOf<T> }[FieldType];

/** Points of windows, some without a value: the input of fill and of transforms over aggregates. */
export interface WindowPoints {
  readonly points: Points;
  /** LSB-first, 1 = present; null if all have a value. */
  readonly validity: Uint8Array | null;
}
