// The functions of the language as operators on sorted columns, in three kinds, each with its arity and type:
//
//     reducer    points, cut into windows       → points, any number per window   (count, percentile, top …; `reducers.ts`)
//     transform  points of one group, in order  → points                          (derivative, moving_average …; `transforms.ts`)
//     function   cells of rows                  → cells of the same rows          (abs, pow …; `functions.ts`, and `arithmetic.ts`)
//
// Points have no nulls; cells may, because rows join several columns by time (`rows.ts`). Operators are pure: they do not modify their
// input, and return new arrays or the unchanged input. They work in steps, between which other statements run.
import { TsdbError } from "../../model/errors.ts";
import type { Steps } from "../../model/steps.ts";
import type { FieldType, Literal } from "../parse/ast.ts";
import type { Points, PointValues } from "./points.ts";

/** A column of rows: one value per row; the value of a null row is undefined. */
export interface CellsOf<T extends FieldType> {
  readonly type: T;
  readonly values: PointValues[T];
  /** LSB-first, 1 = present; null if every row has a value. */
  readonly validity: Uint8Array | null;
}

export type Cells = { readonly [T in FieldType]: CellsOf<T> }[FieldType];

/** The windows of a group's points, in the order of the points; without empty windows. */
export interface Windows {
  /** Start and, exclusive, end of each window of GROUP BY time; without it there is one window over the statement's whole time range. */
  readonly startsNs: BigInt64Array;
  readonly endsNs: BigInt64Array;
  /** One more than there are windows: window i has the points offsets[i] .. offsets[i + 1] - 1. */
  readonly offsets: Int32Array;
}

/** Properties of the statement that an operator depends on. */
export interface OperatorContext {
  /** ORDER BY time DESC: points are in descending order of time. */
  readonly descending: boolean;
  /** The window length of GROUP BY time; null without it. */
  readonly intervalNs: bigint | null;
  /** By the rules of v3. */
  readonly isTable?: boolean;
}

export interface ReduceContext extends OperatorContext {
  /** For `top(field, tag …, n)`: numbers the combinations of tag values; of points with equal numbers only the best counts. */
  readonly keys: Uint32Array | null;
  /** True for a single selector without GROUP BY time: its points keep their own times; otherwise they have their windows' times. */
  readonly ownTimes: boolean;
  /** For `sample`: the same seed selects the same of the same points. */
  readonly seed: number;
}

export interface Reduced {
  /** Ordered by window, then time. */
  readonly points: Points;
  /** The window of each result. */
  readonly windows: Int32Array;
  /** For selectors: the source point of each result, by which other columns of its row are found. Null for aggregates. */
  readonly rows: Int32Array | null;
}

interface OperatorHead {
  readonly name: string;
  /** Minimum and maximum number of arguments, including the column; top and bottom allow any number of tags between. */
  readonly arity: readonly [least: number, most: number];
  readonly takes: readonly FieldType[];
  /** What it accepts in v3, where this is more. */
  readonly takesInTable?: readonly FieldType[];
  /** Its name in type errors: `moving average`. */
  readonly label: string;
  resultType(argument: FieldType): FieldType;
}

export interface Reducer extends OperatorHead {
  /** True for selectors, which select points; false for aggregates, which compute one. */
  readonly selects: boolean;
  /** The time of a result. "window": the start of its window, as in `Windows`. "point": the selected point's with
   *  `ReduceContext.ownTimes`, otherwise its window's. "own": always the selected point's. */
  readonly times: "window" | "point" | "own";
  /** May return any number of points per window; windows are not filled, and no other call is allowed besides it. */
  readonly isList: boolean;
  /** @param args those after the column, without tags @throws TsdbError bad_query for a column of a type that it does not accept */
  reduce(points: Points, windows: Windows, args: readonly Literal[], context: ReduceContext): Steps<Reduced>;
}

export interface Transform extends OperatorHead {
  /** Number of additional windows before the first requested one (after the last, if descending): enough for a difference to the
   *  previous window. An average over seven gets one as well, and returns nothing for the first five of the range, as in 1.x. */
  windowsBefore(args: readonly Literal[]): number;
  /** @param args those after the column @throws TsdbError bad_query for a column of a type that it does not accept */
  apply(points: Points, args: readonly Literal[], context: OperatorContext): Steps<Points>;
}

/** A function of single rows. An argument is a column or a constant. */
export interface RowFunction {
  readonly name: string;
  readonly arity: readonly [least: number, most: number];
  /** Float for non-numeric columns, whose results are all null. */
  resultType(args: readonly FieldType[]): FieldType;
  apply(args: readonly (Cells | Literal)[], rowCount: number): Steps<Cells>;
}

/** The median of integers in v3, an integer as well: no name that a statement can have. */
export const WHOLE_MEDIAN = "median of integers";

type TakesTypes = Pick<OperatorHead, "label" | "takes" | "takesInTable">;

/** @throws TsdbError if the operator does not accept points of a type; worded like 1.x, including the names of its iterators */
export function checkType(operator: TakesTypes, type: FieldType, isTable = false): void {
  const { takes, takesInTable = takes } = operator;
  if ((isTable ? takesInTable : takes).includes(type)) return;
  throw new TsdbError("bad_query", `unsupported ${operator.label} iterator type: *query.${type}InterruptIterator`);
}

export const NUMBERS: readonly FieldType[] = ["float", "integer", "unsigned"];
export const ALL_TYPES: readonly FieldType[] = ["float", "integer", "unsigned", "string", "boolean"];
