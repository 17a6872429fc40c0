// The order of a measurement's groups in an answer.

import { compareTexts } from "../../../model/rows/text-order.ts";
import { inSteps, type Steps, sortInSteps } from "../../../model/steps.ts";

interface GroupOrder {
  readonly isTable: boolean;
  readonly descending: boolean;
  readonly slimit: number;
  readonly soffset: number;
}

/** Those within SLIMIT and SOFFSET of groups in the order of their tags. In 1.x a missing tag comes first, and descending times turn the
 *  groups around too; in v3 it comes last, and the order of groups is one. */
export function* shownGroups<T>(groups: readonly T[], tagsOf: (group: T) => readonly string[], order: GroupOrder): Steps<readonly T[]> {
  const { isTable, descending, slimit, soffset } = order;
  const ordered = isTable ? yield* missingLast(groups, tagsOf) : groups;
  const wanted = slimit === 0 && soffset === 0 ? ordered : ordered.slice(soffset, slimit === 0 ? undefined : soffset + slimit);
  return descending && !isTable ? wanted.toReversed() : wanted;
}

function* missingLast<T>(groups: readonly T[], tagsOf: (group: T) => readonly string[]): Steps<readonly T[]> {
  let isMissing = false;
  yield* inSteps(groups.length, (from, to) => {
    for (let i = from; i < to && !isMissing; i++) isMissing = tagsOf(groups[i]!).includes("");
  });
  if (!isMissing) return groups;
  const places = Uint32Array.from(groups.keys());
  yield* sortInSteps(places, (a, b) => compareMissingLast(tagsOf(groups[a]!), tagsOf(groups[b]!)));
  return Array.from(places, (place) => groups[place]!);
}

function compareMissingLast(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const own = a[i]!;
    const other = b[i]!;
    if (own !== other) return own === "" ? 1 : other === "" ? -1 : compareTexts(own, other);
  }
  return 0;
}
