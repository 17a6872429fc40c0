// fill() for columns of rows: replaces nulls next to values of other columns.
import { isPause, type Steps } from "../../../model/steps.ts";
import { cellsOf, newValues } from "../../functions/columns.ts";
import type { PointValues } from "../../functions/points.ts";
import { Texts } from "../../functions/texts.ts";
import { isValid } from "../../functions/validity.ts";
import type { Fill } from "../../parse/ast.ts";
import type { AnyCells } from "./columns.ts";

/** Replaces nulls by a number or the previous value, of rows in the other order the next one; other fills leave them. */
export function* fillCells(cells: AnyCells, fill: Fill, isBackward = false): Steps<AnyCells> {
  if (cells.type === "tag" || cells.validity === null || (fill.kind !== "value" && fill.kind !== "previous")) return cells;
  const { type, values, validity } = cells;
  // of texts their codes
  const own = (values instanceof Texts ? values.codes : values) as ArrayLike<number | bigint>;
  const result = values instanceof Texts ? new Texts(new Uint32Array(values.length), values.dictionary) : newValues(type, values.length);
  const filled = (result instanceof Texts ? result.codes : result) as unknown as (number | bigint)[];
  const present = new Uint8Array(validity.length);
  let last: number | bigint | null = fill.kind === "value" ? constantOf(type, fill.value) : null;
  for (let at = 0; at < values.length; at++) {
    if (isPause(at)) yield;
    const i = isBackward ? values.length - 1 - at : at;
    const given = isValid(validity, i) ? own[i]! : null;
    if (given !== null && fill.kind === "previous") last = given;
    const value = given ?? last;
    if (value === null) continue;
    filled[i] = value;
    present[i >> 3] = present[i >> 3]! | (1 << (i & 7));
  }
  return cellsOf(type, result as PointValues[typeof type], present);
}

/** Null: a number is not a value of that type. */
function constantOf(type: keyof PointValues, value: number | bigint): number | bigint | null {
  if (type === "float") return Number(value);
  if (type !== "integer" && type !== "unsigned") return null;
  return typeof value === "bigint" ? value : BigInt(Math.trunc(value));
}
