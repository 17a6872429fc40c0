// Splits a WHERE clause into conditions that the scan evaluates exactly (time range, tag values, field comparisons) and the rest.
import { ALL_TIME, type FieldPredicate, type TagPredicate, type TimeRange } from "../../../model/query/scan.ts";
import type { ScanUse, SeriesCondition, Typed } from "../../bind/kind.ts";
import { intersect } from "../../bind/plan-clock.ts";
import type { Expression } from "../../parse/tree.ts";
import { asCondition } from "../expression.ts";
import { conjuncts } from "../walk.ts";
import { withFieldHint } from "./field-expressions.ts";
import { withSeriesHint } from "./series-conditions.ts";

export interface PushedDown {
  readonly range: TimeRange;
  /** One per column; without values: no row passes. */
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
  readonly conditions: readonly SeriesCondition[];
  /** All other conditions as written: a row passes WHERE if it satisfies them too. */
  readonly rest: readonly Expression[];
}

/** @param rewrite rewrites a copy of a condition */
export function pushDown(where: Expression | null, scan: ScanUse, rewrite: (condition: Expression) => Typed): PushedDown {
  let range = ALL_TIME;
  const tags = new Map<number, readonly (string | null)[]>();
  const fields: FieldPredicate[] = [];
  const conditions: SeriesCondition[] = [];
  const rest: Expression[] = [];
  for (const part of where === null ? [] : conjuncts(where)) {
    const { hints = [], isExact } = withFieldHint(withSeriesHint(asCondition(rewrite(part))));
    if (isExact !== true || hints.some((hint) => hint.scan !== scan)) {
      rest.push(part);
      continue;
    }
    for (const hint of hints) {
      if (hint.kind === "time") range = intersect(range, hint.range);
      else if (hint.kind === "field") fields.push(hint.predicate);
      else if (hint.kind === "series") conditions.push(hint.condition);
      else if (hint.kind === "tag") {
        const values = new Set(hint.values);
        const known = tags.get(hint.columnId);
        tags.set(hint.columnId, known === undefined ? [...values] : known.filter((value) => values.has(value)));
      }
    }
  }
  return { range, tags: [...tags].map(([columnId, values]) => ({ columnId, values })), fields, conditions, rest };
}
