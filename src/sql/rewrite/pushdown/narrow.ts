// Determines the scans that a condition may narrow. A scan may omit rows that cannot contribute to the answer: omitting them must not
// affect the NULL rows of an outer join, a limit, or other references to the same rows.
import { STATEMENT_LIMITS } from "../../../model/query/statement-limits.ts";
import type { Hint } from "../../bind/kind.ts";
import { intersect } from "../../bind/plan-clock.ts";
import type { Narrowable } from "../../bind/scope.ts";
import type { Modifier, SelectNode } from "../../parse/tree.ts";
import { isAggregateCall } from "../functions/aggregate-call.ts";
import { someNode } from "../walk.ts";

/** Narrows those scans by `hints`. Scans of outer queries are not narrowed: there the condition holds for some rows only. Returns true
 *  if the scans then return exactly the rows that satisfy all hints. */
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
      // each is evaluated row by row; DuckDB evaluates the rest. A comparison is never true of NULL, an expression may be
      const isFit = when === "always" || hint.predicate.operator !== "true";
      if (isFit && scan.fields.length < STATEMENT_LIMITS.scanConditionsMax) scan.fields.push(hint.predicate);
      else isDone = false;
    } else if (hint.kind === "series") {
      // what it says of NULL is not known here
      if (when === "always" && scan.takesConditions) scan.conditions.push(hint.condition);
      else isDone = false;
    } else if (when === "always" || !hint.values.includes(null)) scan.tags.push({ columnId: hint.columnId, values: hint.values });
  }
  return isDone;
}

/** A join's condition: rows that fail it are removed by an inner join; an outer join keeps those of one side. */
export function applyJoinHints(joinType: string, hints: readonly Hint[], left: Narrowable, right: Narrowable): void {
  if (joinType === "INNER" || joinType === "SEMI" || joinType === "RIGHT") applyHints(hints, left);
  if (joinType === "INNER" || joinType === "SEMI" || joinType === "LEFT" || joinType === "ANTI") applyHints(hints, right);
}

/** The scans that a condition after a join may narrow. */
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
    // only the left side's columns are visible after these
    case "SEMI":
    case "ANTI":
      return left;
    default:
      return new Map();
  }
}

/** True if a condition on output columns of a query may be applied to the rows that it reads: the removed rows must not affect the
 *  remaining output. */
export function isTransparent(node: SelectNode): boolean {
  const isPlain = node.sample === null && node.qualify === null && node.modifiers.every(keepsRows);
  if (!isPlain || node.select_list.some((item) => someNode(item, ({ class: kind }) => kind === "WINDOW"))) return false;
  // Columns of a grouped query are its keys: rows with other keys are in other groups. Grouping sets replace keys by NULL.
  const isGrouped = node.group_expressions.length > 0;
  if (isGrouped) return node.group_sets.length === 1 && node.group_sets[0]!.length === node.group_expressions.length;
  return node.group_sets.length === 0 && node.aggregate_handling === "STANDARD_HANDLING" && !aggregatesAll(node);
}

/** True if all rows are aggregated to one. */
function aggregatesAll({ select_list, having, modifiers }: SelectNode): boolean {
  const orders = modifiers.flatMap((modifier) => (modifier.type === "ORDER_MODIFIER" ? modifier.orders : []));
  return having !== null || [...select_list, ...orders.map(({ expression }) => expression)].some((node) => someNode(node, isAggregateCall));
}

/** False for a limit, which counts rows, and DISTINCT ON, which selects among them. */
function keepsRows(modifier: Modifier): boolean {
  return modifier.type === "ORDER_MODIFIER" || (modifier.type === "DISTINCT_MODIFIER" && modifier.distinct_on_targets.length === 0);
}

function nullable(side: Narrowable): Narrowable {
  return new Map([...side].flatMap(([scan, when]) => (when === "to newest" ? [] : [[scan, "unless null"]])));
}
