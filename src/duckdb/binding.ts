// The one place that loads DuckDB's native binding; the packager replaces the module behind this import.
import duckdb from "@duckdb/node-bindings";

export { duckdb };

/** `duckdb.Type` as plain constants: the binding exports its enums as ordinary objects, so they are read once. */
export const DuckType = duckdb.Type;
