// Rows of plugin tables as plain objects, for tests.
import type { PluginColumn, PluginTable, PluginValues } from "../../../src/plugins/plugin-call.ts";

export type PlainRow = Readonly<Record<string, string | number | bigint | boolean>>;

/** By table; absent values have no member. */
export function plainTables(tables: readonly PluginTable[]): Record<string, PlainRow[]> {
  return Object.fromEntries(tables.map((table) => [table.table, plainRows(table)]));
}

function plainRows({ rowCount, columns }: PluginTable): PlainRow[] {
  const rows = Array.from({ length: rowCount }, (): Record<string, string | number | bigint | boolean> => ({}));
  for (const column of columns) fill(rows, column);
  return rows;
}

function fill(rows: Record<string, string | number | bigint | boolean>[], { name, present, values }: PluginColumn): void {
  let at = 0;
  rows.forEach((row, i) => {
    if (present !== null && present[at] !== i) return;
    row[name] = valueAt(values, at++);
  });
  const count = values.kind === "text" ? (values.codes ?? values.ends).length : values.values.length;
  if (at !== count) throw new Error(`column ${name} has ${count} values for ${at} rows`);
}

function valueAt(values: PluginValues, at: number): string | number | bigint | boolean {
  if (values.kind === "boolean") return values.values[at] === 1;
  if (values.kind !== "text") return values.values[at]!;
  const text = values.codes === null ? at : values.codes[at]!;
  return new TextDecoder().decode(values.bytes.subarray(text === 0 ? 0 : values.ends[text - 1], values.ends[text]));
}
