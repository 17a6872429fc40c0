// Which scans a condition narrows. A scan may leave out rows that cannot take part in the answer: what is left out must not change what
// an outer join makes up, what a limit counts, or what another reference to the same rows sees.
import type { TimeRange } from "../../../model/query/scan.ts";
import { STATEMENT_LIMITS } from "../../../model/query/statement-limits.ts";
import type { Hint } from "../../bind/kind.ts";
import type { Narrowable } from "../../bind/scope.ts";
import type { Modifier, SelectNode } from "../../parse/tree.ts";
import { isAggregateCall } from "../functions/aggregate-call.ts";
import { someNode } from "../walk.ts";

/** Narrows those scans by what `hints` say. A scan of an outer query keeps its rows: there the condition holds for some of them only.
 *  True: only rows come now for which all of them hold. */
export function applyHints(hints: readonly Hint[], narrowable: Narrowable): boolean {
  let isDone = true;
  for (const hint of hints) {
    const { scan } = hint;
    const when = narrowable.get(scan);
    isDone &&= when === "always" && scan.selectsExactly;
    if (hint.kind === "newest") scan.newestOnly ||= when === "to newest";
    if (when === undefined || when === "to newest" || hint.kind === "newest") continue;
    if (hint.kind === "time") scan.range = intersect(scan.range, hint.range);
    else if (hint.kind === "field") {
      // each is judged row by row; DuckDB judges the rest
      if (scan.fields.length < STATEMENT_LIMITS.scanConditionsMax) scan.fields.push(hint.predicate);
      else isDone = false;
    } else if (when === "always" || !hint.values.includes(null)) scan.tags.push({ columnId: hint.columnId, values: hint.values });
  }
  return isDone;
}

export function intersect(a: TimeRange, b: TimeRange): TimeRange {
  return { minNs: a.minNs > b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs < b.maxNs ? a.maxNs : b.maxNs };
}

/** What a join's condition narrows: rows that fail it are gone from an inner join; an outer join keeps those of one side. */
export function applyJoinHints(joinType: string, hints: readonly Hint[], left: Narrowable, right: Narrowable): void {
  if (joinType === "INNER" || joinType === "SEMI" || joinType === "RIGHT") applyHints(hints, left);
  if (joinType === "INNER" || joinType === "SEMI" || joinType === "LEFT" || joinType === "ANTI") applyHints(hints, right);
}

/** What a condition after a join may narrow. */
export function narrowableAfter(joinType: string, left: Narrowable, right: Narrowable): Narrowable {
  switch (joinType) {
    case "INNER":
      return new Map([...left, ...right]);
    case "LEFT":
      return new Map([...left, ...nullable(right)]);
    case "RIGHT":
      return new Map([...nullable(left), ...right]);
    case "OUTER":
    case "FULL":
      return new Map([...nullable(left), ...nullable(right)]);
    // only the left side's columns are seen after these
    case "SEMI":
    case "ANTI":
      return left;
    default:
      return new Map();
  }
}

/** Whether a condition on columns that a query passes on may choose among the rows that it reads: what it makes of the others must not show
 *  in the rows that are left. */
export function isTransparent(node: SelectNode): boolean {
  const isPlain = node.sample === null && node.qualify === null && node.modifiers.every(keepsRows);
  if (!isPlain || node.select_list.some((item) => someNode(item, ({ class: kind }) => kind === "WINDOW"))) return false;
  // Columns of a grouping are its keys: rows of other keys are in other groups. Grouping sets put NULL in their place.
  const isGrouped = node.group_expressions.length > 0;
  if (isGrouped) return node.group_sets.length === 1 && node.group_sets[0]!.length === node.group_expressions.length;
  return node.group_sets.length === 0 && node.aggregate_handling === "STANDARD_HANDLING" && !aggregatesAll(node);
}

/** One row of all. */
function aggregatesAll({ select_list, having, modifiers }: SelectNode): boolean {
  const orders = modifiers.flatMap((modifier) => (modifier.type === "ORDER_MODIFIER" ? modifier.orders : []));
  return having !== null || [...select_list, ...orders.map(({ expression }) => expression)].some((node) => someNode(node, isAggregateCall));
}

/** A limit counts rows, DISTINCT ON chooses among them. */
function keepsRows(modifier: Modifier): boolean {
  return modifier.type === "ORDER_MODIFIER" || (modifier.type === "DISTINCT_MODIFIER" && modifier.distinct_on_targets.length === 0);
}

function nullable(side: Narrowable): Narrowable {
  return new Map([...side].flatMap(([scan, when]) => (when === "to newest" ? [] : [[scan, "unless null"]])));
}
