// Selects the source of a SELECT: groups computed by the scan, the newest rows of its table, or its FROM as written.
import type { ScanUse } from "../bind/kind.ts";
import type { CteMap, Narrowable, Scope } from "../bind/scope.ts";
import { encodeName } from "../parse/names.ts";
import type { Expression, SelectNode } from "../parse/tree.ts";
import type { From, RewriteContext } from "./context.ts";
import { rewriteFrom } from "./from.ts";
import { OneTable } from "./one-table.ts";
import { countRows, countValues } from "./pushdown/count-groups.ts";
import { firstRowsOf } from "./pushdown/first-rows.ts";
import { lastRowsOf } from "./pushdown/last-rows.ts";
import { isTransparent } from "./pushdown/narrow.ts";
import { isNewestTime, mayShowNewest, newestRows } from "./pushdown/newest.ts";
import { pushAggregate } from "./pushdown/push-aggregate.ts";

export interface SelectSource {
  readonly from: From;
  /** Scans that a condition on the SELECT's columns from outside may narrow. */
  readonly narrowable: Narrowable;
  /** The scan whose rows an item numbers, 1 being the newest of its series. */
  numbers(item: Expression): ScanUse | undefined;
  /** True if an item that looks like a column stands for a value of a group. */
  isValue(item: Expression): boolean;
}

const NOTHING: Narrowable = new Map();

/** Rewrites the FROM of `node`, and other clauses if it reads groups or newest rows. */
export function selectSource(node: SelectNode, context: RewriteContext, outer: Scope | null, ctes: CteMap): SelectSource {
  chooseFirstRows(node, context, outer, ctes);
  const hasGroups = mayShowNewest(node);
  const table = hasGroups ? OneTable.of(node, context, outer, ctes) : null;
  const number = hasGroups ? countGroups(node, table, context, outer, ctes) : null;
  if (number !== null) return number;
  const last = table === null ? null : chooseLastRows(table, context, outer, ctes);
  if (last !== null) return last;
  const push = () => (table === null ? null : pushAggregate(table, (source) => context.tables.groups(table.name, source)));
  const prefersGroups = table !== null && (table.isSmall || isNewestTime(table));
  const groups = prefersGroups ? push() : null;
  const newest = table === null || groups !== null ? null : newestRows(table);
  const from = groups ?? (prefersGroups || newest !== null ? null : push()) ?? rewriteFrom(node.from_table, context, outer, ctes);
  node.from_table = from.ref;
  const source = { from, narrowable: isTransparent(node) ? from.narrowable : NOTHING, numbers: () => undefined, isValue: () => false };
  const [scan] = newest === null ? [] : from.narrowable.keys();
  if (scan === undefined || newest === null) return source;
  const { numbers, present } = newest;
  if (numbers !== null) {
    return { ...source, narrowable: new Map([[scan, "to newest"]]), numbers: (item) => (numbers.has(item) ? scan : undefined) };
  }
  Object.assign(scan, { newestOnly: true, present });
  return source;
}

/** One number, if only that of groups matters. */
function countGroups(
  node: SelectNode,
  table: OneTable | null,
  context: RewriteContext,
  outer: Scope | null,
  ctes: CteMap,
): SelectSource | null {
  const from = table === null ? countRows(node, context, outer, ctes) : countValues(table, context);
  if (from === null) return null;
  node.from_table = from.ref;
  return { from, narrowable: NOTHING, numbers: () => undefined, isValue: () => false };
}

/** Groups as DISTINCT ON, if only last rows matter. */
function chooseLastRows(table: OneTable, context: RewriteContext, outer: Scope | null, ctes: CteMap): SelectSource | null {
  const last = lastRowsOf(table);
  const chosen = last === null ? null : OneTable.of(last.node, context, outer, ctes);
  if (last === null || chosen === null || newestRows(chosen) === null) return null;
  const { present, values } = last;
  const stake = present.length === 0 ? null : context.tables.choose();
  if (present.length > 0 && stake === null) return null;
  const { node } = table;
  Object.assign(node, last.node);
  const from = rewriteFrom(node.from_table, context, outer, ctes);
  node.from_table = from.ref;
  for (const scan of from.narrowable.keys()) Object.assign(scan, { newestOnly: true, present, stake });
  // only keys are known columns, and all rows of a key are in one group
  const isWhole = node.modifiers.every(({ type }) => type === "DISTINCT_MODIFIER" || type === "ORDER_MODIFIER");
  return { from, narrowable: isWhole ? from.narrowable : NOTHING, numbers: () => undefined, isValue: (item) => values.has(item) };
}

/** Rows with number 1 as DISTINCT ON, if few rows remain. */
function chooseFirstRows(node: SelectNode, context: RewriteContext, outer: Scope | null, ctes: CteMap): void {
  const chosen = firstRowsOf(node);
  const table = chosen === null ? null : OneTable.of(chosen.node, context, outer, ctes);
  if (chosen === null || table === null || newestRows(table) === null) return;
  const { number } = chosen;
  if (number === null || !table.rows.defs.some(({ name }) => encodeName(name) === number)) Object.assign(node, chosen.node);
}
