// Conversions of row columns: to other types, and without nulls.

import { I64_MIN } from "../../../model/rows/int64.ts";
import { inRange, inSteps, isPause, type Steps } from "../../../model/steps.ts";
import { cellsOf, numbersOf, pointsOf, takeValues } from "../../functions/columns.ts";
import { takeIntegers } from "../../functions/int64.ts";
import type { Cells } from "../../functions/operator.ts";
import type { Points, PointValues } from "../../functions/points.ts";
import { Texts } from "../../functions/texts.ts";
import { isValid } from "../../functions/validity.ts";
import type { FieldType } from "../../parse/ast.ts";
import type { ColumnKind } from "../../plan/types.ts";
import type { AnyCells, TagCells } from "./columns.ts";

const NUMBERS: readonly unknown[] = ["float", "integer", "unsigned"];

/** Casts a column: numeric types are converted to each other, all other casts have no value. */
export function* castCells(cells: AnyCells, kind: ColumnKind): Steps<AnyCells | null> {
  if (cells.type === kind) return cells;
  if (cells.type === "tag") return kind === "string" ? yield* textsOf(cells) : null;
  if (kind === "tag") return cells.type === "string" ? yield* tagsOf(cells) : null;
  if (kind === null || !NUMBERS.includes(kind) || !NUMBERS.includes(cells.type)) return null;
  const { validity } = cells;
  if (kind === "float") return cellsOf("float", yield* numbersOf(cells), validity);
  const values = cells.type === "float" ? yield* wholeNumbers(cells.values) : (cells.values as BigInt64Array | BigUint64Array);
  return kind === "integer"
    ? cellsOf("integer", new BigInt64Array(values.buffer as ArrayBuffer, values.byteOffset, values.length), validity)
    : cellsOf("unsigned", new BigUint64Array(values.buffer as ArrayBuffer, values.byteOffset, values.length), validity);
}

const LEAST = I64_MIN;

function* wholeNumbers(values: Float64Array): Steps<BigInt64Array> {
  const whole = new BigInt64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    if (isPause(i)) yield;
    const value = Math.trunc(values[i]!);
    // out-of-range values become the least integer, as processors convert them
    whole[i] = value >= -(2 ** 63) && value < 2 ** 63 ? BigInt(value) : LEAST;
  }
  return whole;
}

/** Absent tags become nulls. */
export function* textsOf({ codes, dictionary, keepsEmpty = false }: TagCells): Steps<Cells> {
  const validity = new Uint8Array((codes.length + 7) >> 3);
  let missing = 0;
  for (let i = 0; i < codes.length; i++) {
    if (isPause(i)) yield;
    if (dictionary[codes[i]!] === "" && !keepsEmpty) missing++;
    else validity[i >> 3] = validity[i >> 3]! | (1 << (i & 7));
  }
  return cellsOf("string", new Texts(codes, dictionary), missing === 0 ? null : validity);
}

/** Converts a string column to tag codes. */
export function* tagsOf({ values, validity }: Cells & { readonly type: "string" }): Steps<TagCells> {
  const dictionary: string[] = [];
  const codeOf = new Map<string, number>();
  const codes = new Uint32Array(values.length);
  yield* inSteps(values.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const value = isValid(validity, i) ? values.at(i) : "";
      let code = codeOf.get(value);
      if (code === undefined) {
        code = dictionary.push(value) - 1;
        codeOf.set(value, code);
      }
      codes[i] = code;
    }
  });
  return { type: "tag", codes, dictionary };
}

/** Gathers rows by number; -1 becomes null. */
export function* takeCells(cells: AnyCells, rows: Int32Array): Steps<AnyCells> {
  if (cells.type === "tag") return yield* takeTags(cells, rows);
  const { type, validity } = cells;
  if (validity === null && !rows.includes(-1))
    return cellsOf(type, (yield* takeValues(cells.values, rows)) as PointValues[typeof type], null);
  const places = new Int32Array(rows.length);
  const present = new Uint8Array((rows.length + 7) >> 3);
  let missing = 0;
  for (let i = 0; i < rows.length; i++) {
    if (isPause(i)) yield;
    const row = rows[i]!;
    if (row < 0 || !isValid(validity, row)) missing++;
    else {
      places[i] = row;
      present[i >> 3] = present[i >> 3]! | (1 << (i & 7));
    }
  }
  if (cells.values.length === 0) return emptyCells(type, rows.length);
  return cellsOf(type, (yield* takeValues(cells.values, places)) as PointValues[typeof type], missing === 0 ? null : present);
}

/** Gathers tag cells by row number; -1 becomes absent. */
export function* takeTags({ codes, dictionary, keepsEmpty = false }: TagCells, rows: Int32Array): Steps<TagCells> {
  const taken = new Uint32Array(rows.length);
  let isAll = true;
  for (let i = 0; i < rows.length; i++) {
    if (isPause(i)) yield;
    const row = rows[i]!;
    if (row < 0) isAll = false;
    else taken[i] = codes[row]!;
  }
  if (isAll) return { type: "tag", codes: taken, dictionary, keepsEmpty };
  const absent = dictionary.indexOf("");
  const none = absent < 0 ? dictionary.length : absent;
  yield* inSteps(rows.length, (from, to) => {
    for (let i = from; i < to; i++) if (rows[i]! < 0) taken[i] = none;
  });
  return { type: "tag", codes: taken, dictionary: absent < 0 ? [...dictionary, ""] : dictionary };
}

/** Rows [from, to) of a column, borrowed. @param from a multiple of 8 */
export function partOfCells(cells: AnyCells, from: number, to: number): AnyCells {
  if (cells.type === "tag") return { ...cells, codes: cells.codes.subarray(from, to) };
  const { type, values } = cells;
  const validity = cells.validity === null ? null : cells.validity.subarray(from >> 3, (to + 7) >> 3);
  return cellsOf(type, values.subarray(from, to) as PointValues[typeof type], validity);
}

/** A column of nulls. */
export function emptyCells(type: FieldType, rowCount: number): Cells {
  const validity = new Uint8Array((rowCount + 7) >> 3);
  switch (type) {
    case "float":
      return cellsOf(type, new Float64Array(rowCount), validity);
    case "integer":
      return cellsOf(type, new BigInt64Array(rowCount), validity);
    case "unsigned":
      return cellsOf(type, new BigUint64Array(rowCount), validity);
    case "boolean":
      return cellsOf(type, new Uint8Array(rowCount), validity);
    case "string":
      return cellsOf(type, Texts.empty(rowCount), validity);
  }
}

export interface PresentPoints {
  readonly points: Points;
  /** The row of each point. */
  readonly rows: Int32Array;
}

/** The present values of rows [from, to). */
export function* presentPoints(cells: AnyCells, times: BigInt64Array, from: number, to: number): Steps<PresentPoints> {
  const column = cells.type === "tag" ? yield* textsOf(cells) : cells;
  const { type, validity } = column;
  if (validity === null) {
    const rows = new Int32Array(to - from);
    yield* inSteps(rows.length, (first, stop) => {
      for (let i = first; i < stop; i++) rows[i] = from + i;
    });
    const values = column.values.slice(from, to) as PointValues[typeof type];
    return { points: pointsOf(type, times.slice(from, to), values), rows };
  }
  const rows = new Int32Array(to - from);
  let count = 0;
  yield* inRange(from, to, (first, stop) => {
    for (let row = first; row < stop; row++) if (isValid(validity, row)) rows[count++] = row;
  });
  const present = rows.slice(0, count);
  const values = (yield* takeValues(column.values, present)) as PointValues[typeof type];
  return { points: pointsOf(type, yield* takeIntegers(times, present), values), rows: present };
}

/** The times of rows, or a copy of all if `rows` is null. */
export function* takeTimes(times: BigInt64Array, rows: Uint32Array | null): Steps<BigInt64Array> {
  return rows === null ? times.slice() : yield* takeIntegers(times, new Int32Array(rows.buffer, rows.byteOffset, rows.length));
}
