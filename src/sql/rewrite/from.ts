// Rewrites FROM: tables become calls of the scan function under their own names, and their relations are the scope of names.

import { SCAN_FUNCTION } from "../../duckdb/table-function.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { isUnsigned64 } from "../bind/decimals.ts";
import { clockOf, kindOfColumn, type ScanUse } from "../bind/kind.ts";
import type { CteMap, Narrowable, OutputColumn, Relation } from "../bind/scope.ts";
import { renameColumns, Scope } from "../bind/scope.ts";
import { type TableName, tableNameOf, unknownTable } from "../parse/check.ts";
import { decodeNames } from "../parse/names.ts";
import type { BaseTable, Expression, ExpressionListRef, Join, SelectNode, Star, TableFunctionRef, TableRef } from "../parse/tree.ts";
import { call, castTo, integerConstant } from "../parse/tree.ts";
import { notTag, unknownCache } from "../tables/cache-tables.ts";
import { outputsOf, selectListOf } from "../tables/virtual-tables.ts";
import type { From, RewriteContext } from "./context.ts";
import { asCondition, rewriteExpression } from "./expression.ts";
import { applyJoinHints, narrowableAfter } from "./pushdown/narrow.ts";
import { withSeriesHint } from "./pushdown/series-conditions.ts";
import { wideConstant } from "./values/constant.ts";
import { conjunction, conjuncts } from "./walk.ts";

const NOTHING: Narrowable = new Map();

/** Rewrites a table reference and returns its relations. */
export function rewriteFrom(ref: TableRef, context: RewriteContext, outer: Scope | null, ctes: CteMap): From {
  switch (ref.type) {
    case "EMPTY":
      return { ref, relations: [], narrowable: NOTHING };
    case "BASE_TABLE":
      return rewriteBaseTable(ref, context, ctes);
    case "SUBQUERY": {
      const { columns, narrowable } = context.query(ref.subquery.node, outer, ctes);
      return {
        ref,
        relations: [{ alias: ref.alias, columns: renameColumns(columns, ref.column_name_alias) }],
        narrowable: ref.sample === null ? narrowable : NOTHING,
      };
    }
    case "EXPRESSION_LIST":
      return rewriteValues(ref, context, outer, ctes);
    case "TABLE_FUNCTION":
      return context.sources.get(ref) ?? rewriteTableFunction(ref, context, new Scope([], outer, ctes));
    case "JOIN":
      return rewriteJoin(ref, context, outer, ctes);
    case "SHOW_REF":
      throw new Error("BUG: check.ts refuses SHOW in FROM");
  }
}

function rewriteBaseTable(ref: BaseTable, context: RewriteContext, ctes: CteMap): From {
  const alias = ref.alias !== "" ? ref.alias : ref.table_name;
  if (ref.schema_name === "" && ref.catalog_name === "") {
    const cte = ctes.get(ref.table_name);
    if (cte !== undefined) {
      // other references may need rows that this one excludes
      const isOnly = ref.sample === null && context.references.count(ref.table_name) === 1;
      const relations = [{ alias, columns: renameColumns(cte.columns, ref.column_name_alias) }];
      return { ref, relations, narrowable: isOnly ? cte.narrowable : NOTHING };
    }
  }
  const { schema, table } = tableNameOf(ref);
  if (schema !== "iox") return rewriteVirtualTable(ref, { schema, table }, alias, context);
  const scan = context.tables.scanTable(table);
  if (scan === null) throw ref.cache === undefined ? unknownTable("public", schema, table) : unknownCache(ref.cache, "cache");
  const { tag } = ref;
  if (tag !== undefined && !scan.columns.some(({ name, type }) => name === tag && type === ColumnType.tag)) throw notTag(table, tag);
  const columns = scan.columns.map(({ name, type }, index): OutputColumn => ({ name, kind: kindOfColumn(type), source: { scan, index } }));
  const relations = [{ alias, columns: renameColumns(columns, ref.column_name_alias) }];
  // a sample is taken from the whole table
  return { ref: scanOf(scan, alias, ref), relations, narrowable: ref.sample === null ? new Map([[scan, "always"]]) : NOTHING };
}

/** A virtual table: a scan, within a query if its columns have types that scans lack. */
function rewriteVirtualTable(ref: BaseTable, { schema, table }: TableName, alias: string, context: RewriteContext): From {
  const own = context.tables.scanOwn(schema, table);
  if (own === null) throw unknownTable("public", schema, table);
  const { scan } = own;
  // tables of the schema `system` have no marks, wherever their rows are
  const outputs = outputsOf(own.columns).map((column, index) =>
    own.isStored ? { ...column, source: { scan, index }, mark: null } : column,
  );
  const relations = [{ alias, columns: renameColumns(outputs, ref.column_name_alias) }];
  const selectList = selectListOf(own.columns);
  if (own.isStored && ref.sample === null) return { ref: scanOf(scan, alias, ref), relations, narrowable: new Map([[scan, "always"]]) };
  if (selectList === null) return { ref: scanOf(own.scan, alias, ref), relations, narrowable: NOTHING };
  const { sample, column_name_alias } = ref;
  const node = selectFrom(scanOf(own.scan, alias, { ...ref, sample: null, column_name_alias: [] }), selectList);
  return { ref: { type: "SUBQUERY", alias, sample, subquery: { node }, column_name_alias }, relations, narrowable: NOTHING };
}

/** A plain SELECT. */
export function selectFrom(from_table: TableRef, select_list: Expression[]): SelectNode {
  return {
    type: "SELECT_NODE",
    modifiers: [],
    cte_map: { map: [] },
    select_list,
    from_table,
    where_clause: null,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: "STANDARD_HANDLING",
    having: null,
    sample: null,
    qualify: null,
  };
}

/** The call that reads a scan, replacing a table. */
export function scanOf(scan: ScanUse, alias: string, { sample, column_name_alias, query_location }: BaseTable): TableFunctionRef {
  return {
    type: "TABLE_FUNCTION",
    alias,
    sample,
    function: call(SCAN_FUNCTION, [integerConstant(scan.handle)], query_location),
    column_name_alias,
    with_ordinality: "WITHOUT_ORDINALITY",
  };
}

function rewriteValues(ref: ExpressionListRef, context: RewriteContext, outer: Scope | null, ctes: CteMap): From {
  const scope = new Scope([], outer, ctes);
  const rows = ref.values.map((row) => row.map((value) => rewriteExpression(value, context, scope)));
  // Integers are 64 bits wide in the dialect; DuckDB would use the narrowest type of the literals.
  ref.values = rows.map((row) => row.map(wideConstant));
  if (ref.expected_names.length === 0) ref.expected_names = (rows[0] ?? []).map((_, i) => `column${i + 1}`);
  const columns = ref.expected_names.map(
    (name, i): OutputColumn => ({
      name,
      kind: rows[0]?.[i]?.kind ?? "unknown",
      ...(rows.every((row) => row[i] !== undefined && isUnsigned64(row[i])) ? { arrow: "UInt64" } : {}),
      ...clockOf(rows.flatMap((row) => row[i] ?? [])),
    }),
  );
  return { ref, relations: [{ alias: ref.alias, columns }], narrowable: NOTHING };
}

function rewriteTableFunction(ref: TableFunctionRef, context: RewriteContext, scope: Scope): From {
  if (ref.function.function_name === "unnest" && ref.function.children.length > 1) return rewriteUnnest(ref, context, scope);
  let isTimes = false;
  ref.function.children = ref.function.children.map((child) => {
    const { node, kind } = rewriteExpression(child, context, scope);
    isTimes ||= kind !== "integer";
    // DuckDB's series of times have microseconds
    return kind === "time" ? castTo(node, "TIMESTAMP") : node;
  });
  const name = ref.function.function_name;
  const alias = ref.alias !== "" ? ref.alias : name;
  if (name !== "range" && name !== "generate_series") return { ref, relations: [{ alias, columns: null }], narrowable: NOTHING };
  // DuckDB names the column after the function
  if (ref.column_name_alias.length === 0) {
    ref.alias = alias;
    ref.column_name_alias = ["value"];
  }
  const columns: OutputColumn[] = [{ name: ref.column_name_alias[0]!, kind: isTimes ? "unknown" : "integer" }];
  return { ref, relations: [{ alias, columns }], narrowable: NOTHING };
}

/** `unnest(a, b)`: the lists side by side, the shorter one extended by NULLs. */
function rewriteUnnest(ref: TableFunctionRef, context: RewriteContext, scope: Scope): From {
  const { alias, sample, function: unnest, column_name_alias } = ref;
  const lists = unnest.children.map((child) => rewriteExpression(child, context, scope));
  const items = lists.map(({ node }, i) => ({ ...call("unnest", [node], unnest.query_location), alias: `column${i + 1}` }));
  const columns = items.map((item, i): OutputColumn => ({ name: column_name_alias[i] ?? item.alias, kind: "unknown" }));
  const name = alias !== "" ? alias : "unnest";
  const node = selectFrom({ type: "EMPTY", alias: "", sample: null }, items);
  return {
    ref: { type: "SUBQUERY", alias: name, sample, subquery: { node }, column_name_alias },
    relations: [{ alias: name, columns }],
    narrowable: NOTHING,
  };
}

function rewriteJoin(join: Join, context: RewriteContext, outer: Scope | null, ctes: CteMap): From {
  const left = rewriteFrom(join.left, context, outer, ctes);
  // the right side may use columns of the left (LATERAL)
  const right = rewriteFrom(join.right, context, new Scope(left.relations, outer, ctes), ctes);
  join.left = left.ref;
  join.right = right.ref;
  const onlyLeft = join.join_type === "SEMI" || join.join_type === "ANTI";
  const merged = mergedNames(join, left.relations);
  if (join.ref_type === "NATURAL" && sharesNothing(merged, right.relations)) Object.assign(join, { ref_type: "CROSS", join_type: "INNER" });
  const shared = merged === undefined ? {} : { merged };
  const relations = withHidden(merged ?? new Set(), [
    left.relations.map((relation) => (mayMiss(join, "LEFT") ? optional(relation) : relation)),
    right.relations.map((relation) => ({ ...(mayMiss(join, "RIGHT") ? optional(relation) : relation), ...shared })),
  ]);
  if (join.condition !== null) {
    const scope = new Scope(relations, outer, ctes);
    const parts = conjuncts(join.condition).map((part) => withSeriesHint(asCondition(rewriteExpression(part, context, scope))));
    const hints = parts.flatMap((part) => part.hints ?? []);
    if (join.ref_type === "REGULAR") applyJoinHints(join.join_type, hints, left.narrowable, right.narrowable);
    join.condition = conjunction(parts.map(({ node }) => node))!;
  }
  // The row that an ASOF or positional join selects depends on rows that a later condition would remove.
  const dependsOnAll = join.ref_type === "ASOF" || join.ref_type === "POSITIONAL";
  return {
    ref: join,
    relations: onlyLeft ? left.relations : relations,
    narrowable: dependsOnAll ? NOTHING : narrowableAfter(join.join_type, left.narrowable, right.narrowable),
  };
}

/** True if a joined row may lack that side. */
function mayMiss({ join_type, ref_type }: Join, side: "LEFT" | "RIGHT"): boolean {
  if (ref_type === "POSITIONAL") return true;
  return !["INNER", "SEMI", "ANTI", side].includes(join_type);
}

function optional({ columns, ...relation }: Relation): Relation {
  return { ...relation, columns: columns?.map((column) => ({ ...column, isOptional: true })) ?? null };
}

/** The columns that a join shows once; null if unknown, undefined for a join that shows all. */
function mergedNames({ using_columns, ref_type }: Join, left: readonly Relation[]): ReadonlySet<string> | null | undefined {
  if (using_columns.length > 0) return new Set(using_columns);
  if (ref_type !== "NATURAL") return undefined;
  const columns = left.flatMap((relation) => relation.columns);
  return columns.includes(null) ? null : new Set(columns.map((column) => column!.name));
}

/** True if it is known that no column on the right has one of these names: a natural join then joins all rows, as the vendor's does. */
function sharesNothing(names: ReadonlySet<string> | null | undefined, right: readonly Relation[]): boolean {
  if (names === null || names === undefined) return false;
  return right.every(({ columns }) => columns?.every(({ name }) => !names.has(name)) === true);
}

/** Of two columns that a join merges, `*` shows that of the relation whose name sorts first, as the vendor does. */
function withHidden(merged: ReadonlySet<string>, [left, right]: readonly [readonly Relation[], readonly Relation[]]): Relation[] {
  const hidden = new Map<Relation, Set<string>>();
  const ownerOf = (name: string, relations: readonly Relation[]) =>
    relations.find(({ columns }) => columns?.some((each) => each.name === name));
  for (const name of merged) {
    const [a, b] = [ownerOf(name, left), ownerOf(name, right)];
    if (a === undefined || b === undefined) continue;
    const other = decodeNames(b.alias) < decodeNames(a.alias) ? a : b;
    hidden.set(other, (hidden.get(other) ?? new Set()).add(name));
  }
  return [...left, ...right].map((relation) => {
    const more = hidden.get(relation);
    return more === undefined ? relation : { ...relation, hidden: more.union(relation.hidden ?? new Set()) };
  });
}

/** `*` over joins that merge columns, as the columns that it shows; other items as they are. */
export function spelledStar(item: Expression, { relations }: Scope): Expression[] {
  if (item.class !== "STAR" || item.relation_name !== "" || item.columns || item.rename_list.length > 0) return [item];
  if (relations.every(({ hidden }) => hidden === undefined)) return [item];
  if (relations.some(({ alias, columns, merged }) => alias === "" || columns === null || merged === null)) return [item];
  if (item.qualified_exclude_list.length > 0) return [item];
  const replaced = new Map(item.replace_list.map(({ key, value }) => [key, value]));
  return relations.flatMap(({ alias, columns, hidden }) =>
    columns!
      .filter(({ name }) => hidden?.has(name) !== true && !item.exclude_list.includes(name))
      .map(({ name }): Expression => {
        const value = replaced.get(name);
        if (value !== undefined) return { ...value, alias: name };
        return { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [alias, name] };
      }),
  );
}

/** The columns of `*`; null if some are unknown. */
export function starColumns(star: Star, scope: Scope): OutputColumn[] | null {
  if (star.columns || star.rename_list.length > 0) return null;
  const relations = star.relation_name === "" ? scope.relations : scope.relations.filter(({ alias }) => alias === star.relation_name);
  const replaced = new Set(star.replace_list.map(({ key }) => key));
  const excluded = new Set([...star.exclude_list, ...star.qualified_exclude_list.map(({ column }) => column)]);
  const columns: OutputColumn[] = [];
  for (const { columns: own, merged } of relations) {
    if (own === null || (star.relation_name === "" && merged === null)) return null;
    for (const column of own) {
      if (excluded.has(column.name) || (star.relation_name === "" && merged?.has(column.name) === true)) continue;
      columns.push(replaced.has(column.name) ? { name: column.name, kind: "unknown" } : column);
    }
  }
  return columns;
}
