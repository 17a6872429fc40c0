// A SELECT that groups one table's rows by tags and a bin of time becomes a SELECT over groups which the storage makes. The tree is changed
// before its rewrite, and only if nothing of it is left that needs single rows: every name means a tag grouped by, every time is the bin,
// every aggregate one of the storage's. What stands around them (HAVING, ORDER BY, windows, arithmetic) stays with DuckDB.
import { type Aggregate, aggregateColumns } from "../../model/aggregate.ts";
import { type ColumnDef, ColumnType } from "../../model/column.ts";
import { TsdbError } from "../../model/errors.ts";
import { ALL_TIME } from "../../model/scan.ts";
import { tableNameOf } from "../check.ts";
import { kindOfColumn, type ScanUse, type TimeBin, type Typed } from "../kind.ts";
import { encodeName, internalName } from "../names.ts";
import { type CteMap, type OutputColumn, Scope } from "../scope.ts";
import type { BaseTable, ColumnRef, Expression, Modifier, SelectNode } from "../tree.ts";
import { type Absorbed, absorb } from "./absorb.ts";
import { isAggregateCall, storageAggregate, storageSelectorPart } from "./aggregate-call.ts";
import { rewriteExpression } from "./expression.ts";
import { type From, scanOf } from "./from.ts";
import { type GroupableTable, itemAlias, type RewriteContext } from "./rewriter.ts";
import { selectorPart } from "./selector.ts";
import { conjunction, mapChildren, someNode } from "./walk.ts";

/** Thrown inside when a part of a SELECT needs rows. */
class NeedsRows extends Error {}

function needsRows(): never {
  throw new NeedsRows();
}

/** Changes `node` to read groups, and gives its new FROM; null, and nothing changed, when that cannot be. */
export function pushAggregate(node: SelectNode, context: RewriteContext, outer: Scope | null, ctes: CteMap): From | null {
  const table = groupableTable(node, context, ctes);
  if (table === null) return null;
  try {
    return new Grouping(node, node.from_table as BaseTable, table, context, outer, ctes).push();
  } catch (error) {
    // a mistake in the statement is found again by whoever rewrites it as it is
    if (error instanceof NeedsRows || error instanceof TsdbError) return null;
    throw error;
  }
}

function groupableTable(node: SelectNode, context: RewriteContext, ctes: CteMap): GroupableTable | null {
  const from = node.from_table;
  if (from.type !== "BASE_TABLE" || from.sample !== null || node.sample !== null || from.column_name_alias.length > 0) return null;
  if (from.schema_name === "" && from.catalog_name === "" && ctes.has(from.table_name)) return null;
  const isGrouped = node.group_expressions.length > 0 || node.aggregate_handling === "FORCE_AGGREGATES" || isDistinct(node);
  if (!isGrouped && !node.select_list.some(hasAggregate) && (node.having === null || !hasAggregate(node.having))) return null;
  const { schema, table } = tableNameOf(from);
  return context.tables.groupable(schema, table);
}

function isDistinct(node: SelectNode): boolean {
  return node.modifiers.some((modifier) => modifier.type === "DISTINCT_MODIFIER" && modifier.distinct_on_targets.length === 0);
}

function hasAggregate(node: Expression): boolean {
  return someNode(node, isAggregateCall);
}

/** Where an expression stands: that decides what an alias means there. */
type Clause = "select" | "where" | "filter" | "order";

/** Functions whose value differs from call to call. */
const VOLATILE: ReadonlySet<string> = new Set(["random", "gen_random_uuid", "uuid", "uuidv4", "uuidv7"]);

class Grouping {
  /** The table as rows, for finding out what names mean; nothing reads it. */
  private readonly rows: ScanUse;
  private readonly scope: Scope;
  private readonly alias: string;
  private readonly aliases = new Map<string, Expression>();
  private readonly tags = new Map<number, ColumnDef>();
  private bin: TimeBin | null = null;
  /** SELECT DISTINCT of keys: the groups themselves. */
  private readonly isListOfKeys: boolean;
  private readonly aggregates = new Map<string, { readonly aggregate: Aggregate; readonly name: string }>();

  constructor(
    private readonly node: SelectNode,
    private readonly from: BaseTable,
    private readonly table: GroupableTable,
    private readonly context: RewriteContext,
    outer: Scope | null,
    ctes: CteMap,
  ) {
    this.rows = { handle: 0, defs: table.defs, selectsExactly: false, range: ALL_TIME, tags: [], fields: [] };
    this.alias = from.alias !== "" ? from.alias : from.table_name;
    const columns = table.defs.map(({ name, type }, index): OutputColumn => {
      return { name: encodeName(name), kind: kindOfColumn(type), source: { scan: this.rows, index } };
    });
    this.isListOfKeys =
      isDistinct(node) &&
      node.group_expressions.length + node.group_sets.length === 0 &&
      node.aggregate_handling === "STANDARD_HANDLING" &&
      node.having === null &&
      node.qualify === null;
    this.scope = new Scope([{ alias: this.alias, columns }], outer, ctes);
  }

  push(): From {
    const { node } = this;
    const names = node.select_list.map(itemAlias);
    names.forEach((name, i) => {
      if (name !== null && !this.aliases.has(name)) this.aliases.set(name, node.select_list[i]!);
    });
    const groups = this.groupExpressions();
    for (const group of groups) this.addKey(this.rewrite(group));
    const absorbed = absorb(node.where_clause, this.rows, (condition) => this.rewrite(condition));
    const select_list = node.select_list.map((item, i) => {
      const value = this.replace(item, "select");
      const name = names[i] ?? (item.class === "COLUMN_REF" ? item.column_names.at(-1)! : "");
      return { ...value, alias: name };
    });
    const filters = absorbed.rest.map((condition) => this.keyFilter(condition));
    if (node.having !== null) filters.push(this.replace(node.having, "filter"));
    const qualify = node.qualify === null ? null : this.replace(node.qualify, "filter");
    const modifiers = node.modifiers.flatMap((modifier) => this.modifier(modifier));
    // without GROUP BY it is the aggregates that make groups
    if (this.isListOfKeys ? this.aggregates.size > 0 && groups.length > 0 : groups.length === 0 && this.aggregates.size === 0) needsRows();
    const from = this.groupsAsTable(absorbed);
    Object.assign(node, { select_list, qualify, modifiers, where_clause: conjunction(filters), having: null });
    Object.assign(node, { group_expressions: [], group_sets: [], aggregate_handling: "STANDARD_HANDLING" });
    return from;
  }

  /** What rows are grouped by, as expressions over rows. */
  private groupExpressions(): Expression[] {
    const { node } = this;
    if (node.aggregate_handling === "FORCE_AGGREGATES") {
      const keys = node.select_list.filter((item) => !hasAggregate(item));
      return keys.length > 0 ? keys : needsRows();
    }
    if (node.group_expressions.length === 0) {
      if (node.group_sets.length > 0) needsRows();
      return this.isListOfKeys && !node.select_list.some(hasAggregate) ? node.select_list : [];
    }
    const [set, ...others] = node.group_sets;
    if (others.length > 0 || (set !== undefined && set.length !== node.group_expressions.length)) needsRows();
    return node.group_expressions.map((group) => this.groupExpression(group));
  }

  /** A place in the select list, a column, or an alias: DuckDB's order. */
  private groupExpression(group: Expression): Expression {
    if (group.class === "CONSTANT") {
      const place = Number(group.value.value);
      return this.node.select_list[place - 1] ?? needsRows();
    }
    if (group.class !== "COLUMN_REF" || this.scope.resolve(group.column_names).found) return group;
    const item = group.column_names.length === 1 ? this.aliases.get(group.column_names[0]!) : undefined;
    return item ?? needsRows();
  }

  private addKey(key: Typed): void {
    const { source, bin } = key;
    if (bin !== undefined && bin.scan === this.rows) {
      if (this.bin !== null && !sameBin(this.bin, bin)) needsRows();
      this.bin = bin;
      return;
    }
    const def = source?.scan === this.rows ? this.rows.defs[source.index] : undefined;
    if (def?.type !== ColumnType.tag) needsRows();
    this.tags.set(def.id, def);
  }

  /** What an expression over rows is. Queries inside would be rewritten for good. */
  private rewrite(node: Expression): Typed {
    if (someNode(node, ({ class: kind }) => kind === "SUBQUERY")) needsRows();
    return rewriteExpression(node, this.context, this.scope);
  }

  /** A condition on rows that only looks at what they are grouped by is one on groups. */
  private keyFilter(condition: Expression): Expression {
    let hasColumn = false;
    const isUnfit = (node: Expression): boolean => {
      hasColumn ||= node.class === "COLUMN_REF";
      return node.class === "WINDOW" || isAggregateCall(node) || (node.class === "FUNCTION" && VOLATILE.has(node.function_name));
    };
    if (someNode(condition, isUnfit) || !hasColumn) needsRows();
    return this.replace(condition, "where");
  }

  private modifier(modifier: Modifier): Modifier[] {
    if (modifier.type === "ORDER_MODIFIER") {
      const orders = modifier.orders.map((order) => ({ ...order, expression: this.orderKey(order.expression) }));
      return [{ ...modifier, orders }];
    }
    if (modifier.type !== "DISTINCT_MODIFIER") return [modifier];
    // groups are distinct already
    if (this.isListOfKeys && this.aggregates.size === 0) return [];
    return [{ ...modifier, distinct_on_targets: modifier.distinct_on_targets.map((target) => this.orderKey(target)) }];
  }

  /** A bare name is an alias first; a number is a place. */
  private orderKey(node: Expression): Expression {
    const isAlias = node.class === "COLUMN_REF" && node.column_names.length === 1 && this.aliases.has(node.column_names[0]!);
    return isAlias || node.class === "CONSTANT" ? node : this.replace(node, "order");
  }

  /** An expression over rows as one over groups. */
  private replace(node: Expression, clause: Clause): Expression {
    switch (node.class) {
      case "COLUMN_REF":
        return this.replaceColumn(node, clause);
      case "SUBQUERY":
      case "STAR":
      case "LAMBDA":
      case "POSITIONAL_REFERENCE":
        return needsRows();
      case "FUNCTION":
        if (isAggregateCall(node)) return { ...(storageAggregate(node, this) ?? needsRows()), alias: node.alias };
        if (BIN_FUNCTIONS.has(node.function_name) && this.bin !== null && this.isBin(this.rewrite(node))) return this.ref(BIN_NAME);
        break;
      case "OPERATOR": {
        if (node.type === "GROUPING_FUNCTION") needsRows();
        const part = selectorPart(node);
        if (part !== null) return storageSelectorPart(part.selector, part.part, this) ?? needsRows();
        break;
      }
    }
    return mapChildren(node, (child) => this.replace(child, clause));
  }

  private isBin({ bin }: Typed): boolean {
    return bin !== undefined && bin.scan === this.rows && this.bin !== null && sameBin(bin, this.bin);
  }

  private replaceColumn(node: ColumnRef, clause: Clause): Expression {
    const { source, found } = this.scope.resolve(node.column_names);
    const item = node.column_names.length === 1 ? this.aliases.get(node.column_names[0]!) : undefined;
    if (source?.scan === this.rows) {
      // whether an alias or a column of that name is meant differs from clause to clause
      if (item !== undefined && clause !== "select" && !this.isColumn(item, source.index)) needsRows();
      const def = this.rows.defs[source.index]!;
      return this.tags.has(def.id) ? this.ref(encodeName(def.name), node.query_location) : needsRows();
    }
    if (found || item === undefined || clause === "where") needsRows();
    return clause === "filter" ? this.replace({ ...item, alias: "" }, "select") : node;
  }

  private isColumn(item: Expression, index: number): boolean {
    const source = item.class === "COLUMN_REF" ? this.scope.resolve(item.column_names).source : undefined;
    return source?.scan === this.rows && source.index === index;
  }

  /** CallParts: the column that an argument names. */
  column(argument: Expression): ColumnDef | null {
    if (argument.class !== "COLUMN_REF") return null;
    const { source } = this.scope.resolve(argument.column_names);
    return source?.scan === this.rows ? this.rows.defs[source.index]! : null;
  }

  /** CallParts: a column of the groups. */
  value(aggregate: Aggregate): Expression {
    const key = `${aggregate.fn} ${aggregate.column?.id}`;
    let known = this.aggregates.get(key);
    if (known === undefined) {
      const text = `${aggregate.fn}(${aggregate.column === null ? "*" : encodeName(aggregate.column.name)})`;
      known = { aggregate, name: internalName(text, this.aggregates.size + 1) };
      this.aggregates.set(key, known);
    }
    return this.ref(known.name);
  }

  /** A column of the groups, by its full name: no alias is one. */
  private ref(name: string, location?: number): ColumnRef {
    const place = location === undefined ? {} : { query_location: location };
    return { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [this.alias, name], ...place };
  }

  private groupsAsTable({ range, tags, fields }: Absorbed): From {
    const groupBy = [...this.tags.values()];
    const aggregates = [...this.aggregates.values()];
    const { bin } = this;
    const first = bin === null || range.minNs >= bin.firstNs ? range.minNs : bin.firstNs;
    const request = {
      range: { minNs: first, maxNs: range.maxNs },
      tags,
      fields,
      bins: bin === null ? null : { originNs: bin.originNs, widthNs: bin.widthNs },
      groupBy,
      aggregates: aggregates.map(({ aggregate }) => aggregate),
    };
    const columnNames = [
      ...(bin === null ? [] : [BIN_NAME]),
      ...groupBy.map(({ name }) => encodeName(name)),
      ...aggregates.map(({ name }) => name),
    ];
    const unbinned = { minNs: range.minNs, maxNs: range.maxNs < first ? range.maxNs : first - 1n };
    const scan = this.table.groups({ request, columnNames, unbinned }) ?? needsRows();
    const columns = aggregateColumns(request).map((type, index): OutputColumn => {
      const source = type === ColumnType.tag ? { source: { scan, index } } : {};
      return { name: columnNames[index]!, kind: kindOfColumn(type), ...source };
    });
    return {
      ref: scanOf(scan, this.alias, this.from),
      relations: [{ alias: this.alias, columns }],
      narrowable: new Map([[scan, "always"]]),
    };
  }
}

const BIN_FUNCTIONS: ReadonlySet<string> = new Set(["date_bin", "date_trunc", "datetrunc", "time_bucket"]);
const BIN_NAME = internalName("time bin", 0);

function sameBin(a: TimeBin, b: TimeBin): boolean {
  return a.widthNs === b.widthNs && (a.originNs - b.originNs) % a.widthNs === 0n;
}
