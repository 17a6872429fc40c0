// Creates and gathers columns of points whose type is known only at run time.
import { assert } from "../../model/assert.ts";
import { inSteps, type Steps } from "../../model/steps.ts";
import type { FieldType } from "../parse/ast.ts";
import { floatsOf, takeIntegers } from "./int64.ts";
import type { Cells } from "./operator.ts";
import type { Points, PointValues } from "./points.ts";
import { Texts } from "./texts.ts";

export type Values = PointValues[FieldType];

/** Creates points; requires as many values as times. */
export function pointsOf<T extends FieldType>(type: T, times: BigInt64Array, values: PointValues[T]): Points {
  assert(times.length === values.length, `${times.length} times, ${values.length} values`);
  return { type, times, values } as unknown as Points;
}

/** Creates cells. */
export function cellsOf<T extends FieldType>(type: T, values: PointValues[T], validity: Uint8Array | null): Cells {
  return { type, values, validity } as unknown as Cells;
}

/** An array for `count` values: zeros, "" and false. */
export function newValues(type: FieldType, count: number): Values {
  switch (type) {
    case "float":
      return new Float64Array(count);
    case "integer":
      return new BigInt64Array(count);
    case "unsigned":
      return new BigUint64Array(count);
    case "boolean":
      return new Uint8Array(count);
    case "string":
      return Texts.empty(count);
  }
}

/** The value of one row; true is 1. */
export function valueAt(values: Values, row: number): number | bigint | string {
  return values instanceof Texts ? values.at(row) : values[row]!;
}

/** Gathers values by row number. */
export function* takeValues(values: Values, rows: Int32Array): Steps<Values> {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return yield* takeIntegers(values, rows);
  if (values instanceof Float64Array) {
    const taken = new Float64Array(rows.length);
    yield* inSteps(rows.length, (from, to) => {
      for (let i = from; i < to; i++) taken[i] = values[rows[i]!]!;
    });
    return taken;
  }
  if (values instanceof Uint8Array) {
    const taken = new Uint8Array(rows.length);
    yield* inSteps(rows.length, (from, to) => {
      for (let i = from; i < to; i++) taken[i] = values[rows[i]!]!;
    });
    return taken;
  }
  return yield* values.take(rows);
}

/** The numbers of a column as the nearest floats. Borrowed if they are floats already. */
export function* numbersOf(column: Points | Cells): Steps<Float64Array> {
  if (column.type === "float") return column.values;
  assert(column.type === "integer" || column.type === "unsigned", `numbers of a ${column.type}`);
  return yield* floatsOf(column.values);
}
