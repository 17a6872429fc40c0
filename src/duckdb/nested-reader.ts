// Reads lists, structs and maps. DuckDB's list entries may point anywhere into the child vector; Arrow requires row order, so children of
// scattered lists are gathered.
//     list entry: | offset u64 | length u64 |
import type duckdbTypes from "@duckdb/node-bindings";
import type { ResultColumn, ResultField, ResultType } from "../model/query/result-batch.ts";
import { takeRows } from "../model/rows/take-rows.ts";
import { DuckType, duckdb } from "./binding.ts";
import { type ColumnReader, fieldOf, readValidity, vectorBytes } from "./vector.ts";

type LogicalType = duckdbTypes.LogicalType;
type Vector = duckdbTypes.Vector;

const NO_VALUES = new Uint8Array(0);

/** The reader of a nested type; `create` makes the readers of its children. Returns null for other types. */
export function createNestedReader(logical: LogicalType, id: number, create: (child: LogicalType) => ColumnReader): ColumnReader | null {
  if (id === DuckType.LIST) return listReader(create(duckdb.list_type_child_type(logical)));
  if (id === DuckType.ARRAY) return arrayReader(create(duckdb.array_type_child_type(logical)), duckdb.array_type_array_size(logical));
  if (id === DuckType.MAP) return mapReader(create(duckdb.map_type_key_type(logical)), create(duckdb.map_type_value_type(logical)));
  if (id === DuckType.STRUCT) {
    const fields: ResultField[] = [];
    const readers: ColumnReader[] = [];
    for (let i = 0; i < duckdb.struct_type_child_count(logical); i++) {
      const reader = create(duckdb.struct_type_child_type(logical, i));
      readers.push(reader);
      fields.push(fieldOf(duckdb.struct_type_child_name(logical, i), reader));
    }
    return structReader(fields, readers);
  }
  return null;
}

function structReader(fields: readonly ResultField[], readers: readonly ColumnReader[]): ColumnReader {
  return {
    type: { kind: "struct", children: fields },
    read: (vector, rowCount) => ({
      validity: readValidity(vector, rowCount),
      values: NO_VALUES,
      children: readers.map((reader, i) => reader.read(duckdb.struct_vector_get_child(vector, i), rowCount)),
    }),
  };
}

interface ListRows {
  readonly validity: Uint8Array | null;
  readonly offsets: Int32Array;
  /** Child rows in list order; null if that is the child's own order. */
  readonly childRows: Uint32Array | null;
}

function readEntries(vector: Vector, rowCount: number): ListRows {
  const validity = readValidity(vector, rowCount);
  const bytes = vectorBytes(vector, rowCount * 16);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, rowCount * 4); // counts stay far below 2^32
  const offsets = new Int32Array(rowCount + 1);
  let total = 0;
  let inOrder = true;
  for (let row = 0; row < rowCount; row++) {
    const present = validity === null || (validity[row >>> 3]! >>> (row & 7)) & 1;
    const length = present ? words[row * 4 + 2]! : 0;
    if (length > 0 && words[row * 4] !== total) inOrder = false;
    total += length;
    offsets[row + 1] = total;
  }
  if (inOrder) return { validity, offsets, childRows: null };
  const childRows = new Uint32Array(total);
  for (let row = 0; row < rowCount; row++) {
    const start = words[row * 4]!;
    for (let i = offsets[row]!, k = 0; i < offsets[row + 1]!; i++, k++) childRows[i] = start + k;
  }
  return { validity, offsets, childRows };
}

function readChild(reader: ColumnReader, vector: Vector, childCount: number, rows: ListRows): ResultColumn {
  const total = rows.offsets[rows.offsets.length - 1]!;
  if (rows.childRows === null) return reader.read(vector, total);
  return takeRows(reader.read(vector, childCount), reader.type, rows.childRows);
}

function listReader(child: ColumnReader): ColumnReader {
  return {
    type: { kind: "list", child: fieldOf("item", child) },
    read(vector, rowCount) {
      const rows = readEntries(vector, rowCount);
      const childColumn = readChild(child, duckdb.list_vector_get_child(vector), duckdb.list_vector_get_size(vector), rows);
      return { validity: rows.validity, values: NO_VALUES, offsets: rows.offsets, children: [childColumn] };
    },
  };
}

function arrayReader(child: ColumnReader, size: number): ColumnReader {
  return {
    type: { kind: "list", child: fieldOf("item", child) },
    read(vector, rowCount) {
      const offsets = new Int32Array(rowCount + 1);
      for (let row = 0; row <= rowCount; row++) offsets[row] = row * size;
      const childColumn = child.read(duckdb.array_vector_get_child(vector), rowCount * size);
      return { validity: readValidity(vector, rowCount), values: NO_VALUES, offsets, children: [childColumn] };
    },
  };
}

/** A map is a list of (key, value) structs. */
function mapReader(key: ColumnReader, value: ColumnReader): ColumnReader {
  const type: ResultType = { kind: "map", key: fieldOf("key", key), value: fieldOf("value", value) };
  return {
    type,
    read(vector, rowCount) {
      const rows = readEntries(vector, rowCount);
      const entries = duckdb.list_vector_get_child(vector);
      const childCount = duckdb.list_vector_get_size(vector);
      const children = [key, value].map((reader, i) => readChild(reader, duckdb.struct_vector_get_child(entries, i), childCount, rows));
      return { validity: rows.validity, values: NO_VALUES, offsets: rows.offsets, children };
    },
  };
}
