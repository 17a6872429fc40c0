// Rewrites the checked tree of the dialect to a tree for DuckDB: tables become scans, parameters and now() constants, time operators keep
// nanoseconds. Changes the given tree in place.

import type { TimeRange } from "../../model/query/scan.ts";
import { checkLimit, STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import { CteScope } from "../bind/cte-scope.ts";
import { type Hint, type ScanUse, type Typed, typeNote, type Writable } from "../bind/kind.ts";
import { intersect } from "../bind/plan-clock.ts";
import type { CteMap, Derived, Narrowable, OutputColumn } from "../bind/scope.ts";
import { renameColumns, Scope, timesOfScan } from "../bind/scope.ts";
import { DICTIONARY, isDictionary, isNullConstant, NULL_TYPE, narrowInteger, sameType } from "../bind/type-notes.ts";
import { isFine } from "../parse/interval.ts";
import { rowCount } from "../parse/row-count.ts";
import type { Expression, Modifier, QueryNode, SelectNode } from "../parse/tree.ts";
import { call, integerConstant, operator } from "../parse/tree.ts";
import type { RewriteContext, RewriteInput } from "./context.ts";
import { asCondition, rewriteExpression } from "./expression.ts";
import { spelledStar, starColumns } from "./from.ts";
import { fillGaps } from "./gapfill/gapfill.ts";
import { containsStar, itemAlias } from "./item-name.ts";
import { rewriteOrders, rewriteUnlessNumber } from "./orders.ts";
import { withFieldHint } from "./pushdown/field-expressions.ts";
import { applyHints } from "./pushdown/narrow.ts";
import { withSeriesHint } from "./pushdown/series-conditions.ts";
import { type SelectSource, selectSource } from "./select-source.ts";
import { mergeSides } from "./set-operation.ts";
import { joinUnnestedGroups } from "./unnest-groups.ts";
import { asDuration } from "./values/comparison.ts";
import { wideConstant } from "./values/constant.ts";
import { expectFilter } from "./values/truth.ts";
import { conjunction, conjuncts, mapChildren, someNode } from "./walk.ts";

/** Rewrites a statement's query in place. */
export function rewriteStatement(node: QueryNode, input: RewriteInput): Derived {
  const context: RewriteContext = {
    ...input,
    sources: new Map(),
    expression: (node, scope) => rewriteExpression(node, context, scope),
    query: (node, outer, ctes) => rewriteQuery(node, context, outer, ctes),
  };
  return rewriteQuery(node, context, null, NO_CTES);
}

const NO_CTES: CteMap = CteScope.inside(null);

function rewriteQuery(node: QueryNode, context: RewriteContext, outer: Scope | null, outerCtes: CteMap): Derived {
  const ctes = rewriteCtes(node, context, outer, outerCtes);
  switch (node.type) {
    case "SELECT_NODE":
      return rewriteSelect(node, context, outer, ctes);
    case "SET_OPERATION_NODE": {
      const left = rewriteQuery(node.left, context, outer, ctes);
      const right = rewriteQuery(node.right, context, outer, ctes);
      const columns = mergeSides(node, left.columns, right.columns);
      rewriteModifiers(node.modifiers, context, new Scope([{ alias: "", columns: columns?.map(withoutNan) ?? null }], outer, ctes));
      return { columns, narrowable: NOTHING };
    }
    case "RECURSIVE_CTE_NODE": {
      const left = rewriteQuery(node.left, context, outer, ctes);
      // later rows are computed from earlier ones, so table properties do not apply
      const columns = left.columns?.map(({ source: _, times: __, numbers: ___, ...column }) => column) ?? null;
      const derived: Derived = { columns: renameColumns(columns, node.aliases), narrowable: NOTHING };
      rewriteQuery(node.right, context, outer, CteScope.inside(ctes).with(node.cte_name, derived));
      return derived;
    }
  }
}

const NOTHING: Narrowable = new Map();

function rewriteCtes(node: QueryNode, context: RewriteContext, outer: Scope | null, outerCtes: CteMap): CteMap {
  if (node.cte_map.map.length === 0) return outerCtes;
  let visible = CteScope.inside(outerCtes);
  for (const { key, value } of node.cte_map.map) {
    const { columns, narrowable } = rewriteQuery(value.query.node, context, outer, visible);
    visible = visible.with(key, { columns: renameColumns(columns, value.aliases), narrowable });
  }
  return visible;
}

function rewriteSelect(node: SelectNode, context: RewriteContext, outer: Scope | null, ctes: CteMap): Derived {
  const isFirstOfEach = hasDistinctOn(node);
  joinUnnestedGroups(node);
  fillGaps(node, context, ctes);
  const { from, narrowable, numbers, isValue } = selectSource(node, context, outer, ctes);
  const scope = new Scope(from.relations, outer, ctes);
  const times = timesUnder(node.where_clause, context, scope);
  scope.timeRange = times;
  const columns = rewriteSelectList(node, context, scope, { numbers, isValue });
  scope.timeRange = timesOfScan;
  if (node.where_clause !== null)
    node.where_clause = rewriteWhere(node.where_clause, context, scope, node.sample === null ? from.narrowable : null);
  scope.timeRange = times;
  // A literal number is the position of a column and stays.
  node.group_expressions = node.group_expressions.map((group) => rewriteUnlessNumber(group, context, scope));
  if (node.having !== null) node.having = expectFilter(rewriteExpression(qualifiedColumns(node.having, node, scope), context, scope)).node;
  if (node.group_sets.length > 1) node.having = ofRows(node.having);
  if (node.qualify !== null) node.qualify = expectFilter(rewriteExpression(node.qualify, context, scope)).node;
  rewriteModifiers(node.modifiers, context, scope, columns);
  return { columns: isFirstOfEach ? (columns?.map(withoutMark) ?? null) : columns, narrowable };
}

/** For DISTINCT ON: the vendor computes its columns by an aggregate, which drops marks. */
function withoutMark(column: OutputColumn): OutputColumn {
  return { ...column, mark: null, ...(isDictionary(column) ? { arrow: DICTIONARY } : {}) };
}

/** Of several queries DuckDB sorts by their columns alone. */
function withoutNan({ hasLeastNan: _, ...column }: OutputColumn): OutputColumn {
  return column;
}

function hasDistinctOn({ modifiers }: SelectNode): boolean {
  return modifiers.some((modifier) => modifier.type === "DISTINCT_MODIFIER" && modifier.distinct_on_targets.length > 0);
}

/** HAVING with names that are both a column of FROM and an alias resolved to the column: DuckDB would use the alias. */
function qualifiedColumns(node: Expression, select: SelectNode, scope: Scope): Expression {
  if (node.class === "LAMBDA") return node;
  if (node.class !== "COLUMN_REF") return mapChildren(node, (child) => qualifiedColumns(child, select, scope));
  const [name, ...others] = node.column_names;
  if (others.length > 0 || !select.select_list.some(({ alias }) => alias === name)) return node;
  const relation = scope.relationOf(name!);
  return relation === null ? node : { ...node, column_names: [relation.alias, name!] };
}

/** HAVING of grouping sets, for which no rows are no group: DuckDB's set of all rows is a group even then. */
function ofRows(having: Expression | null): Expression {
  const hasRows = operator(">", call("count_star", []), integerConstant(0));
  return conjunction(having === null ? [hasRows] : [having, hasRows])!;
}

/** The rest of a WHERE clause after narrowing the scans. `narrowable` null: the rows were sampled before. */
function rewriteWhere(where: Expression, context: RewriteContext, scope: Scope, narrowable: Narrowable | null): Expression | null {
  const left: Expression[] = [];
  for (const part of conjuncts(where)) {
    const value = expectFilter(rewriteExpression(part, context, scope));
    const { node, hints = [], isExact } = withFieldHint(withSeriesHint(asCondition(value)));
    const isDone = narrowable !== null && applyHints(hints, narrowable) && isExact === true;
    if (!isDone) left.push(node);
  }
  return conjunction(left);
}

/** The times of rows that pass a WHERE clause; always the same object, so that equal expressions stay equal. */
function timesUnder(where: Expression | null, context: RewriteContext, scope: Scope): (scan: ScanUse) => TimeRange {
  const known = new Map<ScanUse, TimeRange>();
  let hints: readonly Hint[] | null = null;
  return (scan) => {
    // unknown while the conditions themselves are rewritten
    const outer = scope.timeRange;
    scope.timeRange = timesOfScan;
    hints ??= (where === null ? [] : conjuncts(where))
      .filter((part) => !someNode(part, ({ class: kind }) => kind === "SUBQUERY"))
      .flatMap((part) => asCondition(rewriteExpression(part, context, scope)).hints ?? []);
    scope.timeRange = outer;
    let range = known.get(scan);
    if (range === undefined) {
      range = timesOfScan(scan);
      for (const hint of hints) if (hint.kind === "time" && hint.scan === scan) range = intersect(range, hint.range);
      known.set(scan, range);
    }
    return range;
  };
}

function rewriteSelectList(
  node: SelectNode,
  context: RewriteContext,
  scope: Scope,
  known: Pick<SelectSource, "numbers" | "isValue">,
): readonly OutputColumn[] | null {
  let outputs: OutputColumn[] | null = [];
  const items = node.select_list.flatMap((item) => spelledStar(item, scope));
  let shown = items.filter(({ class: kind }) => kind !== "STAR").length;
  node.select_list = items.map((item) => {
    const alias = itemAlias(item);
    // the alias belongs to the column, not to an argument within the rewritten expression
    const typed = shownInterval(rewriteExpression(withAlias(item, ""), context, scope));
    if (typed.node.class === "STAR") {
      const columns = starColumns(typed.node, scope);
      shown += columns?.length ?? 0;
      checkLimit("columns in one SELECT", shown, STATEMENT_LIMITS.columnsMax);
      if (columns === null) outputs = null;
      else outputs?.push(...columns);
      return typed.node;
    }
    if (containsStar(typed.node)) outputs = null;
    const numbers = known.numbers(item) ?? typed.numbers;
    const isWide = typed.kind === "integer" && !hasOwnWidth(item);
    const output: Writable<OutputColumn> = { ...typeNote(typed), name: alias ?? lastName(item), kind: typed.kind, isWide };
    if (isNullConstant(typed)) output.arrow = NULL_TYPE;
    const narrow = output.arrow === undefined ? narrowInteger([typed]) : null;
    if (narrow !== null) output.arrow = narrow;
    if (typed.times !== undefined) output.times = typed.times;
    if (typed.source !== undefined && known.isValue(item)) Object.assign(output, sameType(typed));
    else if (typed.source !== undefined) output.source = typed.source;
    if (typed.isOptional === true || node.group_sets.length > 1) output.isOptional = true;
    if (numbers !== undefined) output.numbers = numbers;
    if (isNeverNull(item)) output.isPresent = true;
    outputs?.push(output);
    if (alias !== null && !scope.aliases.has(alias)) scope.aliases.set(alias, { ...typeNote(typed), kind: typed.kind });
    const value = wideConstant(typed);
    return alias === null ? value : withAlias(value, alias);
  });
  return outputs;
}

function isNeverNull(item: Expression): boolean {
  if (item.class === "CONSTANT") return !item.value.is_null;
  if (item.class === "CAST") return !item.try_cast && isNeverNull(item.child);
  return item.class === "FUNCTION" && (item.function_name === "count" || item.function_name === "count_star");
}

/** True for a column, a cast or its negation, whose width the statement determines. */
function hasOwnWidth(item: Expression): boolean {
  if (item.class === "FUNCTION" && item.is_operator && item.children.length === 1) return item.children[0]!.class === "CAST";
  return item.class === "CAST" || item.class === "COLUMN_REF";
}

/** An interval with nanoseconds is returned as a duration: DuckDB's intervals have microseconds. */
function shownInterval(value: Typed): Typed {
  return value.interval !== undefined && value.interval.months === 0 && isFine(value.interval) ? asDuration(value) : value;
}

function lastName(item: Expression): string {
  return item.class === "COLUMN_REF" ? item.column_names[item.column_names.length - 1]! : "";
}

/** A copy of `node` with an alias, because a rewrite may share nodes. */
function withAlias(node: Expression, alias: string): Expression {
  return node.alias === alias ? node : { ...node, alias };
}

function rewriteModifiers(
  modifiers: readonly Modifier[],
  context: RewriteContext,
  scope: Scope,
  shown: readonly OutputColumn[] | null = null,
): void {
  for (const modifier of modifiers) {
    if (modifier.type === "ORDER_MODIFIER") modifier.orders = rewriteOrders(modifier.orders, context, scope, shown);
    else if (modifier.type === "DISTINCT_MODIFIER") {
      modifier.distinct_on_targets = modifier.distinct_on_targets.map((target) => rewriteUnlessNumber(target, context, scope));
    } else {
      if (modifier.limit !== null) modifier.limit = rowCount(rewriteExpression(modifier.limit, context, scope), "LIMIT");
      if (modifier.offset !== null) modifier.offset = rowCount(rewriteExpression(modifier.offset, context, scope), "OFFSET");
    }
  }
}
