// Tests whether a field has one of many values, in time independent of their number. The result equals that of comparing with each of them:
// integers with integers exactly, with floats as floats; values of different other types are never equal.

import { type Integers, wordsOf } from "../../functions/int64.ts";
import type { Cells } from "../../functions/operator.ts";
import { isValid } from "../../functions/validity.ts";
import type { Literal } from "../../parse/ast.ts";
import type { AnyCells } from "./columns.ts";

const WORD = 2 ** 32;
/** Upper word of the first integer that is not exact as a float. */
const EXACT_HIGH = 2 ** 21;

type RowTest = (row: number) => boolean;

/** @param cells of a field */
export function isOneOf(cells: AnyCells, literals: readonly Literal[]): RowTest {
  switch (cells.type) {
    case "float":
      return floatIn(cells, literals);
    case "integer":
    case "unsigned":
      return integerIn(cells, literals);
    case "boolean": {
      const wanted = new Set(literals.flatMap((literal) => (literal.kind === "boolean" ? [literal.value ? 1 : 0] : [])));
      const { values, validity } = cells;
      return (row) => isValid(validity, row) && wanted.has(values[row]!);
    }
    case "string": {
      const wanted = new Set(literals.flatMap((literal) => (literal.kind === "string" ? [literal.value] : [])));
      const { values, validity } = cells;
      return (row) => isValid(validity, row) && wanted.has(values.at(row));
    }
    default:
      return () => false;
  }
}

function floatIn({ values, validity }: Cells & { readonly type: "float" }, literals: readonly Literal[]): RowTest {
  const wanted = new Set(numbersOf(literals));
  return (row) => isValid(validity, row) && wanted.has(values[row]!);
}

/** NaN equals nothing, but a set would find it. */
function numbersOf(literals: readonly Literal[]): number[] {
  const numbers = literals.flatMap((literal) => (literal.kind === "number" || literal.kind === "integer" ? [Number(literal.value)] : []));
  return numbers.filter((value) => !Number.isNaN(value));
}

function integerIn({ type, values, validity }: Cells & { readonly type: "integer" | "unsigned" }, literals: readonly Literal[]): RowTest {
  const integers = new Set(literals.flatMap((literal) => (literal.kind === "integer" ? [literal.value] : [])));
  const floats = new Set(numbersOf(literals.filter(({ kind }) => kind === "number")));
  // for integers that are exact as floats, both comparisons agree
  const small = new Set([...floats, ...[...integers].flatMap((value) => (Number.isSafeInteger(Number(value)) ? [Number(value)] : []))]);
  const words = wordsOf(values as Integers);
  // the upper word of a large unsigned integer looks like that of a negative one
  const leastHigh = type === "integer" ? -EXACT_HIGH : -1;
  return (row) => {
    if (!isValid(validity, row)) return false;
    const high = words[2 * row + 1]!;
    if (high > leastHigh && high < EXACT_HIGH) return small.has(high * WORD + (words[2 * row]! >>> 0));
    const value = values[row]!;
    return integers.has(value) || floats.has(Number(value));
  };
}
