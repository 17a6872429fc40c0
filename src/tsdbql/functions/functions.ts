// Functions of single numbers: abs, floor, log, pow … A null argument or a NaN result gives null.
import { TsdbError } from "../../model/errors.ts";
import { inSteps, isPause, type Steps } from "../../model/steps.ts";
import type { FieldType } from "../parse/ast.ts";
import { toCells } from "./arithmetic.ts";
import { cellsOf, numbersOf } from "./columns.ts";
import { type Integers, WrappingSum, wordsOf } from "./int64.ts";
import { type Cells, NUMBERS, type RowFunction } from "./operator.ts";
import type { PointValues } from "./points.ts";
import { bothValid } from "./validity.ts";

const isNumber = (type: FieldType) => NUMBERS.includes(type);

/** From one number to a float. */
function ofNumber(name: string, compute: (x: number) => number): RowFunction {
  return {
    ...{ name, arity: [1, 1], resultType: () => "float" },
    *apply([argument], rowCount) {
      const cells = toCells(argument!, rowCount);
      if (!isNumber(cells.type)) return allNull(rowCount);
      const numbers = yield* numbersOf(cells);
      const values = new Float64Array(rowCount);
      yield* inSteps(rowCount, (from, to) => {
        for (let i = from; i < to; i++) values[i] = compute(numbers[i]!);
      });
      return cellsOf("float", values, cells.validity);
    },
  };
}

/** From two numbers to a float. */
function ofNumbers(name: string, compute: (x: number, y: number) => number): RowFunction {
  return {
    ...{ name, arity: [2, 2], resultType: () => "float" },
    *apply([first, second], rowCount) {
      const [x, y] = [toCells(first!, rowCount), toCells(second!, rowCount)];
      if (!isNumber(x.type) || !isNumber(y.type)) return allNull(rowCount);
      const [a, b] = [yield* numbersOf(x), yield* numbersOf(y)];
      const values = new Float64Array(rowCount);
      yield* inSteps(rowCount, (from, to) => {
        for (let i = from; i < to; i++) values[i] = compute(a[i]!, b[i]!);
      });
      return cellsOf("float", values, bothValid(x.validity, y.validity));
    },
  };
}

/** From a number to one of the same type. */
function ofItsType(name: string, ofFloat: (x: number) => number, ofInteger: (values: Integers) => Steps<Integers>): RowFunction {
  return {
    ...{ name, arity: [1, 1] },
    resultType: ([type]) => (isNumber(type!) ? type! : "float"),
    *apply([argument], rowCount) {
      const cells = toCells(argument!, rowCount);
      if (cells.type === "float") {
        const values = new Float64Array(rowCount);
        const floats = cells.values;
        yield* inSteps(rowCount, (from, to) => {
          for (let i = from; i < to; i++) values[i] = ofFloat(floats[i]!);
        });
        return cellsOf("float", values, cells.validity);
      }
      if (!isNumber(cells.type)) return allNull(rowCount);
      const values = (yield* ofInteger(cells.values as Integers)) as PointValues[typeof cells.type];
      return cellsOf(cells.type, values, cells.validity);
    },
  };
}

function allNull(rowCount: number): Cells {
  return cellsOf("float", new Float64Array(rowCount), new Uint8Array((rowCount + 7) >>> 3));
}

/** The least integer has no positive counterpart and is unchanged. */
function* absolute(values: Integers): Steps<Integers> {
  if (values instanceof BigUint64Array) return values;
  const from = wordsOf(values);
  const words = new Int32Array(from.length);
  const sum = new WrappingSum();
  for (let i = 0; i < values.length; i++) {
    if (isPause(i)) yield;
    sum.clear();
    if (from[2 * i + 1]! < 0) sum.subtract(from, i);
    else sum.add(from, i);
    sum.writeTo(words, i);
  }
  return new BigInt64Array(words.buffer);
}

/** Rounds half away from zero. */
function round(x: number): number {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
}

/** 1 to any power is 1, also NaN; -1 to an infinite power is 1. */
function power(x: number, y: number): number {
  if (x === 1 || (x === -1 && Math.abs(y) === Number.POSITIVE_INFINITY)) return 1;
  return x ** y;
}

const POWER = ofNumbers("pow", power);

const FUNCTIONS: readonly RowFunction[] = [
  ofItsType("abs", Math.abs, absolute),
  ofNumber("ceil", Math.ceil),
  ofNumber("floor", Math.floor),
  ofNumber("round", round),
  ofNumber("acos", Math.acos),
  ofNumber("asin", Math.asin),
  ofNumber("atan", Math.atan),
  ofNumber("cos", Math.cos),
  ofNumber("exp", Math.exp),
  ofNumber("ln", Math.log),
  ofNumber("log2", Math.log2),
  ofNumber("log10", Math.log10),
  ofNumber("sin", Math.sin),
  ofNumber("sqrt", Math.sqrt),
  ofNumber("tan", Math.tan),
  ofNumbers("atan2", Math.atan2),
  ofNumbers("log", (x, base) => Math.log(x) / Math.log(base)),
  POWER,
];

/** A power of integers in v3, an integer as well. @throws TsdbError bad_query where it does not fit */
const WHOLE_POWER: RowFunction = {
  ...{ name: "pow", arity: [2, 2], resultType: (types) => (types.every((type) => type === "integer") ? "integer" : "float") },
  *apply(args, rowCount) {
    const [x, y] = [toCells(args[0]!, rowCount), toCells(args[1]!, rowCount)];
    if (x.type !== "integer" || y.type !== "integer") return yield* POWER.apply(args, rowCount);
    const validity = bothValid(x.validity, y.validity);
    const values = new BigInt64Array(rowCount);
    for (let i = 0; i < rowCount; i++) {
      if (isPause(i)) yield;
      const isValid = validity === null || ((validity[i >> 3]! >> (i & 7)) & 1) === 1;
      if (isValid) values[i] = wholePower(x.values[i]!, y.values[i]!);
    }
    return cellsOf("integer", values, validity);
  },
};

function wholePower(x: bigint, y: bigint): bigint {
  const isSmall = x >= -1n && x <= 1n;
  // beyond ±1 a 64th power has more than 64 bits
  const power = y < 0n || (y > 63n && !isSmall) ? null : x ** (isSmall ? y % 2n || (y === 0n ? 0n : 2n) : y);
  if (power === null || BigInt.asIntN(64, power) !== power) throw new TsdbError("bad_query", `pow(${x}, ${y}) is no 64-bit integer`);
  return power;
}

/** @param isTable by the rules of v3 */
export function rowFunctionOf(name: string, isTable: boolean): RowFunction | undefined {
  return isTable && name === WHOLE_POWER.name ? WHOLE_POWER : ROW_FUNCTIONS.get(name);
}

export const ROW_FUNCTIONS: ReadonlyMap<string, RowFunction> = new Map(FUNCTIONS.map((of) => [of.name, of]));
