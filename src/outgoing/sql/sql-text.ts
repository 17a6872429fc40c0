// Statements that `sql.to` makes: names are quoted, values are bound.
import type { SqlColumn } from "../../model/query/sql-service.ts";

export type SqlDialect = "postgres" | "sqlite";

const TYPES: Readonly<Record<SqlDialect, Readonly<Record<SqlColumn["type"], string>>>> = {
  postgres: {
    float: "DOUBLE PRECISION",
    int: "BIGINT",
    uint: "NUMERIC(20)",
    string: "TEXT",
    bool: "BOOLEAN",
    time: "TIMESTAMP WITH TIME ZONE",
  },
  sqlite: { float: "FLOAT", int: "INTEGER", uint: "TEXT", string: "TEXT", bool: "BOOLEAN", time: "DATETIME" },
};

/** Both products allow at least as many parameters in one statement. */
const PARAMETERS_MAX = 32_000;

function name(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** @param text `table`, or `schema.table` */
function tableName(text: string): string {
  return text.split(".").map(name).join(".");
}

/** @param table `table`, or `schema.table` */
export function createStatement(table: string, columns: readonly SqlColumn[], dialect: SqlDialect): string {
  const typed = columns.map(({ label, type }) => `${name(label)} ${TYPES[dialect][type]}`);
  return `CREATE TABLE IF NOT EXISTS ${tableName(table)} (${typed.join(", ")})`;
}

/** @returns rows that one statement takes */
export function rowsPerStatement(columnCount: number, batchRows: number): number {
  return Math.max(1, Math.min(batchRows, Math.floor(PARAMETERS_MAX / Math.max(1, columnCount))));
}

/** A statement for `rowCount` rows, whose values are bound row by row. */
export function insertStatement(table: string, columns: readonly SqlColumn[], rowCount: number, dialect: SqlDialect): string {
  const row = (i: number) => columns.map((_, j) => (dialect === "sqlite" ? "?" : `$${i * columns.length + j + 1}`)).join(", ");
  const rows = Array.from({ length: rowCount }, (_, i) => `(${row(i)})`);
  return `INSERT INTO ${tableName(table)} (${columns.map(({ label }) => name(label)).join(", ")}) VALUES ${rows.join(", ")}`;
}
