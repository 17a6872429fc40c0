// Types of decimals by the rules of the vendor's arithmetic; the expected ones are recorded answers.
import { expect, test } from "bun:test";
import { commonDecimal, decimalName, type Noted, resultOf } from "./decimals.ts";

const decimal = (width: number, scale: number) => ({ width, scale });

test.each([
  ["+", decimal(10, 2), decimal(5, 1), "Decimal128(11, 2)"],
  ["/", decimal(10, 2), decimal(5, 1), "Decimal128(15, 6)"],
  ["+", decimal(6, 2), decimal(20, 0), "Decimal128(23, 2)"],
  ["+", decimal(20, 0), decimal(20, 0), "Decimal128(21, 0)"],
  ["*", decimal(20, 0), decimal(20, 0), "Decimal128(38, 0)"],
  ["/", decimal(20, 0), decimal(20, 0), "Decimal128(24, 4)"],
  ["%", decimal(20, 0), decimal(20, 0), "Decimal128(20, 0)"],
])("a %s b of %j and %j", (sign, a, b, name) => expect(decimalName(resultOf(sign, a, b))).toBe(name));

const SIGNED: Noted = { kind: "integer", arrow: "Int64" };
const UNSIGNED: Noted = { kind: "integer", arrow: "UInt64" };
const FLOAT: Noted = { kind: "float" };

test.each([
  [[SIGNED, UNSIGNED], decimal(20, 0)],
  [[SIGNED, UNSIGNED, SIGNED], decimal(20, 0)],
  [[SIGNED, UNSIGNED, FLOAT], decimal(35, 15)],
  // a float comes first: integers are floats beside it
  [[FLOAT, SIGNED, UNSIGNED], null],
  [[SIGNED, FLOAT, UNSIGNED], null],
  [[UNSIGNED, UNSIGNED], null],
  [[SIGNED, { kind: "string" } satisfies Noted], null],
])("%j together", (values, type) => expect(commonDecimal(values)).toEqual(type));
