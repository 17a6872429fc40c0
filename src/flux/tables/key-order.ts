// The order of tables whose operator collects all of them: that of their keys.
import { compareTexts, comparisonFor } from "../values/text-order.ts";
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

/** The items in the order of their keys; items of equal keys as they stood. */
export function inKeyOrder<T extends { readonly key: GroupKey }>(items: readonly T[]): readonly T[] {
  if (items.every(({ key }, i) => i === 0 || compareKeys(items[i - 1]!.key, key) <= 0)) return items;
  const ranks = ranksOf(items.map(({ key }) => key.sorted));
  if (ranks === null) return [...items].sort((a, b) => compareKeys(a.key, b.key));
  const width = ranks.length / items.length;
  const order = Uint32Array.from(items, (_, i) => i).sort((a, b) => {
    for (let c = 0; c < width; c++) {
      const difference = ranks[a * width + c]! - ranks[b * width + c]!;
      if (difference !== 0) return difference;
    }
    return a - b;
  });
  return Array.from(order, (i) => items[i]!);
}

/** Of each key the ranks of its texts among those of their columns: comparing texts again and again would take longer than the rest. Null:
 *  the keys have other columns, or values that are no texts. */
function ranksOf(keys: readonly (readonly KeyColumn[])[]): Uint32Array | null {
  const [first] = keys;
  if (keys.some((key) => key.length !== first!.length)) return null;
  const varying = first!.flatMap((column, c) => (keys.every((key) => key[c] === column) ? [] : [c]));
  const ranks = new Uint32Array(keys.length * varying.length);
  for (const [place, c] of varying.entries()) {
    const { label } = first![c]!;
    const numbers = new Map<string, number>();
    for (const key of keys) {
      const column = key[c]!;
      if (column.label !== label || typeof column.value !== "string") return null;
      numbers.set(column.value, 0);
    }
    const texts = [...numbers.keys()];
    for (const [rank, text] of texts.sort(comparisonFor(texts)).entries()) numbers.set(text, rank);
    for (const [i, key] of keys.entries()) ranks[i * varying.length + place] = numbers.get(key[c]!.value as string)!;
  }
  return ranks;
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
