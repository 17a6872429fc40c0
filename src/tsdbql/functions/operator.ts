// What the language's functions are to its planner: three kinds of operators over sorted columns, each with its arity and its type.
//
//   reducer    points, cut into windows       → points, none to many a window   (count, percentile, top …; `reducers.ts`)
//   transform  points of one group, in order  → points                          (derivative, moving_average …; `transforms.ts`)
//   function   cells of rows                  → cells of the same rows          (abs, pow …; `functions.ts`, and `arithmetic.ts`)
//
// Points have no nulls; cells have, for rows are what several columns were joined into by time (`rows.ts`). Operators are pure: they change
// none of what they are given, and the arrays that they give are new, or the given ones as they were. Their work is cut into steps, between
// which others have their turn.
import { TsdbError } from "../../model/errors.ts";
import type { Steps } from "../../model/steps.ts";
import type { FieldType, Literal } from "../parse/ast.ts";
import type { Points, PointValues } from "./points.ts";

/** A column of rows: as many values as there are rows, of which a null one is anything. */
export interface CellsOf<T extends FieldType> {
  readonly type: T;
  readonly values: PointValues[T];
  /** LSB-first, 1 = a value; null when every row has one. */
  readonly validity: Uint8Array | null;
}

export type Cells = { readonly [T in FieldType]: CellsOf<T> }[FieldType];

/** Which stretches of a group's points belong together, in the order of the points. A window without points is not among them. */
export interface Windows {
  /** Where each begins and, exclusively, ends: of GROUP BY time; without it there is one, over all the time that the statement asks for. */
  readonly startsNs: BigInt64Array;
  readonly endsNs: BigInt64Array;
  /** One more than there are windows: the points of window i are offsets[i] to, exclusively, offsets[i + 1]. */
  readonly offsets: Int32Array;
}

/** What else an operator must know of the statement. */
export interface OperatorContext {
  /** ORDER BY time DESC: points come and go with falling times. */
  readonly descending: boolean;
  /** The length of GROUP BY time; null without. */
  readonly intervalNs: bigint | null;
}

export interface ReduceContext extends OperatorContext {
  /** Of `top(field, tag …, n)`: a number for the tags' values of each point; of points with equal ones the best alone counts. */
  readonly keys: Int32Array | null;
  /** A selector that stands alone, without GROUP BY time, gives its points with their own times; else they have their windows'. */
  readonly ownTimes: boolean;
  /** Of `sample`: the same seed chooses the same of the same points. */
  readonly seed: number;
}

export interface Reduced {
  /** In order of windows, and of times. */
  readonly points: Points;
  /** For each result, the window it is of. */
  readonly windows: Int32Array;
  /** Of selectors: for each result, the point it is; other columns of the row are taken by it. Null of aggregates. */
  readonly rows: Int32Array | null;
}

interface OperatorHead {
  readonly name: string;
  /** Fewest and most arguments, with the column; top and bottom take any number of tags between. */
  readonly arity: readonly [least: number, most: number];
  readonly takes: readonly FieldType[];
  /** What an error about another type calls it: `moving average`. */
  readonly label: string;
  resultType(argument: FieldType): FieldType;
}

export interface Reducer extends OperatorHead {
  /** Selectors choose points, the others compute one. */
  readonly selects: boolean;
  /** Which time a result has. "window": where its window begins, as `Windows` says. "point": the chosen point's with
   *  `ReduceContext.ownTimes`, else its window's. "own": always the chosen point's. */
  readonly times: "window" | "point" | "own";
  /** May give other than one point a window; nothing is filled in between, and no other call stands beside it. */
  readonly isList: boolean;
  /** @param args those behind the column, without tags @throws TsdbError bad_query for a column of a type that it does not take */
  reduce(points: Points, windows: Windows, args: readonly Literal[], context: ReduceContext): Steps<Reduced>;
}

export interface Transform extends OperatorHead {
  /** How many windows before the first that is asked for (behind the last, if descending) it is given: enough for a difference from the
   *  one before. An average over seven gets one as well, and gives nothing for the first five of the range, as in 1.x. */
  windowsBefore(args: readonly Literal[]): number;
  /** @param args those behind the column @throws TsdbError bad_query for a column of a type that it does not take */
  apply(points: Points, args: readonly Literal[], context: OperatorContext): Steps<Points>;
}

/** A function of rows. An argument is a column or a constant. */
export interface RowFunction {
  readonly name: string;
  readonly arity: readonly [least: number, most: number];
  /** Of columns that are no numbers, all whose results are null, float. */
  resultType(args: readonly FieldType[]): FieldType;
  apply(args: readonly (Cells | Literal)[], rowCount: number): Steps<Cells>;
}

/** @throws TsdbError unless the operator takes points of a type; worded as 1.x does, down to the names of its iterators. */
export function checkType(operator: Pick<OperatorHead, "label" | "takes">, type: FieldType): void {
  if (operator.takes.includes(type)) return;
  throw new TsdbError("bad_query", `unsupported ${operator.label} iterator type: *query.${type}InterruptIterator`);
}

export const NUMBERS: readonly FieldType[] = ["float", "integer", "unsigned"];
export const ALL_TYPES: readonly FieldType[] = ["float", "integer", "unsigned", "string", "boolean"];
