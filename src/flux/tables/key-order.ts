// The order of tables whose operator collects all of them: that of their keys.
import { compareTexts, comparisonFor } from "../../model/rows/text-order.ts";
import type { FluxColumnType } from "../values/column-type.ts";
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

/** Of each key the ranks of its values among those of their columns: comparing values again and again would take longer than the rest.
 *  Null: the keys have other columns, or values without a type or a place in an order. */
function ranksOf(keys: readonly (readonly KeyColumn[])[]): Uint32Array | null {
  const [first] = keys;
  if (keys.some((key) => key.length !== first!.length)) return null;
  const varying = first!.flatMap((column, c) => (keys.every((key) => key[c] === column) ? [] : [c]));
  const ranks = new Uint32Array(keys.length * varying.length);
  for (const [place, c] of varying.entries()) {
    const { label, type } = first![c]!;
    const values = new Array<Comparable>(keys.length);
    for (const [i, key] of keys.entries()) {
      const column = key[c]!;
      if (column.label !== label || column.type !== type || isNull(column.value) || Number.isNaN(column.value)) return null;
      values[i] = comparable(column.value);
    }
    const rankOf = new Map(inOrder(type, new Set(values)).map((value, rank) => [value, rank]));
    for (const [i, value] of values.entries()) ranks[i * varying.length + place] = rankOf.get(value)!;
  }
  return ranks;
}

type Comparable = bigint | number | boolean | string;

/** Values of one type, in their order. */
function inOrder(type: FluxColumnType, values: ReadonlySet<Comparable>): Comparable[] {
  if (type === "time" || type === "int") return Array.from(BigInt64Array.from(values as ReadonlySet<bigint>).sort());
  if (type === "uint") return Array.from(BigUint64Array.from(values as ReadonlySet<bigint>).sort());
  if (type === "float") return Array.from(Float64Array.from(values as ReadonlySet<number>).sort());
  if (type === "bool") return [false, true];
  const texts = [...values] as string[];
  return texts.sort(comparisonFor(texts));
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

function comparable(value: Value): Comparable {
  if (value instanceof Time) return value.ns;
  if (value instanceof UInt) return value.value;
  return value as Comparable;
}
