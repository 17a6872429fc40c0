// Conditions over several numeric and boolean fields that the scan computes, with the semantics of `execute/rows/condition.ts`: a
// comparison with a missing value is not true, a number divided by zero is zero, and NaN is neither less nor greater than a number.
import { EXPRESSION_PARTS_MAX, type ExpressionOperator, type FieldExpression, isWithinLimits } from "../../model/query/field-expression.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import type { BinaryOperator, Expression, VarRef } from "../parse/ast.ts";
import type { Schema } from "./types.ts";

export interface FieldCondition {
  readonly operator: "true";
  /** Columns are numbered by their place in `names`. */
  readonly expression: FieldExpression;
  readonly names: readonly string[];
}

/** The condition as the scan computes it; null: it cannot. */
export function fieldCondition(condition: Expression, schema: Schema): FieldCondition | null {
  const reader = new Reader(schema);
  const expression = reader.truth(condition);
  if (expression === null || reader.names.length === 0 || !isWithinLimits(expression)) return null;
  return { operator: "true", expression, names: reader.names };
}

/** A number, or a truth value. */
interface Operand {
  readonly expression: FieldExpression;
  /** True: it may be NaN. */
  readonly isComputed: boolean;
}

class Reader {
  readonly names: string[] = [];
  private parts = 0;

  constructor(private readonly schema: Schema) {}

  truth(condition: Expression): FieldExpression | null {
    if (++this.parts > EXPRESSION_PARTS_MAX) return null;
    if (condition.kind === "paren") return this.truth(condition.inner);
    if (condition.kind === "ref") {
      const column = this.column(condition);
      return column?.type === "boolean" ? column : null;
    }
    if (condition.kind !== "binary") return null;
    const { operator, left, right } = condition;
    if (operator === "AND" || operator === "OR") {
      const a = this.truth(left);
      const b = a === null ? null : this.truth(right);
      return a === null || b === null ? null : call("boolean", operator === "AND" ? "and" : "or", a, b);
    }
    return this.comparison(operator, left, right);
  }

  private comparison(operator: BinaryOperator, left: Expression, right: Expression): FieldExpression | null {
    const isEquality = operator === "=" || operator === "!=";
    if (isEquality && (left.kind === "boolean" || right.kind === "boolean")) {
      const [tested, literal] = right.kind === "boolean" ? [left, right] : [right, left];
      const column = tested.kind === "ref" ? this.column(tested) : null;
      if (column?.type !== "boolean" || literal.kind !== "boolean") return null;
      return literal.value === (operator === "=") ? column : call("boolean", "not", column);
    }
    const pair = ORDERED.has(operator) || isEquality ? this.pair(left, right) : null;
    if (pair === null) return null;
    const [a, b] = pair;
    const computed = pair.filter(({ isComputed }) => isComputed);
    if (isEquality && computed.length > 0) return null;
    const compared = compare(operator, a.expression, b.expression);
    return computed.reduce((all, { expression }) => call("boolean", "and", all, isNumber(expression)), compared);
  }

  /** Two numbers of one type. */
  private pair(left: Expression, right: Expression): readonly [Operand, Operand] | null {
    const a = this.number(left);
    const b = a === null ? null : this.number(right);
    if (a === null || b === null) return null;
    return a.expression.type === b.expression.type ? [a, b] : [asFloat(a), asFloat(b)];
  }

  private number(operand: Expression): Operand | null {
    if (++this.parts > EXPRESSION_PARTS_MAX) return null;
    switch (operand.kind) {
      case "paren":
        return this.number(operand.inner);
      case "ref": {
        const expression = this.column(operand);
        return expression === null || expression.type === "boolean" ? null : { expression, isComputed: false };
      }
      case "number":
        return { expression: { kind: "constant", type: "float", value: operand.value }, isComputed: false };
      case "integer": {
        const { value } = operand;
        if (value < I64_MIN || value > I64_MAX) return null;
        return { expression: { kind: "constant", type: "integer", value }, isComputed: false };
      }
      case "binary":
        return this.arithmetic(operand.operator, operand.left, operand.right);
      default:
        return null;
    }
  }

  /** Of floats: integers wrap around in 1.x. */
  private arithmetic(operator: BinaryOperator, left: Expression, right: Expression): Operand | null {
    const before = this.parts;
    const pair = this.pair(left, right);
    if (pair === null || pair[0].expression.type !== "float") return null;
    const [a, b] = pair.map(({ expression }) => expression) as [FieldExpression, FieldExpression];
    if (operator === "+" || operator === "-" || operator === "*") return { expression: call("float", operator, a, b), isComputed: true };
    if (operator !== "/") return null;
    // both stand in it twice
    this.parts += this.parts - before;
    // what is missing stays missing
    const isZero = call("boolean", "and", call("boolean", "=", b, ZERO), call("boolean", "not", call("boolean", "is null", a)));
    return { expression: call("float", "choose", isZero, ZERO, call("float", "/", a, b)), isComputed: true };
  }

  private column({ name, cast }: VarRef): FieldExpression | null {
    const kind = this.schema.fields.get(name);
    if (kind === undefined || (cast !== null && cast !== kind && cast !== "field")) return null;
    if (kind !== "float" && kind !== "integer" && kind !== "boolean") return null;
    const known = this.names.indexOf(name);
    const columnId = known === -1 ? this.names.push(name) - 1 : known;
    return { kind: "column", type: kind, columnId };
  }
}

const ORDERED: ReadonlySet<BinaryOperator> = new Set(["<", "<=", ">", ">="]);
const ZERO: FieldExpression = { kind: "constant", type: "float", value: 0 };
const NAN: FieldExpression = { kind: "constant", type: "float", value: Number.NaN };

function compare(operator: BinaryOperator, a: FieldExpression, b: FieldExpression): FieldExpression {
  switch (operator) {
    case "=":
      return call("boolean", "=", a, b);
    case "!=":
      return call("boolean", "not", call("boolean", "=", a, b));
    case "<":
      return call("boolean", "<", a, b);
    case ">":
      return call("boolean", "<", b, a);
    case "<=":
      return call("boolean", "not", call("boolean", "<", b, a));
    default:
      return call("boolean", "not", call("boolean", "<", a, b));
  }
}

/** Not NaN. */
function isNumber(value: FieldExpression): FieldExpression {
  return call("boolean", "not", call("boolean", "=", value, NAN));
}

function asFloat(operand: Operand): Operand {
  const { expression } = operand;
  if (expression.type === "float") return operand;
  if (expression.kind !== "constant") return { ...operand, expression: call("float", "float", expression) };
  return { ...operand, expression: { kind: "constant", type: "float", value: Number(expression.value) } };
}

function call(type: FieldExpression["type"], operator: ExpressionOperator, ...operands: readonly FieldExpression[]): FieldExpression {
  return { kind: "call", type, operator, operands };
}
