// Access to a DuckDB vector for all column readers: its bytes and its validity bitmap.
import type duckdbTypes from "@duckdb/node-bindings";
import type { ResultColumn, ResultField, ResultType } from "../model/query/result-batch.ts";
import { duckdb } from "./binding.ts";

type Vector = duckdbTypes.Vector;

export interface ColumnReader {
  readonly type: ResultType;
  /** Copies `rowCount` rows of `vector`. The column is owned by the caller. */
  read(vector: Vector, rowCount: number): ResultColumn;
}

/** A copy of the vector's validity bitmap; null if every row is present. */
export function readValidity(vector: Vector, rowCount: number): Uint8Array | null {
  const bytes = Math.ceil(rowCount / 64) * 8;
  const borrowed = duckdb.vector_get_validity(vector, bytes) as Uint8Array | null;
  if (borrowed === null) return null;
  for (let row = 0; row < rowCount; row++) {
    if ((row & 7) === 0 && row + 8 <= rowCount && borrowed[row >>> 3] === 0xff) row += 7;
    else if (((borrowed[row >>> 3]! >>> (row & 7)) & 1) === 0) return borrowed.slice();
  }
  return null;
}

/** The bytes of a flat vector, borrowed from its chunk. */
export function vectorBytes(vector: Vector, bytes: number): Uint8Array {
  return duckdb.vector_get_data(vector, bytes);
}

/** A field as a child of nested types. */
export function fieldOf(name: string, reader: ColumnReader): ResultField {
  return { name, type: reader.type };
}
