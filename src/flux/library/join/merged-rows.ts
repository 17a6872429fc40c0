// Rows of two sorted tables put beside each other where their columns are equal.
import { type FluxColumn, NO_ROW } from "../../tables/column.ts";
import { cellOrder } from "../../tables/row-order.ts";

export interface RowPairs {
  /** Numbers of rows; `NO_ROW` for a row without a partner. */
  readonly lefts: Uint32Array;
  readonly rights: Uint32Array;
}

type Order = (i: number, j: number) => number;

/** Iterates over the groups of equal rows of two sorted tables. */
export class MergedRows {
  private readonly across: Order;
  private readonly withinLeft: Order;
  private lefts: number[] = [];
  private rights: number[] = [];

  /** Columns that are compared, with as many rows as given. */
  constructor(
    left: readonly FluxColumn[],
    right: readonly FluxColumn[],
    private readonly leftCount: number,
    private readonly rightCount: number,
  ) {
    this.across = orderOf(left, right);
    this.withinLeft = orderOf(left, left);
  }

  /** Pairs in the order of the columns, some at a time. */
  *parts(keepsLeft: boolean, keepsRight: boolean, partMax: number): Generator<RowPairs> {
    const { leftCount, rightCount } = this;
    let [i, j] = [0, 0];
    while (i < leftCount || j < rightCount) {
      const order = i >= leftCount ? 1 : j >= rightCount ? -1 : this.across(i, j);
      if (order < 0) {
        if (keepsLeft) this.pair(i, NO_ROW);
        i++;
      } else if (order > 0) {
        if (keepsRight) this.pair(NO_ROW, j);
        j++;
      } else {
        const first = i;
        const from = j;
        while (j < rightCount && this.across(first, j) === 0) j++;
        for (; i < leftCount && this.withinLeft(first, i) === 0; i++) {
          for (let at = from; at < j; at++) {
            this.pair(i, at);
            if (this.lefts.length >= partMax) yield this.take();
          }
        }
      }
      if (this.lefts.length >= partMax) yield this.take();
    }
    if (this.lefts.length > 0) yield this.take();
  }

  private pair(left: number, right: number): void {
    this.lefts.push(left);
    this.rights.push(right);
  }

  private take(): RowPairs {
    const pairs = { lefts: Uint32Array.from(this.lefts), rights: Uint32Array.from(this.rights) };
    this.lefts = [];
    this.rights = [];
    return pairs;
  }
}

/** A null equals nothing, and neither do values of types that do not compare. */
function orderOf(left: readonly FluxColumn[], right: readonly FluxColumn[]): Order {
  const orders = left.map((column, c) => ({ left: column, right: right[c]!, order: cellOrder(column, right[c]!) }));
  return (i, j) => {
    for (const each of orders) {
      if (each.left.isNull(i)) return -1;
      if (each.right.isNull(j)) return 1;
      const order = each.order === null ? -1 : each.order(i, j);
      // what does not compare, as NaN, is passed over
      if (order !== 0) return order > 0 ? 1 : -1;
    }
    return 0;
  };
}
