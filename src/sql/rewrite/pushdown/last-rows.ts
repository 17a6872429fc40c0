// Groups by tags that only use values of the last row (last_value(x ORDER BY time), selector_last(x, time), max(time)) are the rows
// selected by DISTINCT ON (tags) … ORDER BY time DESC. DuckDB would sort every group once per column.
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { encodeName } from "../../parse/names.ts";
import type { ColumnRef, Expression, FunctionCall, Modifier, OrderBy, SelectNode } from "../../parse/tree.ts";
import { hasAggregate } from "../functions/aggregate-call.ts";
import { selectorPart } from "../functions/selector.ts";
import type { OneTable } from "../one-table.ts";

export interface LastRows {
  /** The same query with DISTINCT ON. */
  readonly node: SelectNode;
  /** The last row with a value is the last row only if that has a value: these columns must have one. */
  readonly present: readonly ColumnDef[];
  /** Items of its select list that stand for an aggregate: columns in form only. */
  readonly values: ReadonlySet<Expression>;
}

/** Returns null if other values are used too. */
export function lastRowsOf(table: OneTable): LastRows | null {
  const { node } = table;
  const isPlain = node.having === null && node.qualify === null && node.sample === null;
  const groups = node.aggregate_handling === "FORCE_AGGREGATES" ? node.select_list.filter((item) => !hasAggregate(item)) : groupsOf(table);
  if (!isPlain || groups === null || groups.length === 0) return null;
  const keys = new Map<number, ColumnDef>();
  for (const group of groups) {
    const def = table.column(group);
    if (def?.type !== ColumnType.tag) return null;
    keys.set(def.id, def);
  }
  return new LastRowsOf(table, keys).make();
}

/** GROUP BY as expressions; null if a name may be a column or an alias, or for grouping sets. */
function groupsOf(table: OneTable): Expression[] | null {
  const { group_expressions: groups, group_sets: sets } = table.node;
  if (sets.length > 1 || (sets[0] !== undefined && sets[0].length !== groups.length)) return null;
  const meant = groups.map((group) => table.itemAt(group) ?? (table.column(group) === null ? table.item(group) : group));
  return meant.every((group) => group !== undefined) ? meant : null;
}

class LastRowsOf {
  private readonly present = new Map<number, ColumnDef>();
  private readonly values = new Set<Expression>();

  constructor(
    private readonly table: OneTable,
    private readonly keys: ReadonlyMap<number, ColumnDef>,
  ) {}

  make(): LastRows | null {
    const { node, itemNames } = this.table;
    const select_list: Expression[] = [];
    for (const [i, item] of node.select_list.entries()) {
      const name = itemNames[i];
      const key = this.table.column(item);
      const def = key ?? this.lastOf(item);
      if (def === null || (key !== null && !this.keys.has(key.id))) return null;
      const value = this.ref(def, name ?? "");
      if (key === null) this.values.add(value);
      select_list.push(value);
    }
    const modifiers = this.modifiers();
    if (modifiers === null || this.values.size === 0) return null;
    const groups = { group_expressions: [], group_sets: [], aggregate_handling: "STANDARD_HANDLING" };
    return { node: { ...node, ...groups, select_list, modifiers }, present: [...this.present.values()], values: this.values };
  }

  /** The column of which an aggregate is the last row's value; null otherwise. */
  private lastOf(item: Expression): ColumnDef | null {
    const part = item.class === "OPERATOR" ? selectorPart(item) : null;
    if (part !== null) return this.lastPresent(part.selector, part.part === "time");
    if (item.class !== "FUNCTION" || item.filter !== null || item.distinct) return null;
    const { function_name: name, children } = item;
    const [order, ...others] = item.order_bys.orders;
    if (order === undefined) {
      if (name === "max" && children.length === 1) return this.time(children[0]!);
      return BY_TIME.has(name) ? this.lastPresent(item, false) : null;
    }
    const isLast = order.type === "DESCENDING" ? FIRST.has(name) : LAST.has(name);
    if (!isLast || others.length > 0 || children.length !== 1 || this.time(order.expression) === null) return null;
    return this.table.column(children[0]!);
  }

  /** f(x, time): x of the last row with a value, or that row's time. */
  private lastPresent(node: FunctionCall, isTime: boolean): ColumnDef | null {
    const [value, time] = node.children;
    const isKnown = BY_TIME.has(node.function_name) || node.function_name === "selector_last";
    const isPlain = node.filter === null && !node.distinct && node.order_bys.orders.length === 0 && node.children.length === 2;
    const def = isKnown && isPlain ? this.table.column(value!) : null;
    const timeDef = def === null ? null : this.time(time!);
    if (def === null || timeDef === null) return null;
    if (def.type !== ColumnType.time) this.present.set(def.id, def);
    return isTime ? timeDef : def;
  }

  private time(node: Expression): ColumnDef | null {
    const def = this.table.column(node);
    return def?.type === ColumnType.time ? def : null;
  }

  private modifiers(): Modifier[] | null {
    const time = this.table.rows.defs.find(({ type }) => type === ColumnType.time)!;
    const newestFirst: OrderBy = { type: "DESCENDING", null_order: "ORDER_DEFAULT", expression: this.ref(time, "") };
    const orders: OrderBy[] = [];
    const limits: Modifier[] = [];
    for (const modifier of this.table.node.modifiers) {
      if (modifier.type === "DISTINCT_MODIFIER") return null;
      if (modifier.type !== "ORDER_MODIFIER") limits.push(modifier);
      else {
        for (const order of modifier.orders) {
          const def = this.orderKey(order.expression);
          if (def === null) return null;
          orders.push({ ...order, expression: this.ref(def, "") });
        }
      }
    }
    const distinct_on_targets = [...this.keys.values()].map((def) => this.ref(def, ""));
    return [{ type: "DISTINCT_MODIFIER", distinct_on_targets }, { type: "ORDER_MODIFIER", orders: [...orders, newestFirst] }, ...limits];
  }

  /** A key, which is constant within a group. A bare name is an alias first. */
  private orderKey(node: Expression): ColumnDef | null {
    const meant = this.table.itemAt(node) ?? this.table.item(node) ?? node;
    const def = this.table.column(meant);
    return def !== null && this.keys.has(def.id) ? def : null;
  }

  /** By its qualified name, to avoid aliases. */
  private ref(def: ColumnDef, alias: string): ColumnRef {
    return { class: "COLUMN_REF", type: "COLUMN_REF", alias, column_names: [this.table.alias, encodeName(def.name)] };
  }
}

const LAST: ReadonlySet<string> = new Set(["last", "last_value"]);
const FIRST: ReadonlySet<string> = new Set(["first", "first_value"]);
const BY_TIME: ReadonlySet<string> = new Set(["arg_max", "argmax", "max_by"]);
