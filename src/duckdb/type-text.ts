// DuckDB types as SQL text, for casts from types without a reader (UUID, BIT, UNION ...) to types that have one.
import type duckdbTypes from "@duckdb/node-bindings";
import { DuckType, duckdb } from "./binding.ts";

type LogicalType = duckdbTypes.LogicalType;

const AS_TEXT: ReadonlySet<number> = new Set<number>([
  DuckType.UUID,
  DuckType.BIT,
  DuckType.UNION,
  DuckType.TIME_TZ,
  DuckType.BIGNUM,
  DuckType.GEOMETRY,
  DuckType.VARIANT,
]);

/** The SQL type that a column must be cast to before reading; null if none. */
export function castForReading(logical: LogicalType): string | null {
  const id = duckdb.get_type_id(logical);
  if (AS_TEXT.has(id)) return "VARCHAR";
  if (id === DuckType.LIST) {
    const child = castForReading(duckdb.list_type_child_type(logical));
    return child === null ? null : `${child}[]`;
  }
  if (id === DuckType.ARRAY) {
    const child = castForReading(duckdb.array_type_child_type(logical));
    return child === null ? null : `${child}[${duckdb.array_type_array_size(logical)}]`;
  }
  // Structs and maps that contain such a type are rare: the whole value becomes text.
  if (id === DuckType.STRUCT) {
    for (let i = 0; i < duckdb.struct_type_child_count(logical); i++) {
      if (castForReading(duckdb.struct_type_child_type(logical, i)) !== null) return "VARCHAR";
    }
  }
  if (id === DuckType.MAP) {
    const parts = [duckdb.map_type_key_type(logical), duckdb.map_type_value_type(logical)];
    if (parts.some((part) => castForReading(part) !== null)) return "VARCHAR";
  }
  return null;
}
