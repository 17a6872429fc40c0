// The order of tables whose operator collects all of them: that of their keys.
import { compareTexts } from "../values/text-order.ts";
import { isNull, Time, UInt, type Value } from "../values/value.ts";
import type { GroupKey, KeyColumn } from "./table.ts";

/** Column by column in the order of the labels; what has no value comes first. Negative: `a` is less. */
export function compareKeys(a: GroupKey, b: GroupKey): number {
  const [left, right] = [a.sorted, b.sorted];
  const count = Math.min(left.length, right.length);
  for (let i = 0; i < count; i++) {
    const order = compareColumns(left[i]!, right[i]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** The key with the greater label lacks the column of the other. */
function compareColumns(a: KeyColumn, b: KeyColumn): number {
  // bounds of one range
  if (a === b) return 0;
  if (a.label !== b.label) return a.label > b.label ? -1 : 1;
  if (isNull(a.value) || isNull(b.value)) return Number(isNull(b.value)) - Number(isNull(a.value));
  if (a.type !== b.type) return a.type < b.type ? -1 : 1;
  if (typeof a.value === "string") return compareTexts(a.value, b.value as string);
  const [left, right] = [comparable(a.value), comparable(b.value)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function comparable(value: Value): bigint | number | boolean {
  if (value instanceof Time) return value.ns;
  if (value instanceof UInt) return value.value;
  return value as bigint | number | boolean;
}
