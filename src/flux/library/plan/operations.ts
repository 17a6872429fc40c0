// What operators were asked for, where the operator behind them looks at it: the reference computes some sequences in one step, which
// shows in the order of columns and in its errors.
import type { WindowOptions } from "../universe/window-bounds.ts";
import { type Aggregate, aggregatedRows, type ByWindows } from "../windows/window-rows.ts";

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

/** `keys`. */
export class KeysOperation {
  constructor(readonly column: string) {}
}

/** `keep` of a list. */
export class KeepOperation {
  constructor(private readonly names: readonly string[]) {}

  isOf(only: string): boolean {
    return this.names.length === 1 && this.names[0] === only;
  }
}

/** An operator that can take the rows of many windows at once. */
export class RowsOperation {
  /** @param byWindows null: it takes tables */
  constructor(readonly byWindows: ByWindows | null) {}
}

/** An aggregate of one column. */
export class AggregateOperation extends RowsOperation {
  constructor(
    readonly aggregate: Aggregate,
    readonly column: string,
  ) {
    super((rows) => aggregatedRows(rows, column, aggregate));
  }
}

/** `first`, `last`, `min`, `max`. */
export class SelectorOperation extends RowsOperation {
  constructor(
    readonly name: "first" | "last" | "min" | "max",
    readonly column: string,
    byWindows: ByWindows,
  ) {
    super(byWindows);
  }
}

/** A row for each empty table. */
export class FillEmptyOperation {}

/** Rows of a table that a reader wants, the first ones in an order. */
export interface FirstRows {
  readonly labels: readonly string[];
  readonly isDescending: boolean;
  readonly count: number;
}

/** `sort`. */
export class SortOperation extends RowsOperation {
  /** Set by a reader that wants the first rows: where it is the only one, the reference computes both in one step without a place. */
  isLimited = false;
  /** How many rows that reader wants of each table. */
  rowsWanted = 0;

  constructor(
    readonly columns: readonly string[],
    readonly isDescending: boolean,
    byWindows: ByWindows,
  ) {
    super(byWindows);
  }
}

/** `limit`, `tail`: rows by their number. */
export class NumberedOperation extends RowsOperation {}

/** `duplicate`. */
export class DuplicateOperation {
  constructor(
    readonly column: string,
    readonly as: string,
  ) {}
}
