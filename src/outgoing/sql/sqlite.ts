// SQLite for scripts. A script opens what is in memory and files below the folder that the server was started with, nothing else: a path is
// followed to where it really leads, and statements that open or write other files (ATTACH, VACUUM INTO) are none that may be asked.
// Runs in the process of one request (sqlite-process.ts).
import { Database } from "bun:sqlite";
import { realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { SqlColumn, SqlInsert, SqlRows, SqlValue } from "../../model/query/sql-service.ts";
import { createStatement, insertStatement, rowsPerStatement } from "./sql-text.ts";

export interface SqliteLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** A first word behind comments. */
const QUERY = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(select|with|values)\b/i;

/** @param file null: a database in memory @throws Error */
export function queryRows(file: string | null, text: string, limits: SqliteLimits): SqlRows {
  if (!QUERY.test(text)) throw new Error("a query on sqlite begins with SELECT, WITH or VALUES");
  const database = opened(file, false);
  try {
    // what a query sorts has the limit of the process, and no disk
    database.run("PRAGMA temp_store = MEMORY");
    const inner = text.replace(/[\s;]+$/, "");
    // one statement: what is behind it is never compiled
    const statement = database.query(`SELECT * FROM (${inner}\n) LIMIT ${limits.rowsMax + 1}`);
    const values = statement.values() as unknown[][];
    checkSize(values, limits);
    const labels = statement.columnNames;
    // the types of an empty answer are known by their declarations alone
    const declared = statement.declaredTypes;
    const columns = labels.map((label, i): SqlColumn => ({ label, type: columnType(declared[i] ?? null, values, i) }));
    return { columns, rows: values.map((row) => row.map((cell, i) => cellOf(cell, columns[i]!))) };
  } finally {
    database.close();
  }
}

/** @throws Error: too many rows or bytes */
function checkSize(rows: readonly (readonly unknown[])[], { rowsMax, bytesMax }: SqliteLimits): void {
  if (rows.length > rowsMax) throw new Error(`the answer has more than ${rowsMax} rows`);
  let bytes = 0;
  for (const row of rows) for (const cell of row) if (typeof cell === "string" || cell instanceof Uint8Array) bytes += cell.length;
  if (bytes > bytesMax) throw new Error(`the answer is longer than ${bytesMax} bytes`);
}

/** All rows or none. @param file null: a database in memory @throws Error */
export function insertRows(file: string | null, { table, columns, rows, batchRows }: SqlInsert): void {
  const database = opened(file, true);
  try {
    database.run("BEGIN");
    database.run(createStatement(table, columns, "sqlite"));
    const perStatement = rowsPerStatement(columns.length, batchRows);
    for (let from = 0; from < rows.length; from += perStatement) {
      const part = rows.slice(from, from + perStatement);
      const bound = part.flatMap((row) => row.map((value, i) => boundValue(value, columns[i]!)));
      database.query(insertStatement(table, columns, part.length, "sqlite")).run(...bound);
    }
    database.run("COMMIT");
  } finally {
    database.close();
  }
}

function opened(file: string | null, writes: boolean): Database {
  if (file === null) return new Database(":memory:", { safeIntegers: true });
  return writes
    ? new Database(file, { safeIntegers: true, create: true, readwrite: true })
    : new Database(file, { safeIntegers: true, readonly: true });
}

/** The file of a data source; null: in memory. @throws Error: it may not be opened */
export function fileOf(dataSource: string, folder: string | null): string | null {
  const path = dataSource.replace(/^file:/, "").replace(/\?[\s\S]*$/, "");
  if (path === ":memory:" || path === "") return null;
  if (folder === null) throw new Error("files are not open to scripts: the server was started without --flux-sqlite-dir");
  return pathWithin(folder, path);
}

/** Where the path leads, below the folder. @throws Error */
function pathWithin(folder: string, path: string): string {
  const outside = new Error("the file is not below the folder of --flux-sqlite-dir");
  if (path.includes("\0")) throw outside;
  const root = realpathSync(folder);
  const wanted = resolve(root, path);
  let real: string;
  try {
    real = realpathSync(wanted);
  } catch {
    // a file that is to be made
    try {
      real = join(realpathSync(dirname(wanted)), wanted.slice(dirname(wanted).length + 1));
    } catch {
      throw new Error("there is no such folder");
    }
  }
  const below = relative(root, real);
  if (below === "" || below === ".." || below.startsWith(`..${sep}`) || resolve(root, below) !== real) throw outside;
  return real;
}

function columnType(declared: string | null, rows: readonly (readonly unknown[])[], index: number): SqlColumn["type"] {
  const name = (declared ?? "").toUpperCase();
  if (/DATE|TIME/.test(name)) return "time";
  if (name.startsWith("BOOL")) return "bool";
  if (name.includes("INT")) return "int";
  if (/CHAR|TEXT|CLOB/.test(name)) return "string";
  if (/REAL|FLOA|DOUB/.test(name)) return "float";
  const first = rows.find((row) => row[index] !== null)?.[index];
  if (typeof first === "bigint") return rows.some((row) => typeof row[index] === "number") ? "float" : "int";
  return typeof first === "number" ? "float" : "string";
}

/** @throws Error: the value is not of the column's type */
function cellOf(cell: unknown, { label, type }: SqlColumn): SqlValue {
  if (cell === null) return null;
  const made = converted(cell, type);
  if (made === undefined) throw new Error(`column ${JSON.stringify(label)} of type ${type} has a value of another type`);
  return made;
}

function converted(cell: unknown, type: SqlColumn["type"]): SqlValue | undefined {
  if (type === "string") return cell instanceof Uint8Array ? Buffer.from(cell).toString("utf8") : String(cell);
  if (type === "bool") return cell === 1n || cell === 0n ? cell === 1n : undefined;
  if (type === "float") return typeof cell === "number" || typeof cell === "bigint" ? Number(cell) : undefined;
  if (type === "int") return typeof cell === "bigint" ? cell : undefined;
  if (type === "time")
    return typeof cell === "string" ? { time: cell } : typeof cell === "bigint" ? { time: cell * 1_000_000_000n } : undefined;
  return undefined;
}

function boundValue(value: SqlValue, { type }: SqlColumn): string | number | bigint | null {
  if (value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object") return String(value.time);
  return type === "uint" ? String(value) : value;
}
