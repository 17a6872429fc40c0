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
 *  groups around too; in v3 it comes last, the order of groups is one, and fields are ordered by their values. */
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
  const keys: Key[][] = [];
  yield* inSteps(groups.length, (from, to) => {
    for (let i = from; i < to; i++) keys.push(tagsOf(groups[i]!).map((text, at) => keyOf(text, types[at] ?? null)));
  });
  const places = Uint32Array.from(groups.keys());
  yield* sortInSteps(places, (a, b) => compareKeys(keys[a]!, keys[b]!));
  return Array.from(places, (place) => groups[place]!);
}

/** What a group is ordered by; null: its value is missing. */
type Key = string | number | bigint | null;

/** Texts without a value of their type are in the order of texts, behind the others. */
function keyOf(text: string, type: FieldType | null): Key {
  if (text === "") return null;
  return type === null ? text : (keyValue(text, type) ?? text);
}

function compareKeys(a: readonly Key[], b: readonly Key[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareKey(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

function compareKey(a: Key, b: Key): number {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
  if (typeof a === "string") return typeof b === "string" ? compareTexts(a, b) : 1;
  if (typeof b === "string") return -1;
  if (a !== b) return a < b ? -1 : 1;
  return a !== 0 || Object.is(a, b) ? 0 : Object.is(a, -0) ? -1 : 1;
}
