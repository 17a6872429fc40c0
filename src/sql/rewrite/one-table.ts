// Analyses a SELECT over one table before its rewrite: name resolution, WHERE conditions, groups. Changes and reads nothing.

import { ALL_TIME, type TimeRange } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { type EncodedColumns, kindOfColumn, type ScanUse, type Typed } from "../bind/kind.ts";
import { intersect } from "../bind/plan-clock.ts";
import { type CteMap, type OutputColumn, type Resolved, Scope } from "../bind/scope.ts";
import { tableNameOf } from "../parse/check.ts";
import type { BaseTable, Expression, SelectNode } from "../parse/tree.ts";
import type { RewriteContext, TableDescription } from "./context.ts";
import { rewriteExpression } from "./expression.ts";
import { isAggregateCall } from "./functions/aggregate-call.ts";
import { itemAlias } from "./item-name.ts";
import { type PushedDown, pushDown } from "./pushdown/where.ts";
import { isVolatile } from "./volatile.ts";
import { someNode } from "./walk.ts";

/** Thrown if a SELECT does not have the required form. */
export class Unfit extends Error {}

/** A constant: creating stacks is expensive, and nobody reads this one. */
const UNFIT = new Unfit();

/** @throws Unfit: the query cannot be rewritten in this way */
export function unfit(): never {
  throw UNFIT;
}

/** A SELECT whose FROM is one table. */
export class OneTable {
  /** The table as a scan of rows, for name resolution. */
  readonly rows: ScanUse;
  readonly isSmall: boolean;
  readonly alias: string;
  /** Names of the select list's items; null: the item has its own. */
  readonly itemNames: readonly (string | null)[];
  /** Before any change of the SELECT. */
  private readonly where: Expression | null;
  private readonly scope: Scope;
  private readonly items = new Map<string, Expression>();
  private pushedDown_: PushedDown | null = null;
  private isPushingDown = false;
  /** Expressions that were rewritten; the SELECT's are not changed meanwhile. */
  private readonly rewritten = new Map<Expression, Typed>();

  private constructor(
    readonly node: SelectNode,
    readonly from: BaseTable,
    readonly name: string,
    private readonly description: TableDescription,
    private readonly context: RewriteContext,
    outer: Scope | null,
    ctes: CteMap,
  ) {
    const { rows, columns } = rowsOf(description);
    this.rows = rows;
    this.isSmall = description.isSmall;
    this.where = node.where_clause;
    this.alias = from.alias !== "" ? from.alias : from.table_name;
    this.scope = new Scope([{ alias: this.alias, columns }], outer, ctes);
    this.scope.timeRange = () => this.knownTimes();
    this.itemNames = node.select_list.map(itemAlias);
    this.itemNames.forEach((name, i) => {
      if (name !== null && !this.items.has(name)) this.items.set(name, node.select_list[i]!);
    });
  }

  /** Returns null if it reads something else, or a sample. */
  static of(node: SelectNode, context: RewriteContext, outer: Scope | null, ctes: CteMap): OneTable | null {
    const from = node.from_table;
    if (from.type !== "BASE_TABLE" || from.sample !== null || node.sample !== null || from.column_name_alias.length > 0) return null;
    if (from.schema_name === "" && from.catalog_name === "" && ctes.has(from.table_name)) return null;
    const { schema, table } = tableNameOf(from);
    const description = schema === "iox" ? context.tables.describe(table) : null;
    return description === null ? null : new OneTable(node, from, table, description, context, outer, ctes);
  }

  /** The pushed-down WHERE clause. @throws Unfit, TsdbError */
  get pushedDown(): PushedDown {
    this.pushedDown_ ??= this.pushDown();
    return this.pushedDown_;
  }

  private pushDown(): PushedDown {
    this.isPushingDown = true;
    try {
      return pushDown(this.where, this.rows, (condition) => this.rewrite(condition));
    } finally {
      this.isPushingDown = false;
    }
  }

  /** The times of rows that pass WHERE; all times while the conditions themselves are rewritten. */
  private knownTimes(): TimeRange {
    const { times = ALL_TIME } = this.description;
    return this.isPushingDown ? times : intersect(this.pushedDown.range, times);
  }

  /** Rewrites a copy of an expression over rows; must not contain queries, which are rewritten in place. @throws Unfit, TsdbError */
  rewrite(node: Expression): Typed {
    let value = this.isPushingDown ? undefined : this.rewritten.get(node);
    if (value !== undefined) return value;
    if (someNode(node, ({ class: kind }) => kind === "SUBQUERY")) unfit();
    value = rewriteExpression(node, this.context, this.scope);
    if (!this.isPushingDown) this.rewritten.set(node, value);
    return value;
  }

  resolve(names: readonly string[]): Resolved {
    return this.scope.resolve(names);
  }

  /** The table's column denoted by an expression; null for anything else. */
  column(node: Expression): ColumnDef | null {
    if (node.class !== "COLUMN_REF") return null;
    const { source } = this.resolve(node.column_names).value;
    return source?.scan === this.rows ? this.rows.defs[source.index]! : null;
  }

  /** The select list item with this name. */
  item(node: Expression): Expression | undefined {
    return node.class === "COLUMN_REF" && node.column_names.length === 1 ? this.items.get(node.column_names[0]!) : undefined;
  }

  /** The select list item at a position, counted from 1. */
  itemAt(node: Expression): Expression | undefined {
    return node.class === "CONSTANT" ? this.node.select_list[Number(node.value.value) - 1] : undefined;
  }

  /** True if the value is equal in all rows of a series: an expression over tags. */
  isOfSeries(node: Expression): boolean {
    return !someNode(node, (part) => {
      switch (part.class) {
        case "COLUMN_REF":
          return this.column(part)?.type !== ColumnType.tag;
        case "FUNCTION":
          return isVolatile(part) || isAggregateCall(part);
        case "OPERATOR":
          return part.type === "GROUPING_FUNCTION";
        case "WINDOW":
        case "SUBQUERY":
        case "STAR":
        case "LAMBDA":
        case "POSITIONAL_REFERENCE":
          return true;
        default:
          return false;
      }
    });
  }
}

interface TableRows {
  readonly rows: ScanUse;
  readonly columns: readonly OutputColumn[];
}

/** By the columns of a table's definition, which statements share, as they do what is made of them: nothing changes it. */
const known = new WeakMap<EncodedColumns, Map<boolean, TableRows>>();

function rowsOf({ defs, columns: encoded, takesConditions }: TableDescription): TableRows {
  let byConditions = known.get(encoded);
  if (byConditions === undefined) {
    byConditions = new Map();
    known.set(encoded, byConditions);
  }
  let found = byConditions.get(takesConditions);
  if (found === undefined) {
    const rows: ScanUse = {
      ...{ handle: 0, defs, columns: encoded, takesConditions, selectsExactly: false },
      ...{ range: ALL_TIME, tags: [], fields: [], conditions: [], newestOnly: false, present: [], stake: null },
    };
    const columns = encoded.map(
      ({ name, type }, index): OutputColumn => ({ name, kind: kindOfColumn(type), source: { scan: rows, index } }),
    );
    found = { rows, columns };
    byConditions.set(takesConditions, found);
  }
  return found;
}

/** True for SELECT DISTINCT, with or without ON. */
export function isDistinct(node: SelectNode): boolean {
  return node.modifiers.some((modifier) => modifier.type === "DISTINCT_MODIFIER" && modifier.distinct_on_targets.length === 0);
}
