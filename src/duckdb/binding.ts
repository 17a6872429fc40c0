// The only module that loads DuckDB's native binding; the packager replaces the import.
import duckdb from "@duckdb/node-bindings";

export { duckdb };

/** `duckdb.Type` as plain constants: the binding's enums are ordinary objects, so they are read once. */
export const DuckType = duckdb.Type;
