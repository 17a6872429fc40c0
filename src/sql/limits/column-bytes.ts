// The visible names in a statement with the maximum bytes of a chunk of each, for the cost limits.
import { LIMITS } from "../../model/limits.ts";

/** Of a column of texts. */
export const COLUMN_BYTES = LIMITS.chunkTextBytesMax;

/** Columns of relations, and parameters of lambdas, by their bytes; of several with one name the largest. */
export interface Columns {
  readonly byName: ReadonlyMap<string, number>;
  /** Maximum of all, also for unknown names. */
  readonly most: number;
}

export const NO_COLUMNS: Columns = { byName: new Map(), most: 0 };
export const UNKNOWN_COLUMNS: Columns = { byName: new Map(), most: COLUMN_BYTES };

/** The names of both, each with the larger number of bytes. */
export function together(a: Columns, b: Columns): Columns {
  if (a.byName.size === 0 || b.byName.size === 0) {
    return { byName: a.byName.size === 0 ? b.byName : a.byName, most: Math.max(a.most, b.most) };
  }
  const byName = new Map(a.byName);
  for (const [name, bytes] of b.byName) byName.set(name, Math.max(bytes, byName.get(name) ?? 0));
  return { byName, most: Math.max(a.most, b.most) };
}

/** Columns from names and bytes; of equal names the larger number counts. */
export function columnsFrom(entries: readonly (readonly [name: string, bytes: number])[]): Columns {
  const byName = new Map<string, number>();
  let most = 0;
  for (const [name, bytes] of entries) {
    byName.set(name, Math.max(bytes, byName.get(name) ?? 0));
    most = Math.max(most, bytes);
  }
  return { byName, most };
}

/** `AS t(a, b)`: renames the first columns. */
export function renamed(columns: Columns, names: readonly string[]): Columns {
  return names.length === 0 ? columns : { byName: new Map(names.map((name) => [name, columns.most])), most: columns.most };
}
