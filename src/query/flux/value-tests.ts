// Comparisons of a script as predicates of a scan on one field.
import type { ValueTest } from "../../flux/interpret/flux-source.ts";
import type { ComparisonOperator, FieldPredicate } from "../../model/query/scan.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import type { FieldType } from "../../tsdbql/parse/ast.ts";

const OPERATORS: Readonly<Record<ValueTest["operator"], ComparisonOperator>> = {
  "==": "=",
  "!=": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};
const U64_MAX = 2n ** 64n - 1n;

/** "never": no value passes; null: the scan cannot compare them as the script does. */
export function fieldPredicate({ operator, value }: ValueTest, columnId: number, type: FieldType): FieldPredicate | "never" | null {
  if (type === "string") {
    return typeof value === "string" && operator === "==" ? { columnId, operator: "in", values: [value] } : null;
  }
  if (type === "boolean") {
    const isEquality = operator === "==" || operator === "!=";
    return typeof value === "boolean" && isEquality ? { columnId, operator: OPERATORS[operator], value } : null;
  }
  if (typeof value !== "number" && typeof value !== "bigint") return null;
  if (type === "float") {
    if (typeof value === "bigint" && !Number.isSafeInteger(Number(value))) return null;
    return Number.isNaN(Number(value)) ? null : { columnId, operator: OPERATORS[operator], value: Number(value) };
  }
  const whole = wholeBound(operator, value);
  if (whole === "never" || whole === null) return whole;
  const [least, most] = type === "unsigned" ? [0n, U64_MAX] : [I64_MIN, I64_MAX];
  return whole < least || whole > most ? null : { columnId, operator: OPERATORS[operator], value: whole };
}

/** The integer that integers compare with as they do with the value. */
function wholeBound(operator: ValueTest["operator"], value: number | bigint): bigint | "never" | null {
  if (typeof value === "bigint") return value;
  if (!Number.isFinite(value)) return null;
  if (Number.isInteger(value)) return BigInt(value);
  switch (operator) {
    case "==":
      return "never";
    case "!=":
      return null;
    case "<":
    case ">=":
      return BigInt(Math.ceil(value));
    default:
      return BigInt(Math.floor(value));
  }
}
