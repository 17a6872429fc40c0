// Finds conditions and expressions that depend on the tags of one scan alone: the value is equal in all rows of a series.

import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { sourceOf } from "../../bind/column-sources.ts";
import type { ScanUse, SeriesCondition, Typed } from "../../bind/kind.ts";
import { encodeName, internalName } from "../../parse/names.ts";
import type { ColumnRef, Expression } from "../../parse/tree.ts";
import { isAggregateCall } from "../functions/aggregate-call.ts";
import { isVolatile } from "../volatile.ts";
import { childrenOf, mapChildren } from "../walk.ts";

/** The relation of the combinations in a SeriesCondition. */
export const COMBINATIONS = internalName("combinations", 0);

/** The scan and its tags that a rewritten expression depends on; null if it depends on anything else, or on nothing. */
export function tagsUnder(node: Expression): { readonly scan: ScanUse; readonly tags: readonly ColumnDef[] } | null {
  const tags = new Map<number, ColumnDef>();
  let scan: ScanUse | null = null;
  const isOfTags = (part: Expression): boolean => {
    switch (part.class) {
      case "COLUMN_REF": {
        const source = sourceOf(part);
        const def = source?.scan.defs[source.index];
        if (source === undefined || def?.type !== ColumnType.tag || (scan !== null && scan !== source.scan)) return false;
        ({ scan } = source);
        tags.set(def.id, def);
        return true;
      }
      case "FUNCTION":
        if (isVolatile(part) || isAggregateCall(part)) return false;
        break;
      case "WINDOW":
      case "SUBQUERY":
      case "STAR":
      case "LAMBDA":
      case "PARAMETER":
      case "POSITIONAL_REFERENCE":
        return false;
      case "OPERATOR":
        if (part.type === "GROUPING_FUNCTION") return false;
        break;
    }
    return childrenOf(part).every(isOfTags);
  };
  return isOfTags(node) && scan !== null ? { scan, tags: [...tags.values()] } : null;
}

/** A tag of combinations. */
export function combinationColumn(name: string): ColumnRef {
  return { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [COMBINATIONS, encodeName(name)] };
}

/** The expression over combinations of its tags. */
export function overCombinations(node: Expression): Expression {
  const source = node.class === "COLUMN_REF" ? sourceOf(node) : undefined;
  if (node.class !== "COLUMN_REF" || source === undefined) return mapChildren(node, overCombinations);
  return { ...node, ...combinationColumn(source.scan.defs[source.index]!.name) };
}

/** The condition with an exact hint if it depends on tags alone and has none. */
export function withSeriesHint(value: Typed): Typed {
  if (value.isExact === true) return value;
  const found = tagsUnder(value.node);
  if (found?.scan.takesConditions !== true) return value;
  const condition: SeriesCondition = { tags: found.tags, node: overCombinations(value.node) };
  return { ...value, hints: [{ kind: "series", scan: found.scan, condition }], isExact: true };
}
