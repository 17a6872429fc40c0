// Two answers in annotated CSV: the same tables, in any order, with rows in theirs.
import { csvRows } from "../../src/flux/library/csv/parse-csv.ts";

export interface Comparison {
  readonly rowOrder?: boolean | undefined;
  readonly columnOrder?: boolean | undefined;
  readonly tolerance?: number | undefined;
}

interface CsvTable {
  readonly result: string;
  /** Label, type and whether it is in the key. */
  readonly columns: readonly (readonly [string, string, string])[];
  readonly rows: (readonly string[])[];
  readonly key: string;
}

/** What differs, or null. */
export function csvDifference(got: string, want: string, options: Comparison): string | null {
  const [gotTables, wantTables] = [tablesOf(got, options), tablesOf(want, options)];
  const gotByKey = byName(gotTables);
  const wantByKey = byName(wantTables);
  for (const [name, table] of wantByKey) {
    const other = gotByKey.get(name);
    if (other === undefined) return `no table ${name}; got ${[...gotByKey.keys()].slice(0, 3).join(" ")}`;
    const difference = tableDifference(other, table, options);
    if (difference !== null) return `table ${name}: ${difference}`;
  }
  for (const name of gotByKey.keys()) if (!wantByKey.has(name)) return `a table too many: ${name}`;
  return null;
}

function byName(tables: readonly CsvTable[]): Map<string, CsvTable> {
  const found = new Map<string, CsvTable>();
  for (const table of tables) {
    const name = `${table.result} ${table.key} ${table.columns.map(([label, type]) => `${label}:${type}`).sort()}`;
    const known = found.get(name);
    // an empty table counts only alone
    if (known === undefined) found.set(name, table);
    else known.rows.push(...table.rows);
  }
  return found;
}

function tableDifference(got: CsvTable, want: CsvTable, { rowOrder = true, tolerance = 1e-9 }: Comparison): string | null {
  const labels = (table: CsvTable) => JSON.stringify(table.columns);
  if (labels(got) !== labels(want)) return `columns ${labels(got)}, want ${labels(want)}`;
  if (got.rows.length !== want.rows.length) return `${got.rows.length} rows, want ${want.rows.length}`;
  const [a, b] = rowOrder ? [got.rows, want.rows] : [sorted(got.rows), sorted(want.rows)];
  for (const [i, row] of b.entries()) {
    for (const [j, cell] of row.entries()) {
      if (!isSameCell(a[i]![j]!, cell, want.columns[j]![1], tolerance))
        return `row ${i}, ${want.columns[j]![0]}: ${a[i]![j]}, want ${cell}`;
    }
  }
  return null;
}

function sorted(rows: readonly (readonly string[])[]): (readonly string[])[] {
  return [...rows].sort((a, b) => (a.join("\0") < b.join("\0") ? -1 : 1));
}

function isSameCell(got: string, want: string, type: string, tolerance: number): boolean {
  if (got === want) return true;
  if (type !== "double" || got === "" || want === "") return false;
  const [a, b] = [Number(got), Number(want)];
  return Math.abs(a - b) <= Math.max(tolerance * Math.max(Math.abs(a), Math.abs(b)), 1e-12);
}

function tablesOf(text: string, { columnOrder = true }: Comparison): CsvTable[] {
  const tables: CsvTable[] = [];
  let annotations = new Map<string, readonly string[]>();
  let header: readonly string[] | null = null;
  let table: { readonly id: string; readonly table: CsvTable } | null = null;
  const finish = () => {
    if (header !== null && table === null) tables.push(emptyTable(annotations, header, columnOrder));
    header = null;
    table = null;
    annotations = new Map();
  };
  for (const cells of csvRows(text)) {
    if (cells.length === 0) finish();
    else if (cells[0]!.startsWith("#")) {
      if (header !== null) finish();
      annotations.set(cells[0]!, cells);
    } else if (header === null) header = cells;
    else {
      const id = `${cells[1]} ${cells[2]}`;
      const found: CsvTable | null = (table as { id: string; table: CsvTable } | null)?.id === id ? table!.table : null;
      const target: CsvTable = found ?? newTable(annotations, header, cells, columnOrder);
      if (found === null) tables.push(target);
      table = { id, table: target };
      target.rows.push(ordered(cells.slice(3), header, columnOrder));
    }
  }
  finish();
  return tables;
}

function ordered(cells: readonly string[], header: readonly string[], columnOrder: boolean): readonly string[] {
  if (columnOrder) return cells;
  return cells
    .map((cell, i) => [header[i + 3]!, cell] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, cell]) => cell);
}

function newTable(
  annotations: ReadonlyMap<string, readonly string[]>,
  header: readonly string[],
  cells: readonly string[],
  columnOrder: boolean,
): CsvTable {
  const [types, groups, defaults] = ["#datatype", "#group", "#default"].map((name) => annotations.get(name) ?? []);
  const columns = header.slice(3).map((label, i) => [label, types![i + 3] ?? "", groups![i + 3] ?? ""] as const);
  const key = columns.map((column, i) => [...column, cells[i + 3] ?? ""]).filter(([, , isGrouped]) => isGrouped === "true");
  return {
    result: cells[1] || defaults![1] || "",
    columns: columnOrder ? columns : [...columns].sort(([a], [b]) => (a < b ? -1 : 1)),
    rows: [],
    key: JSON.stringify(key.map((each) => each.join(" ")).sort()),
  };
}

function emptyTable(annotations: ReadonlyMap<string, readonly string[]>, header: readonly string[], columnOrder: boolean): CsvTable {
  return newTable(annotations, header, annotations.get("#default") ?? [], columnOrder);
}
