// Which scans a condition narrows. A scan may leave out rows that cannot take part in the answer: what is left out must not change what
// an outer join makes up, what a limit counts, or what another reference to the same rows sees.
import type { TimeRange } from "../../model/scan.ts";
import type { Hint, ScanUse } from "../kind.ts";

/** Scans that a condition on their own columns may narrow. "unless null": the rows went through an outer join that may put NULLs in their
 *  place, so a condition that NULL satisfies says nothing about them. */
export type Narrowable = ReadonlyMap<ScanUse, "always" | "unless null">;

/** Narrows those scans by what `hints` say. A scan of an outer query keeps its rows: there the condition holds for some of them only.
 *  True: only rows come now for which all of them hold. */
export function applyHints(hints: readonly Hint[], narrowable: Narrowable): boolean {
  let isDone = true;
  for (const hint of hints) {
    const { scan } = hint;
    const when = narrowable.get(scan);
    isDone &&= when === "always" && scan.selectsExactly;
    if (when === undefined) continue;
    if (hint.kind === "time") scan.range = intersect(scan.range, hint.range);
    else if (hint.kind === "field") scan.fields.push(hint.predicate);
    else if (when === "always" || !hint.values.includes(null)) scan.tags.push({ columnId: hint.columnId, values: hint.values });
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

function nullable(side: Narrowable): Narrowable {
  return new Map([...side.keys()].map((scan) => [scan, "unless null"]));
}
