// What operators were asked for, where the operator behind them looks at it: the reference computes some sequences in one step, which
// shows in the order of columns and in its errors.
import type { FluxColumn } from "../../tables/column.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import type { Value } from "../../values/value.ts";
import type { WindowOptions } from "../universe/window-bounds.ts";

export interface Aggregate {
  readonly name: string;
  /** The type of the result for a column, or null for a column that it has none for. */
  readonly typeOf: (type: FluxColumnType) => FluxColumnType | null;
  readonly compute: (column: FluxColumn) => Value;
}

/** `window`. */
export class WindowOperation {
  /** How many rows of each table its only reader wants, the latest ones; null: all. Known when streams are opened. */
  latestWanted: number | null = null;
  /** Labels of the columns that its only reader looks at; null: all. Known when streams are opened. */
  columnsWanted: readonly string[] | null = null;

  constructor(
    readonly options: WindowOptions,
    /** Whole windows in UTC, which the storage can compute. */
    readonly isStorable: boolean,
  ) {}

  get hasPlainColumns(): boolean {
    const { timeColumn, startColumn, stopColumn } = this.options;
    return timeColumn === "_time" && startColumn === "_start" && stopColumn === "_stop";
  }
}

/** An aggregate of one column. */
export class AggregateOperation {
  constructor(
    readonly aggregate: Aggregate,
    readonly column: string,
  ) {}
}

/** `first`, `last`, `min`, `max`. */
export class SelectorOperation {
  constructor(
    readonly name: "first" | "last" | "min" | "max",
    readonly column: string,
  ) {}
}

/** A row for each empty table. */
export class FillEmptyOperation {}

/** `sort`. */
export class SortOperation {
  /** Set by a reader that wants the first rows: where it is the only one, the reference computes both in one step without a place. */
  isLimited = false;

  constructor(
    readonly columns: readonly string[],
    readonly isDescending: boolean,
  ) {}
}

/** `limit`, `tail`: rows by their number. */
export class NumberedOperation {}

/** `duplicate`. */
export class DuplicateOperation {
  constructor(
    readonly column: string,
    readonly as: string,
  ) {}
}
