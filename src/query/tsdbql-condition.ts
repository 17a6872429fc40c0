// Conditions that only a whole row can answer, row by row, with the meaning of 1.x: what cannot be compared is false, a column that is
// missing is equal to nothing, and what is no field is a tag.
import type { BinaryOperator, Expression } from "../tsdbql/ast.ts";
import { toCells } from "../tsdbql/operators/arithmetic.ts";
import { ROW_FUNCTIONS } from "../tsdbql/operators/functions.ts";
import { isValid } from "../tsdbql/operators/validity.ts";
import { compileRegex, type TextTest } from "../tsdbql/plan-regex.ts";
import type { ColumnKind } from "../tsdbql/plan-types.ts";
import { isTagLike, tagTest } from "../tsdbql/plan-where.ts";
import type { AnyCells } from "./tsdbql-columns.ts";

/** A column as a condition finds it; null: no row has a value. */
export interface ConditionColumn {
  readonly kind: ColumnKind;
  readonly cells: AnyCells | null;
}

export type FindColumn = (ref: Expression & { readonly kind: "ref" }) => ConditionColumn;

type Value = number | bigint | boolean | string | TextTest | null;
type Evaluate = (row: number) => Value;

/** Whether a row satisfies a condition. */
export function compileCondition(condition: Expression, find: FindColumn): (row: number) => boolean {
  const evaluate = compile(condition, find);
  return (row) => evaluate(row) === true;
}

function compile(expression: Expression, find: FindColumn): Evaluate {
  switch (expression.kind) {
    case "paren":
      return compile(expression.inner, find);
    case "ref":
      return compileRef(find(expression));
    case "regex": {
      const regex = compileRegex(expression.source);
      return () => regex;
    }
    case "number":
    case "integer":
    case "boolean":
    case "string": {
      const { value } = expression;
      return () => value;
    }
    // durations and times are comparable with nothing
    case "duration":
    case "time":
      return () => null;
    case "call":
      return compileCall(expression, find);
    case "binary":
      return compileBinary(expression, find);
    default:
      return () => null;
  }
}

function compileRef({ kind, cells }: ConditionColumn): Evaluate {
  if (cells === null) return isTagLike(kind) ? () => "" : () => null;
  if (cells.type === "tag") return (row) => cells.dictionary[cells.codes[row]!]!;
  const { values, validity, type } = cells;
  if (type === "boolean") return (row) => (isValid(validity, row) ? values[row] === 1 : null);
  return (row) => (isValid(validity, row) ? values[row]! : null);
}

function compileCall({ name, args }: Expression & { readonly kind: "call" }, find: FindColumn): Evaluate {
  const rowFunction = ROW_FUNCTIONS.get(name);
  if (rowFunction === undefined) return () => null;
  const evaluated = args.map((arg) => compile(arg, find));
  return (row) => {
    const values = evaluated.map((evaluate) => evaluate(row));
    if (values.some((value) => typeof value !== "number" && typeof value !== "bigint")) return null;
    const cells = values.map((value) =>
      toCells(typeof value === "bigint" ? { kind: "integer", value, unsigned: false } : { kind: "number", value: value as number }, 1),
    );
    const result = rowFunction.apply(cells, 1);
    return isValid(result.validity, 0) ? (result.values[0] as Value) : null;
  };
}

function compileBinary(expression: Expression & { readonly kind: "binary" }, find: FindColumn): Evaluate {
  const { operator, left, right } = expression;
  if (operator === "AND" || operator === "OR") {
    const [a, b] = [compile(left, find), compile(right, find)];
    if (operator === "AND") return (row) => a(row) === true && b(row) === true;
    return (row) => a(row) === true || b(row) === true;
  }
  const pair = compileTags(operator, left, right, find);
  if (pair !== null) return pair;
  const tag = compileTag(operator, left, right, find) ?? compileTag(operator, right, left, find);
  if (tag !== null) return tag;
  const [a, b] = [compile(left, find), compile(right, find)];
  return (row) => compute(operator, a(row), b(row));
}

/** Two tags are equal when both are there. */
function compileTags(operator: BinaryOperator, left: Expression, right: Expression, find: FindColumn): Evaluate | null {
  if (left.kind !== "ref" || right.kind !== "ref" || (operator !== "=" && operator !== "!=")) return null;
  const [a, b] = [find(left), find(right)];
  if (!isTagLike(a.kind) || !isTagLike(b.kind)) return null;
  const [one, other] = [compileRef(a), compileRef(b)];
  return (row) => (one(row) !== "" && one(row) === other(row)) === (operator === "=");
}

/** A tag beside a constant is what the index of 1.x answers. */
function compileTag(operator: BinaryOperator, ref: Expression, literal: Expression, find: FindColumn): Evaluate | null {
  if (ref.kind !== "ref") return null;
  const { kind, cells } = find(ref);
  if (!isTagLike(kind)) return null;
  switch (literal.kind) {
    case "string":
    case "regex":
    case "number":
    case "integer":
    case "boolean":
    case "duration":
    case "time": {
      const test = tagTest(ref.name, operator, literal);
      if (test === false) return () => false;
      if (cells?.type !== "tag") return () => test.accepts("");
      const accepted = cells.dictionary.map(test.accepts);
      return (row) => accepted[cells.codes[row]!]!;
    }
    default:
      return null;
  }
}

const COMPARISONS: ReadonlySet<BinaryOperator> = new Set(["=", "!=", "<", "<=", ">", ">="]);

function compute(operator: BinaryOperator, a: Value, b: Value): Value {
  if (a === null || b === null) return COMPARISONS.has(operator) ? false : null;
  if (typeof a === "string") return computeText(operator, a, b);
  if (typeof a === "boolean") return typeof b === "boolean" ? computeBoolean(operator, a, b) : COMPARISONS.has(operator) ? false : null;
  if ((typeof a !== "number" && typeof a !== "bigint") || (typeof b !== "number" && typeof b !== "bigint")) {
    return COMPARISONS.has(operator) ? false : null;
  }
  if (typeof a === "bigint" && typeof b === "bigint") return computeIntegers(operator, a, b);
  return computeNumbers(operator, Number(a), Number(b));
}

function computeText(operator: BinaryOperator, a: string, b: Value): Value {
  if (operator === "=~" || operator === "!~") {
    return typeof b === "object" && b !== null ? b.test(a) === (operator === "=~") : false;
  }
  if (typeof b !== "string") return false;
  return operator === "=" ? a === b : operator === "!=" ? a !== b : false;
}

function computeBoolean(operator: BinaryOperator, a: boolean, b: boolean): Value {
  switch (operator) {
    case "=":
      return a === b;
    case "!=":
    case "^":
      return a !== b;
    case "&":
      return a && b;
    case "|":
      return a || b;
    default:
      return COMPARISONS.has(operator) ? false : null;
  }
}

function computeIntegers(operator: BinaryOperator, a: bigint, b: bigint): Value {
  switch (operator) {
    case "+":
      return BigInt.asIntN(64, a + b);
    case "-":
      return BigInt.asIntN(64, a - b);
    case "*":
      return BigInt.asIntN(64, a * b);
    case "/":
      return b === 0n ? 0n : a / b;
    case "%":
      return b === 0n ? 0n : a % b;
    case "&":
      return a & b;
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    default:
      return compare(operator, a < b, a === b);
  }
}

function computeNumbers(operator: BinaryOperator, a: number, b: number): Value {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return b === 0 ? 0 : a / b;
    case "%":
      return a % b;
    default:
      return compare(operator, a < b, a === b);
  }
}

function compare(operator: BinaryOperator, isLess: boolean, isEqual: boolean): Value {
  switch (operator) {
    case "=":
      return isEqual;
    case "!=":
      return !isEqual;
    case "<":
      return isLess;
    case "<=":
      return isLess || isEqual;
    case ">":
      return !isLess && !isEqual;
    case ">=":
      return !isLess;
    default:
      return null;
  }
}
