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

export function together(...all: readonly Columns[]): Columns {
  const byName = new Map<string, number>();
  for (const columns of all) for (const [name, bytes] of columns.byName) byName.set(name, Math.max(bytes, byName.get(name) ?? 0));
  return { byName, most: all.reduce((most, columns) => Math.max(most, columns.most), 0) };
}

export function columnsFrom(entries: readonly (readonly [name: string, bytes: number])[]): Columns {
  return together({ byName: new Map(), most: 0 }, ...entries.map(([name, bytes]) => ({ byName: new Map([[name, bytes]]), most: bytes })));
}

/** `AS t(a, b)`: renames the first columns. */
export function renamed(columns: Columns, names: readonly string[]): Columns {
  return names.length === 0 ? columns : { byName: new Map(names.map((name) => [name, columns.most])), most: columns.most };
}
