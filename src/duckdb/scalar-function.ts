// Scalar DuckDB functions computed in JavaScript, where no built-in function suffices: a vector per argument in, one vector out.
import type duckdbTypes from "@duckdb/node-bindings";
import { TsdbError } from "../model/errors.ts";
import { loopWatch } from "../model/loop-watch.ts";
import { DuckType, duckdb } from "./binding.ts";
import type { Connection } from "./connection.ts";
import { readStrings } from "./string-reader.ts";

/** "text" and "bytes" are passed as bytes (UTF-8), borrowed. */
export type NativeType = "text" | "bytes";

export interface NativeFunction {
  readonly name: string;
  readonly parameters: readonly NativeType[];
  readonly result: NativeType | "integer" | "boolean";
  /** Computes one row without NULLs; null: NULL. An exception ends the statement. */
  compute(args: readonly Uint8Array[]): Uint8Array | number | null;
}

const DUCK_TYPE: Readonly<Record<NativeFunction["result"], number>> = {
  text: DuckType.VARCHAR,
  bytes: DuckType.BLOB,
  integer: DuckType.INTEGER,
  boolean: DuckType.BOOLEAN,
};
const VIEW_BYTES = 16;

/** Registers a function for the whole database. Rows with a NULL argument are NULL. */
export function registerScalarFunction(connection: Connection, native: NativeFunction): void {
  const fn = duckdb.create_scalar_function();
  duckdb.scalar_function_set_name(fn, native.name);
  for (const parameter of native.parameters) {
    duckdb.scalar_function_add_parameter(fn, duckdb.create_logical_type(DUCK_TYPE[parameter]));
  }
  duckdb.scalar_function_set_return_type(fn, duckdb.create_logical_type(DUCK_TYPE[native.result]));
  duckdb.scalar_function_set_function(fn, (info, input, output) => {
    try {
      fill(native, input, output);
    } catch (error) {
      duckdb.scalar_function_set_error(info, error instanceof Error ? error.message : String(error));
    }
  });
  duckdb.register_scalar_function(connection.handle, fn);
}

function fill(native: NativeFunction, input: duckdbTypes.DataChunk, output: duckdbTypes.Vector): void {
  const rowCount = duckdb.data_chunk_get_size(input);
  const validityBytes = Math.ceil(rowCount / 64) * 8;
  const columns = native.parameters.map((_, i) => {
    const vector = duckdb.data_chunk_get_vector(input, i);
    const validity = duckdb.vector_get_validity(vector, validityBytes) as Uint8Array | null;
    return { validity, ...readStrings(duckdb.vector_get_data(vector, rowCount * VIEW_BYTES), rowCount, validity) };
  });
  const values: (Uint8Array | number | null)[] = [];
  const isDone = loopWatch.run("scan", () => {
    for (let row = 0; row < rowCount; row++) {
      const isNull = columns.some(({ validity }) => validity !== null && ((validity[row >>> 3]! >>> (row & 7)) & 1) === 0);
      values.push(isNull ? null : native.compute(columns.map(({ offsets, data }) => data.subarray(offsets[row]!, offsets[row + 1]!))));
    }
  });
  if (!isDone) throw new TsdbError("cancelled", "the statement has ended");
  // outside of the watch: terminating a call into the binding would crash the process
  const target = new Target(native.result, output, rowCount);
  for (const [row, value] of values.entries()) target.set(row, value);
  target.finish();
}

/** The binding returns copies of a vector's memory: results are collected and copied in as a whole. */
class Target {
  private validity: Uint8Array<ArrayBuffer> | null = null;
  private readonly values: Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> | null;

  constructor(
    result: NativeFunction["result"],
    private readonly vector: duckdbTypes.Vector,
    private readonly rowCount: number,
  ) {
    this.values = result === "integer" ? new Int32Array(rowCount) : result === "boolean" ? new Uint8Array(rowCount) : null;
  }

  set(row: number, value: Uint8Array | number | null): void {
    if (value === null) {
      this.validity ??= new Uint8Array(Math.ceil(this.rowCount / 64) * 8).fill(0xff);
      this.validity[row >>> 3]! &= ~(1 << (row & 7));
    } else if (typeof value === "number") this.values![row] = value;
    else duckdb.vector_assign_string_element_len(this.vector, row, value);
  }

  finish(): void {
    const { vector, values, validity } = this;
    if (values !== null) duckdb.copy_data_to_vector(vector, 0, values.buffer, 0, values.byteLength);
    if (validity === null) return;
    duckdb.vector_ensure_validity_writable(vector);
    duckdb.copy_data_to_vector_validity(vector, 0, validity.buffer, 0, validity.byteLength);
  }
}
