// The order of a measurement's groups in an answer.

import { compareTexts } from "../../../model/rows/text-order.ts";
import { inSteps, type Steps, sortInSteps } from "../../../model/steps.ts";
import type { FieldType } from "../../parse/ast.ts";
import { fieldsAmong } from "../../plan/select.ts";
import type { RunPlan } from "../select-context.ts";
import { keyValue } from "./field-keys.ts";

interface GroupOrder {
  readonly isTable: boolean;
  readonly descending: boolean;
  readonly slimit: number;
  readonly soffset: number;
  /** Of grouping fields, by position; null: a tag. Absent: all are tags. */
  readonly types?: readonly (FieldType | null)[];
}

/** Types of the grouping columns of a plan and its outer statements. */
export function keyTypes({ checked, sources }: RunPlan, groupBy: readonly string[]): readonly (FieldType | null)[] {
  const fields = checked.isTable ? fieldsAmong(groupBy, sources) : null;
  return groupBy.map((name) => fields?.get(name) ?? null);
}

/** Those within SLIMIT and SOFFSET of groups in the order of their tags. In 1.x a missing tag comes first, and descending times turn the
 *  groups around too; in v3 it comes last, the order of groups is one,
 *  and fields are ordered by their values. */
export function* shownGroups<T>(groups: readonly T[], tagsOf: (group: T) => readonly string[], order: GroupOrder): Steps<readonly T[]> {
  const { isTable, descending, slimit, soffset, types = [] } = order;
  const ordered = isTable ? yield* inTableOrder(groups, tagsOf, types) : groups;
  const wanted = slimit === 0 && soffset === 0 ? ordered : ordered.slice(soffset, slimit === 0 ? undefined : soffset + slimit);
  return descending && !isTable ? wanted.toReversed() : wanted;
}

function* inTableOrder<T>(
  groups: readonly T[],
  tagsOf: (group: T) => readonly string[],
  types: readonly (FieldType | null)[],
): Steps<readonly T[]> {
  // texts are in order already
  let isOther = types.some((type) => type !== null && type !== "string");
  yield* inSteps(groups.length, (from, to) => {
    for (let i = from; i < to && !isOther; i++) isOther = tagsOf(groups[i]!).includes("");
  });
  if (!isOther) return groups;
  const places = Uint32Array.from(groups.keys());
  yield* sortInSteps(places, (a, b) => compareKeys(tagsOf(groups[a]!), tagsOf(groups[b]!), types));
  return Array.from(places, (place) => groups[place]!);
}

function compareKeys(a: readonly string[], b: readonly string[], types: readonly (FieldType | null)[]): number {
  for (let i = 0; i < a.length; i++) {
    const own = a[i]!;
    const other = b[i]!;
    if (own === other) continue;
    if (own === "" || other === "") return own === "" ? 1 : -1;
    return compareTyped(own, other, types[i] ?? null) || compareTexts(own, other);
  }
  return 0;
}

/** 0 also for texts without a value of the type. */
function compareTyped(a: string, b: string, type: FieldType | null): number {
  if (type === null || type === "string") return 0;
  const [own, other] = [keyValue(a, type), keyValue(b, type)];
  if (own === null || other === null || own === other) return 0;
  return own < other ? -1 : 1;
}
