// Rewrites a SELECT that groups one table's rows by tags, a time bin and values of fields to a SELECT over groups that the scan
// computes. The tree is changed before its rewrite, and only if nothing in it needs single rows: every name is a grouping tag or field,
// every time is the bin, every aggregate one of the scan's. Everything around them (HAVING, ORDER BY, windows, arithmetic) is left to
// DuckDB. If values of tags are counted beside other aggregates, the scan groups by these tags as well, and DuckDB aggregates its
// groups.

import { TsdbError } from "../../../model/errors.ts";
import { type Aggregate, type AggregateFunction, aggregateColumns } from "../../../model/query/aggregate.ts";
import {
  type ComputedColumn,
  columnTypeOf,
  expressionText,
  type FieldExpression,
  isComputed,
} from "../../../model/query/field-expression.ts";
import type { TimeRange } from "../../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { type GroupSource, kindOfColumn, type ScanUse, type TimeBin, type Typed } from "../../bind/kind.ts";
import { mapRange } from "../../bind/plan-clock.ts";
import type { OutputColumn } from "../../bind/scope.ts";
import { encodeName, internalName } from "../../parse/names.ts";
import type { ColumnRef, Expression, FunctionCall, Modifier, SelectNode } from "../../parse/tree.ts";
import { call, stringConstant } from "../../parse/tree.ts";
import type { From } from "../context.ts";
import { ExpressionNumbers } from "../expression-numbers.ts";
import { scanOf } from "../from.ts";
import { hasAggregate, isAggregateCall, storageAggregate, storageSelectorPart } from "../functions/aggregate-call.ts";
import { countedTag, overParts } from "../functions/group-parts.ts";
import { selectorPart } from "../functions/selector.ts";
import { isDistinct, type OneTable, Unfit, unfit } from "../one-table.ts";
import { isVolatile } from "../volatile.ts";
import { conjunction, mapChildren, someNode } from "../walk.ts";
import { fieldExpression } from "./field-expressions.ts";
import { combinationColumn, overCombinations, tagsUnder } from "./series-conditions.ts";
import { ValueKeys, valueOfKey } from "./value-keys.ts";
import type { PushedDown } from "./where.ts";

/** A scan of groups, registered under a new handle; null if that is not possible. */
type GroupScan = (source: GroupSource) => ScanUse | null;

/** A SELECT over groups, and these. */
export interface GroupedSelect {
  readonly clauses: Omit<SelectNode, "type" | "cte_map" | "from_table" | "sample">;
  readonly source: GroupSource;
}

/** Changes the SELECT to read groups, and returns its new FROM; null, without a change, if that is not possible. */
export function pushAggregate(table: OneTable, groups: GroupScan): From | null {
  const grouped = groupedSelect(table);
  const scan = grouped === null ? null : groups(grouped.source);
  if (grouped === null || scan === null) return null;
  Object.assign(table.node, grouped.clauses);
  return groupsAsTable(table, scan, grouped.source);
}

/** The SELECT over groups; null if the scan cannot compute them. Changes nothing. */
export function groupedSelect(table: OneTable): GroupedSelect | null {
  if (!asksForGroups(table.node)) return null;
  try {
    return new Grouping(table).select();
  } catch (error) {
    // the plain rewrite reports errors of the statement again
    if (error instanceof Unfit || error instanceof TsdbError) return null;
    throw error;
  }
}

function groupsAsTable({ alias, from }: OneTable, scan: ScanUse, { request, columnNames }: GroupSource): From {
  const { bins, groupBy, values = [] } = request;
  const firstValue = groupBy.length + (bins === null ? 0 : 1);
  const columns = aggregateColumns(request).map((type, index): OutputColumn => {
    const value = values[index - firstValue];
    const mark = value === undefined || isComputed(value) ? {} : { mark: type };
    const column = { name: columnNames[index]!, kind: kindOfColumn(type), ...mark };
    if (type === ColumnType.tag) return { ...column, source: { scan, index } };
    if (type === ColumnType.integer) return { ...column, arrow: "Int64" };
    return type === ColumnType.unsigned ? { ...column, arrow: "UInt64" } : column;
  });
  return { ref: scanOf(scan, alias, from), relations: [{ alias, columns }], narrowable: new Map([[scan, "always"]]) };
}

function asksForGroups(node: SelectNode): boolean {
  if (node.group_expressions.length > 0 || node.aggregate_handling === "FORCE_AGGREGATES" || isDistinct(node)) return true;
  return node.select_list.some(hasAggregate) || (node.having !== null && hasAggregate(node.having));
}

/** Above this number of groups by values or parts, which then have few rows each, DuckDB aggregates rows in less time. */
const GROUPS_MAX = 100_000;

/** The clause of an expression, which determines the meaning of aliases. */
type Clause = "select" | "where" | "filter" | "order";

/** A grouping expression over tags. */
interface ComputedKey {
  /** As written. */
  readonly group: Expression;
  /** Of the grouping expression (ExpressionNumbers). */
  readonly number: number;
  /** Over combinations. */
  readonly node: Expression;
  readonly tags: readonly ColumnDef[];
}

class Grouping {
  private readonly node: SelectNode;
  private readonly tags = new Map<number, ColumnDef>();
  /** Keys that are expressions over tags. */
  private readonly computed: ComputedKey[] = [];
  private readonly values = new ValueKeys();
  private readonly numbers = new ExpressionNumbers();
  /** Tags whose values are counted. */
  private readonly counted = new Map<number, ColumnDef>();
  private bin: TimeBin | null = null;
  /** SELECT DISTINCT of keys: the groups themselves. */
  private readonly isListOfKeys: boolean;
  /** By their texts. */
  private readonly computedColumns = new Map<string, ComputedColumn>();
  private readonly aggregates = new Map<string, { readonly aggregate: Aggregate; readonly name: string }>();

  constructor(private readonly table: OneTable) {
    const { node } = table;
    this.node = node;
    this.isListOfKeys =
      isDistinct(node) &&
      node.group_expressions.length + node.group_sets.length === 0 &&
      node.aggregate_handling === "STANDARD_HANDLING" &&
      node.having === null &&
      node.qualify === null;
  }

  select(): GroupedSelect {
    const { node } = this;
    const groups = this.groupExpressions();
    for (const group of groups) this.addKey(group);
    this.addCounted();
    const { pushedDown } = this.table;
    const select_list = node.select_list.map((item, i) => {
      const value = this.replace(item, "select");
      const name = this.table.itemNames[i] ?? (item.class === "COLUMN_REF" ? item.column_names.at(-1)! : "");
      return { ...value, alias: name };
    });
    const filters = pushedDown.rest.map((condition) => this.keyFilter(condition));
    const having = node.having === null ? null : this.replace(node.having, "filter");
    if (having !== null && !this.readsParts) filters.push(having);
    const qualify = node.qualify === null ? null : this.replace(node.qualify, "filter");
    const modifiers = node.modifiers.flatMap((modifier) => this.modifier(modifier));
    // without GROUP BY only aggregates create groups
    if (this.isListOfKeys ? this.aggregates.size > 0 && groups.length > 0 : groups.length === 0 && this.aggregates.size === 0) unfit();
    const keys = this.readsParts ? this.partKeys() : [];
    const source = this.groups(pushedDown);
    const clauses = {
      ...{ select_list, qualify, modifiers, where_clause: conjunction(filters), having: this.readsParts ? having : null },
      ...{ group_expressions: keys, group_sets: keys.length === 0 ? [] : [keys.map((_, i) => i)] },
      aggregate_handling: "STANDARD_HANDLING" as const,
    };
    return { clauses, source };
  }

  /** True if the scan's groups are parts of the statement's. */
  private get readsParts(): boolean {
    return this.counted.size > 0;
  }

  private addCounted(): void {
    const { select_list, having, qualify, modifiers } = this.node;
    const orders = modifiers.flatMap((modifier) => (modifier.type === "ORDER_MODIFIER" ? modifier.orders : []));
    const clauses = [...select_list, having, qualify, ...orders.map(({ expression }) => expression)].filter((node) => node !== null);
    const counted = new Map<number, ColumnDef>();
    let others = 0;
    for (const clause of clauses) {
      someNode(clause, (node) => {
        if (node.class !== "FUNCTION" || !isAggregateCall(node)) return false;
        const def = countedTag(node, (argument) => this.table.column(argument));
        if (def === null) others++;
        else counted.set(def.id, def);
        return false;
      });
    }
    // alone, the newest rows of series have all values; with bins, parts can be as many as rows
    if (others === 0 || this.bin !== null) return;
    for (const [id, def] of counted) this.counted.set(id, def);
  }

  /** The statement's keys over parts. */
  private partKeys(): Expression[] {
    return [
      ...[...this.tags.values()].map(({ name }) => this.ref(encodeName(name))),
      ...this.computed.map(({ group }) => this.overGroups(group)),
      ...this.values.defs.map((def) => this.ref(valueName(def))),
    ];
  }

  /** The grouping expressions, as expressions over rows. */
  private groupExpressions(): Expression[] {
    const { node } = this;
    if (node.aggregate_handling === "FORCE_AGGREGATES") {
      const keys = node.select_list.filter((item) => !hasAggregate(item));
      return keys.length > 0 ? keys : unfit();
    }
    if (node.group_expressions.length === 0) {
      if (node.group_sets.length > 0) unfit();
      return this.isListOfKeys && !node.select_list.some(hasAggregate) ? node.select_list : [];
    }
    const [set, ...others] = node.group_sets;
    if (others.length > 0 || (set !== undefined && set.length !== node.group_expressions.length)) unfit();
    return node.group_expressions.map((group) => this.groupExpression(group));
  }

  /** A position in the select list, a column, or an alias, in DuckDB's order. */
  private groupExpression(group: Expression): Expression {
    if (group.class === "CONSTANT") return this.table.itemAt(group) ?? unfit();
    if (group.class !== "COLUMN_REF" || this.table.resolve(group.column_names).found) return group;
    return this.table.item(group) ?? unfit();
  }

  private addKey(group: Expression): void {
    const key = this.table.rewrite(group);
    const { source, bin } = key;
    if (bin !== undefined && bin.scan === this.table.rows) {
      if (this.bin !== null && !sameBin(this.bin, bin)) unfit();
      this.bin = bin;
      return;
    }
    const def = source?.scan === this.table.rows ? this.table.rows.defs[source.index] : undefined;
    if (def?.type === ColumnType.tag) this.tags.set(def.id, def);
    else if (def !== undefined && def.type !== ColumnType.time) this.values.addColumn(def);
    else this.addComputed(group, key);
  }

  private addComputed(group: Expression, key: Typed): void {
    const { rows } = this.table;
    const number = this.numbers.of(group);
    const found = rows.takesConditions ? tagsUnder(key.node) : null;
    if (found?.scan === rows) {
      this.computed.push({ group, number, node: overCombinations(key.node), tags: found.tags });
      return;
    }
    const value = valueOfKey(key, rows) ?? unfit();
    this.values.addComputed({ number, column: this.computedOf(value.expression), show: value.show });
  }

  /** A condition on rows that only uses grouping expressions becomes one on groups. */
  private keyFilter(condition: Expression): Expression {
    let hasColumn = false;
    const isUnfit = (node: Expression): boolean => {
      hasColumn ||= node.class === "COLUMN_REF";
      return node.class === "WINDOW" || isAggregateCall(node) || isVolatile(node);
    };
    if (someNode(condition, isUnfit) || !hasColumn) unfit();
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

  /** A bare name is an alias first; a number is a position. */
  private orderKey(node: Expression): Expression {
    return node.class === "CONSTANT" || this.table.item(node) !== undefined ? node : this.replace(node, "order");
  }

  /** Rewrites an expression over rows to one over groups. */
  private replace(node: Expression, clause: Clause): Expression {
    if (node.class !== "COLUMN_REF" && node.class !== "CONSTANT") {
      const number = this.numbers.of(node);
      if (this.computed.some((key) => key.number === number)) return this.overGroups(node);
      const value = this.values.find(number);
      if (value !== undefined) return { ...value.show(this.ref(valueName(value.column))), alias: node.alias };
    }
    switch (node.class) {
      case "COLUMN_REF":
        return this.replaceColumn(node, clause);
      case "SUBQUERY":
      case "STAR":
      case "LAMBDA":
      case "POSITIONAL_REFERENCE":
        return unfit();
      case "FUNCTION":
        if (isAggregateCall(node)) return { ...this.aggregate(node), alias: node.alias };
        if (BIN_FUNCTIONS.has(node.function_name) && this.bin !== null) {
          const bin = this.table.rewrite(node);
          if (this.isBin(bin)) return this.binAs(bin.zone);
        }
        break;
      case "OPERATOR": {
        if (node.type === "GROUPING_FUNCTION") unfit();
        const part = selectorPart(node);
        if (part !== null) return storageSelectorPart(part.selector, part.part, this) ?? unfit();
        break;
      }
    }
    return mapChildren(node, (child) => this.replace(child, clause));
  }

  private aggregate(node: FunctionCall): Expression {
    const tag = this.readsParts ? countedTag(node, (argument) => this.table.column(argument)) : null;
    if (tag === null) return storageAggregate(node, this) ?? unfit();
    return { ...node, children: [this.ref(encodeName(tag.name))] };
  }

  /** A computed key over the tags of its group, which have the same value of it in all its rows. */
  private overGroups(node: Expression): Expression {
    if (node.class !== "COLUMN_REF") return mapChildren(node, (child) => this.overGroups(child));
    return this.ref(encodeName((this.table.column(node) ?? unfit()).name), node.query_location);
  }

  /** The bin's start, as a time with the zone used in the SELECT. */
  private binAs(zone: string | undefined): Expression {
    return zone === undefined ? this.ref(BIN_NAME) : call("tz", [this.ref(BIN_NAME), stringConstant(zone)]);
  }

  private isBin({ bin }: Typed): boolean {
    return bin !== undefined && bin.scan === this.table.rows && this.bin !== null && sameBin(bin, this.bin);
  }

  private replaceColumn(node: ColumnRef, clause: Clause): Expression {
    const { found } = this.table.resolve(node.column_names);
    const item = this.table.item(node);
    const def = this.table.column(node);
    if (def !== null) {
      // whether a name denotes an alias or a column differs between clauses
      if (item !== undefined && clause !== "select" && this.table.column(item)?.id !== def.id) unfit();
      return this.tags.has(def.id) || this.values.has(def) ? this.ref(encodeName(def.name), node.query_location) : unfit();
    }
    if (found || item === undefined || clause === "where") unfit();
    return clause === "filter" ? this.replace({ ...item, alias: "" }, "select") : node;
  }

  /** CallParts: the column denoted by an argument. */
  column(argument: Expression): ColumnDef | null {
    return this.table.column(argument);
  }

  /** CallParts: an argument as a column that the scan computes. */
  computedColumn(argument: Expression, fn: AggregateFunction): ComputedColumn | null {
    const { rows } = this.table;
    if (!rows.takesConditions || hasAggregate(argument)) return null;
    const value = this.table.rewrite(argument);
    // the order of NaN with a sign is not the scan's
    const isOrdered = (fn === "min" || fn === "max") && value.hasLeastNan === true;
    const found = value.arrow !== undefined || isOrdered ? null : fieldExpression(value.node);
    return found?.scan === rows ? this.computedOf(found.expression) : null;
  }

  private computedOf(expression: FieldExpression): ComputedColumn {
    const { defs } = this.table.rows;
    const name = expressionText(expression, (id) => defs.find((def) => def.id === id)!.name);
    let column = this.computedColumns.get(name);
    if (column === undefined) {
      column = { id: -1 - this.computedColumns.size, name, type: columnTypeOf(expression.type), expression };
      this.computedColumns.set(name, column);
    }
    return column;
  }

  /** CallParts: the value of a constant. */
  number(argument: Expression): number | null {
    const { number } = this.table.rewrite(argument);
    return number === undefined ? null : Number(number);
  }

  /** CallParts: a column of the groups, or an aggregate over their parts. */
  value(aggregate: Aggregate): Expression {
    if (!this.readsParts) return this.ofScan(aggregate);
    return overParts(aggregate, (part) => this.ofScan(part)) ?? unfit();
  }

  private ofScan(aggregate: Aggregate): Expression {
    const parts = aggregate.fn === "quantile" ? ` ${aggregate.share} ${aggregate.size} ${aggregate.weight?.id}` : "";
    const key = `${aggregate.fn} ${aggregate.column?.id}${parts}`;
    let known = this.aggregates.get(key);
    if (known === undefined) {
      const text = `${aggregate.fn}(${aggregate.column === null ? "*" : encodeName(aggregate.column.name)})`;
      known = { aggregate, name: internalName(text, this.aggregates.size + 1) };
      this.aggregates.set(key, known);
    }
    return this.ref(known.name);
  }

  /** A column of the groups, by its qualified name, which no alias has. */
  private ref(name: string, location?: number): ColumnRef {
    const built: ColumnRef = { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [this.table.alias, name] };
    if (location !== undefined) built.query_location = location;
    return built;
  }

  /** What tells groups apart, if not all their tags do. */
  private keys(): Expression[] | null {
    if (this.computed.length === 0 || this.readsParts) return null;
    return [...[...this.tags.values()].map(({ name }) => combinationColumn(name)), ...this.computed.map(({ node }) => node)];
  }

  private groups({ range, tags, fields, conditions }: PushedDown): GroupSource {
    const groupBy = [
      ...new Map([
        ...this.tags,
        ...this.counted,
        ...this.computed.flatMap((key) => key.tags.map((tag) => [tag.id, tag] as const)),
      ]).values(),
    ];
    const aggregates = [...this.aggregates.values()];
    const { bin } = this;
    const groups = {
      bins: bin === null ? null : { originNs: bin.originNs, widthNs: bin.widthNs },
      groupBy,
      aggregates: aggregates.map(({ aggregate }) => aggregate),
      ...(this.values.isEmpty ? {} : { values: this.values.defs }),
      ...(this.readsParts || !this.values.isEmpty ? { groupsMax: GROUPS_MAX } : {}),
    };
    const columnNames = [
      ...(bin === null ? [] : [BIN_NAME]),
      ...groupBy.map(({ name }) => encodeName(name)),
      ...this.values.defs.map(valueName),
      ...aggregates.map(({ name }) => name),
    ];
    const firstNs = ({ minNs }: TimeRange) => (bin === null || minNs >= bin.firstNs ? minNs : bin.firstNs);
    const binned = mapRange(range, (times) => ({ minNs: firstNs(times), maxNs: times.maxNs }));
    const unbinned = mapRange(range, (times) => {
      const { minNs, maxNs } = times;
      const first = firstNs(times);
      return { minNs, maxNs: maxNs < first ? maxNs : first - 1n };
    });
    const request = { range: binned, tags, fields, ...groups };
    return { request, columnNames, unbinned, conditions, keys: this.keys() };
  }
}

const BIN_FUNCTIONS: ReadonlySet<string> = new Set(["date_bin", "date_bin_wallclock", "date_trunc", "datetrunc", "time_bucket"]);
const BIN_NAME = internalName("time bin", 0);

/** The name of a value in the groups. */
function valueName(def: ColumnDef): string {
  return isComputed(def) ? internalName(def.name, -def.id) : encodeName(def.name);
}

function sameBin(a: TimeBin, b: TimeBin): boolean {
  return a.widthNs === b.widthNs && (a.originNs - b.originNs) % a.widthNs === 0n;
}
