// Recognizes SELECTs whose answer depends only on the newest row of each series, so that the scan may omit all others.
//
// A series consists of all rows with the same tags; of two of its rows one is newer. Let the rows that pass WHERE be whole series within a
// time range (conditions on fields would select among the rows of a series, so they rule this out). Then:
//
// - Of rows ordered by [expressions over tags …, time DESC, …], the first one, overall or per key over tags, is the newest of its series: a
//   newer row of the same series has the same tags, so the same keys, and sorts before it. The same holds for every row that ties with it
//   in keys and time. These rows are what DISTINCT ON, LIMIT 1 and a number or rank of 1 select.
// - An aggregate over groups by tags sees all rows of each series in a group. max(time), and x of the last row, are found in a newest row.
//   An expression over tags is constant within a series, so the newest rows alone show which values exist.
// - The last present x is in the newest row if that has an x. Whether all newest rows do is unknown before they are read: `present` lists
//   such columns.

import { TsdbError } from "../../../model/errors.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import type { Expression, FunctionCall, Modifier, OrderBy, SelectNode, Window } from "../../parse/tree.ts";
import { hasAggregate, isAggregateCall } from "../functions/aggregate-call.ts";
import { isSelector } from "../functions/selector.ts";
import { type OneTable, Unfit, unfit } from "../one-table.ts";
import { childrenOf, conjuncts, someNode } from "../walk.ts";

export interface NewestRows {
  /** Items of the select list that are 1 only in newest rows, and where other rows with 1 are irrelevant; null: only newest rows are
   *  returned. */
  readonly numbers: ReadonlySet<Expression> | null;
  /** Columns that must have a value in all newest rows. */
  readonly present: readonly ColumnDef[];
}

/** Returns null if other rows matter. */
export function newestRows(table: OneTable): NewestRows | null {
  if (!mayShowNewest(table.node)) return null;
  try {
    return new NewestFinder(table).find();
  } catch (error) {
    if (error instanceof Unfit || error instanceof TsdbError) return null;
    throw error;
  }
}

/** A quick test for statements that newestRows might accept, and all that could be groups. */
export function mayShowNewest(node: SelectNode): boolean {
  const { modifiers, qualify, group_expressions, aggregate_handling, select_list, having } = node;
  if (qualify !== null || group_expressions.length > 0 || aggregate_handling === "FORCE_AGGREGATES" || having !== null) return true;
  return modifiers.some((modifier) => modifier.type !== "ORDER_MODIFIER") || select_list.some(hasAggregate) || select_list.some(hasWindow);
}

/** True if the time of the newest row is all that is asked for, and of all rows: blocks know it, without a row per series. */
export function isNewestTime(table: OneTable): boolean {
  const { select_list, where_clause, group_expressions, group_sets, having, qualify, sample, modifiers } = table.node;
  if (where_clause !== null || having !== null || qualify !== null || sample !== null) return false;
  if (group_expressions.length + group_sets.length + modifiers.length > 0) return false;
  return select_list.every((item) => {
    if (item.class !== "FUNCTION" || item.function_name !== "max" || item.children.length !== 1 || item.filter !== null) return false;
    return table.column(item.children[0]!)?.type === ColumnType.time;
  });
}

function hasWindow(node: Expression): boolean {
  return someNode(node, ({ class: kind }) => kind === "WINDOW");
}

class NewestFinder {
  private readonly node: SelectNode;
  private readonly present = new Map<number, ColumnDef>();

  constructor(private readonly table: OneTable) {
    this.node = table.node;
  }

  find(): NewestRows {
    const { fields, rest } = this.table.pushedDown;
    if (fields.length > 0 || !rest.every((condition) => this.table.isOfSeries(condition))) unfit();
    const { node } = this;
    const isGrouped =
      node.group_expressions.length > 0 ||
      node.group_sets.length > 0 ||
      node.aggregate_handling !== "STANDARD_HANDLING" ||
      node.having !== null ||
      this.shown().some(hasAggregate);
    if (isGrouped) return this.groups();
    if (node.select_list.some(makesRows)) unfit();
    const windows = this.windows();
    if (windows.length > 0) return this.numbered(windows);
    return this.firstRows();
  }

  /** The expressions computed from rows, or groups. */
  private shown(): Expression[] {
    const { select_list, qualify, modifiers } = this.node;
    return [...select_list, ...(qualify === null ? [] : [qualify]), ...modifiers.flatMap(expressionsOf)];
  }

  private windows(): Window[] {
    const found: Window[] = [];
    for (const node of this.shown()) {
      someNode(node, (part) => {
        if (part.class === "WINDOW") found.push(part);
        return false;
      });
    }
    return found;
  }

  private groups(): NewestRows {
    const { node } = this;
    const isAll = node.aggregate_handling === "FORCE_AGGREGATES";
    const keys = isAll ? node.select_list.filter((item) => !hasAggregate(item)) : node.group_expressions;
    for (const key of keys) if (!this.table.isOfSeries(this.meant(key))) unfit();
    const places = [...this.shown(), ...(node.having === null ? [] : [node.having])];
    for (const place of places) this.checkAggregates(place);
    return { numbers: null, present: [...this.present.values()] };
  }

  /** Anything but aggregates and keys would be an error in DuckDB. */
  private checkAggregates(node: Expression): void {
    if (node.class === "FUNCTION" && isAggregateCall(node)) this.checkAggregate(node);
    else if (node.class === "SUBQUERY") unfit();
    else for (const child of childrenOf(node)) this.checkAggregates(child);
  }

  private checkAggregate(node: FunctionCall): void {
    const { function_name: name, children, filter } = node;
    const [value, time] = children;
    if (filter !== null && !this.table.isOfSeries(filter)) unfit();
    if (value === undefined) unfit();
    const { orders } = node.order_bys;
    if (orders.length > 0) {
      const [order] = orders;
      const isLast = LAST_ROW.has(name) ? order!.type !== "DESCENDING" : FIRST_ROW.has(name) && order!.type === "DESCENDING";
      if (!isLast || node.distinct || !this.isTime(order!.expression) || children.length > 1) unfit();
      return;
    }
    if ((name === "max" && this.isTime(value)) || (children.length === 1 && this.isOfValues(node))) return;
    const isLastValue = LAST_VALUE.has(name) || isSelector(name);
    if (!isLastValue || node.distinct || children.length !== 2 || !this.isTime(time!)) unfit();
    if (this.table.isOfSeries(value) && (LAST_VALUE.has(name) || name === "selector_last")) return;
    const column = this.table.column(value);
    if (column === null || column.type === ColumnType.time || (isSelector(name) && name !== "selector_last")) unfit();
    this.present.set(column.id, column);
  }

  /** True for an aggregate that depends on which values exist, not how often, over values that are constant within a series. */
  private isOfValues({ function_name: name, distinct, children }: FunctionCall): boolean {
    const [value] = children;
    const countsOnce = VALUES_ONLY.has(name) || (distinct && DISTINCT_VALUES.has(name));
    return countsOnce && value!.class !== "CONSTANT" && this.table.isOfSeries(value!);
  }

  /** Numbered rows of which one per partition is selected, by QUALIFY or by the enclosing query. */
  private numbered(windows: readonly Window[]): NewestRows {
    const { node } = this;
    const [window, ...others] = windows;
    if (window === undefined || others.length > 0 || !this.numbersNewest(window) || this.picksRows()) unfit();
    if (node.qualify !== null) {
      const isFirst = conjuncts(node.qualify).some((condition) => this.isFirst(condition, window));
      return isFirst ? { numbers: null, present: [] } : unfit();
    }
    if (node.modifiers.some(({ type }) => type !== "ORDER_MODIFIER")) unfit();
    const numbers = new Set(node.select_list.filter((item) => item === window));
    return numbers.size > 0 ? { numbers, present: [] } : unfit();
  }

  private numbersNewest({ function_name, partitions, orders, filter_expr, arg_orders, children }: Window): boolean {
    const isNumber = NUMBERS.has(function_name) && filter_expr === null && arg_orders.length === 0 && children.length === 0;
    // aliases are not visible within OVER
    const isKey = (key: Expression) => key.class !== "CONSTANT" && this.table.isOfSeries(key);
    return isNumber && partitions.every((key) => this.table.isOfSeries(key)) && this.ordersNewestFirst(orders, isKey, (key) => key);
  }

  /** `number = 1` */
  private isFirst(condition: Expression, window: Window): boolean {
    if (condition.class !== "COMPARISON" || condition.type !== "COMPARE_EQUAL") return false;
    const isNumber = (side: Expression) => side === window || (this.table.column(side) === null && this.table.item(side) === window);
    const { left, right } = condition;
    return (isNumber(left) && isOne(right)) || (isNumber(right) && isOne(left));
  }

  /** DISTINCT ON (keys), or LIMIT 1. */
  private firstRows(): NewestRows {
    const { modifiers } = this.node;
    const orders = modifiers.flatMap((modifier) => (modifier.type === "ORDER_MODIFIER" ? modifier.orders : []));
    const isKey = (key: Expression) => this.table.isOfSeries(key);
    if (!this.ordersNewestFirst(orders, isKey, (key) => this.meant(key))) unfit();
    const distinct = modifiers.flatMap((modifier) => (modifier.type === "DISTINCT_MODIFIER" ? [modifier.distinct_on_targets] : []));
    const [keys] = distinct;
    const isChosen =
      keys === undefined
        ? modifiers.some(isLimitOne)
        : distinct.length === 1 && keys.length > 0 && keys.every((key) => this.table.isOfSeries(this.meant(key)));
    return isChosen ? { numbers: null, present: [] } : unfit();
  }

  /** Expressions over tags, followed by time in descending order. */
  private ordersNewestFirst(
    orders: readonly OrderBy[],
    isKey: (key: Expression) => boolean,
    meant: (key: Expression) => Expression,
  ): boolean {
    for (const { expression, type } of orders) {
      const key = meant(expression);
      if (this.isTime(key)) return type === "DESCENDING";
      if (!isKey(key)) return false;
    }
    return false;
  }

  private isTime(node: Expression): boolean {
    return this.table.column(node)?.type === ColumnType.time;
  }

  /** Resolves a position in the select list or an alias; if a name is both an alias and a column, clauses differ. */
  private meant(node: Expression): Expression {
    if (node.class === "CONSTANT") return this.table.itemAt(node) ?? unfit();
    const item = this.table.item(node);
    if (item === undefined) return node;
    const column = this.table.column(node);
    return column === null || this.table.column(item)?.id === column.id ? item : unfit();
  }

  private picksRows(): boolean {
    return this.node.modifiers.some((modifier) => modifier.type === "DISTINCT_MODIFIER" && modifier.distinct_on_targets.length > 0);
  }
}

const NUMBERS: ReadonlySet<string> = new Set(["row_number", "rank", "dense_rank", "rank_dense"]);
/** With ORDER BY time; a NULL is an ordinary value. */
const LAST_ROW: ReadonlySet<string> = new Set(["last", "last_value"]);
const FIRST_ROW: ReadonlySet<string> = new Set(["first", "first_value"]);
/** f(x, time): x at the greatest time, ignoring rows without x. */
const LAST_VALUE: ReadonlySet<string> = new Set(["arg_max", "argmax", "max_by"]);
const VALUES_ONLY: ReadonlySet<string> = new Set(["min", "max", "approx_distinct", "approx_count_distinct", "any_value", "arbitrary"]);
const DISTINCT_VALUES: ReadonlySet<string> = new Set(["count"]);

function isOne(node: Expression | null): boolean {
  return node?.class === "CONSTANT" && node.value.value === 1 && ["INTEGER", "BIGINT"].includes(node.value.type.id);
}

/** A function that returns any number of rows. */
function makesRows(node: Expression): boolean {
  return someNode(node, (part) => part.class === "FUNCTION" && part.function_name === "unnest");
}

function isLimitOne(modifier: Modifier): boolean {
  return modifier.type === "LIMIT_MODIFIER" && isOne(modifier.limit) && modifier.offset === null;
}

function expressionsOf(modifier: Modifier): readonly Expression[] {
  if (modifier.type === "ORDER_MODIFIER") return modifier.orders.map(({ expression }) => expression);
  return modifier.type === "DISTINCT_MODIFIER" ? modifier.distinct_on_targets : [];
}
