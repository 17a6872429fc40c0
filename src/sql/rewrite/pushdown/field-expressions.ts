// Finds conditions and values that a scan can compute from the fields of its rows (model/query/field-expression.ts). Read from DuckDB's
// tree, of whose meaning there is no doubt any more.
import {
  EXPRESSION_PARTS_MAX,
  type ExpressionOperator,
  type ExpressionType,
  expressionType,
  type FieldExpression,
  isWithinLimits,
} from "../../../model/query/field-expression.ts";
import { I64_MAX, I64_MIN } from "../../../model/rows/int64.ts";
import { sourceOf } from "../../bind/column-sources.ts";
import type { ScanUse, Typed } from "../../bind/kind.ts";
import type { SqlValue } from "../../parse/sql-value.ts";
import type { Cast, Comparison, Constant, Expression, FunctionCall, Operator } from "../../parse/tree.ts";
import { decimalValue } from "../../print/value-text.ts";

/** A value that a scan can compute. */
export interface ScanExpression {
  readonly scan: ScanUse;
  readonly expression: FieldExpression;
}

/** The value as a scan computes it; null: it depends on anything but fields of one scan, or has other operators. */
export function fieldExpression(node: Expression): ScanExpression | null {
  const reader = new Reader();
  const expression = reader.read(node);
  if (expression === null || expression.kind === "null" || reader.scan === null || reader.parts > EXPRESSION_PARTS_MAX) return null;
  return isWithinLimits(expression) ? { scan: reader.scan, expression } : null;
}

/** The condition with an exact hint if the scan can decide it by fields and it has none. */
export function withFieldHint(value: Typed): Typed {
  if (value.isExact === true || value.kind !== "boolean") return value;
  const found = fieldExpression(value.node);
  if (found?.scan.takesConditions !== true || found.expression.type !== "boolean" || !isSure(found.expression)) return value;
  return {
    ...value,
    hints: [{ kind: "field", scan: found.scan, predicate: { operator: "true", expression: found.expression } }],
    isExact: true,
  };
}

/** False if an integer could leave 64 bits where DuckDB would not compute it, because another part has decided already. */
function isSure(expression: FieldExpression, isAlways = true): boolean {
  if (expression.kind !== "call") return true;
  const { operator, operands, type } = expression;
  if (!isAlways && type === "integer" && (operator === "+" || operator === "-" || operator === "*")) return false;
  const isChoice = operator === "and" || operator === "or" || operator === "choose";
  return operands.every((operand, i) => isSure(operand, isAlways && (!isChoice || i === 0)));
}

/** NULL without a type becomes one of the type beside it. */
interface UntypedNull {
  readonly kind: "null";
  readonly type: "null";
}

type Part = FieldExpression | UntypedNull;

const NULL: UntypedNull = { kind: "null", type: "null" };
const ZERO: FieldExpression = { kind: "constant", type: "integer", value: 0n };
const MINUS_ONE: FieldExpression = { kind: "constant", type: "float", value: -1 };

class Reader {
  scan: ScanUse | null = null;
  /** Parts of the expression: those that stand in it several times count as often. */
  parts = 0;

  /** Null: a scan cannot compute it. */
  read(node: Expression): Part | null {
    if (++this.parts > EXPRESSION_PARTS_MAX) return null;
    switch (node.class) {
      case "COLUMN_REF":
        return this.column(node);
      case "CONSTANT":
        return constantOf(node);
      case "CAST":
        return this.cast(node);
      case "FUNCTION":
        return this.call(node);
      case "COMPARISON":
        return this.comparison(node);
      case "BETWEEN": {
        const values = this.numbers([node.input, node.lower, node.upper], (i) => (i === 0 ? 1 : 0));
        if (values === null) return null;
        const [input, lower, upper] = values as [FieldExpression, FieldExpression, FieldExpression];
        return truth("and", atMost(lower, input), atMost(input, upper));
      }
      case "CONJUNCTION":
        return this.chain(node.type === "CONJUNCTION_AND" ? "and" : "or", node.children);
      case "OPERATOR":
        return this.operator(node);
      case "CASE": {
        const checks = node.case_checks.map(({ when_expr, then_expr }) => ({ when: this.truth(when_expr), value: then_expr }));
        const values = this.alike([node.else_expr, ...checks.map(({ value }) => value)]);
        if (values === null) return null;
        let chosen = values[0]!;
        for (let i = checks.length - 1; i >= 0; i--) {
          const { when } = checks[i]!;
          if (when === null) return null;
          chosen = { kind: "call", type: chosen.type, operator: "choose", operands: [when, values[i + 1]!, chosen] };
        }
        return chosen;
      }
      default:
        return null;
    }
  }

  private column(node: Expression): Part | null {
    const source = sourceOf(node);
    const def = source?.scan.defs[source.index];
    const type = def === undefined ? null : expressionType(def.type);
    if (source === undefined || def === undefined || type === null || (this.scan !== null && this.scan !== source.scan)) return null;
    this.scan = source.scan;
    return { kind: "column", type, columnId: def.id };
  }

  private cast({ child, cast_type, try_cast }: Cast): Part | null {
    const value = try_cast ? null : this.read(child);
    if (value === null || value.type === "boolean") return null;
    if (cast_type.id === "DOUBLE") return value.kind === "null" ? { kind: "constant", type: "float", value: null } : asFloat(value);
    if (cast_type.id !== "BIGINT") return null;
    if (value.kind === "null") return { kind: "constant", type: "integer", value: null };
    return value.type === "integer" ? value : null;
  }

  private call({ function_name: name, children, is_operator, filter, distinct, order_bys }: FunctionCall): Part | null {
    if (filter !== null || distinct || order_bys.orders.length > 0) return null;
    // the operator / would be DuckDB's own division
    const isArithmetic = children.length === 2 && (is_operator ? name === "+" || name === "-" || name === "*" : name === "/");
    const isUnary = children.length === 1 && (is_operator ? name === "-" : name === "abs");
    const values = isArithmetic || isUnary ? this.numbers(children) : null;
    if (values === null) return null;
    const [first] = values;
    const isInteger = first!.type === "integer";
    if (isUnary && name === "-") return isInteger ? number("-", ZERO, first!) : number("*", first!, MINUS_ONE);
    if (isInteger && (name === "/" || name === "abs")) return null;
    return number(name as ExpressionOperator, ...values);
  }

  private comparison({ type, left, right }: Comparison): Part | null {
    const values = this.numbers([left, right]);
    if (values === null) return null;
    const [a, b] = values as [FieldExpression, FieldExpression];
    switch (type) {
      case "COMPARE_EQUAL":
        return truth("=", a, b);
      case "COMPARE_NOTEQUAL":
        return truth("not", truth("=", a, b));
      case "COMPARE_LESSTHAN":
        return truth("<", a, b);
      case "COMPARE_GREATERTHAN":
        return truth("<", b, a);
      case "COMPARE_LESSTHANOREQUALTO":
        return atMost(a, b);
      case "COMPARE_GREATERTHANOREQUALTO":
        return atMost(b, a);
      default:
        return null;
    }
  }

  private operator({ type, children }: Operator): Part | null {
    const [first, ...others] = children;
    switch (type) {
      case "OPERATOR_NOT": {
        const value = this.truth(first!);
        return value === null ? null : truth("not", value);
      }
      case "OPERATOR_IS_NULL":
      case "OPERATOR_IS_NOT_NULL": {
        const value = this.read(first!);
        if (value === null || value.kind === "null") return null;
        const isNull = truth("is null", value);
        return type === "OPERATOR_IS_NULL" ? isNull : truth("not", isNull);
      }
      case "OPERATOR_COALESCE": {
        const values = this.alike(children, (i) => (i === children.length - 1 ? 0 : 1));
        if (values === null) return null;
        const last = values.at(-1)!;
        return values.slice(0, -1).reduceRight<FieldExpression>((otherwise, value) => {
          const isPresent = truth("not", truth("is null", value));
          return { kind: "call", type: value.type, operator: "choose", operands: [isPresent, value, otherwise] };
        }, last);
      }
      case "COMPARE_IN":
      case "COMPARE_NOT_IN": {
        const list = others.flatMap(members);
        const values = list.length > EXPRESSION_PARTS_MAX ? null : this.numbers([first!, ...list], (i) => (i === 0 ? list.length - 1 : 1));
        if (values === null || list.length === 0) return null;
        const [value, ...listed] = values;
        const isIn = listed.map((each) => truth("=", value!, each)).reduce((a, b) => truth("or", a, b));
        return type === "COMPARE_IN" ? isIn : truth("not", isIn);
      }
      default:
        return null;
    }
  }

  private chain(operator: "and" | "or", nodes: readonly Expression[]): Part | null {
    let all: FieldExpression | null = null;
    for (const node of nodes) {
      const value = this.truth(node);
      if (value === null) return null;
      all = all === null ? value : truth(operator, all, value);
    }
    return all;
  }

  private truth(node: Expression): FieldExpression | null {
    const value = this.read(node);
    if (value?.kind === "null") return { kind: "constant", type: "boolean", value: null };
    return value?.type === "boolean" ? value : null;
  }

  /** Numbers of one type: floats if one of them is a float. */
  private numbers(nodes: readonly Expression[], repeated?: (i: number) => number): FieldExpression[] | null {
    const values = this.alike(nodes, repeated);
    return values === null || values[0]!.type === "boolean" ? null : values;
  }

  /** Values of one type. `repeated`: how many further times they stand in the result. */
  private alike(nodes: readonly Expression[], repeated: (i: number) => number = () => 0): FieldExpression[] | null {
    const values: Part[] = [];
    for (const [i, node] of nodes.entries()) {
      const before = this.parts;
      const value = this.read(node);
      if (value === null) return null;
      this.parts += repeated(i) * (this.parts - before);
      values.push(value);
    }
    const types = new Set(values.map(({ type }) => type).filter((type) => type !== "null"));
    if (types.size === 0 || (types.size > 1 && types.has("boolean"))) return null;
    const type: ExpressionType = types.has("float") ? "float" : types.has("integer") ? "integer" : "boolean";
    return values.map((value): FieldExpression => {
      if (value.kind === "null") return { kind: "constant", type, value: null };
      return type === "float" ? asFloat(value) : value;
    });
  }
}

/** The values of IN. */
function members(node: Expression): Expression[] {
  if (node.class !== "LITERALS") return [node];
  return node.values.map((value): Constant => ({ class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value }));
}

const INTEGERS: ReadonlySet<string> = new Set(["TINYINT", "SMALLINT", "INTEGER", "BIGINT"]);

function constantOf({ value }: { readonly value: SqlValue }): Part | null {
  const { id } = value.type;
  if (value.is_null) return id === "NULL" ? NULL : null;
  if (id === "BOOLEAN") return { kind: "constant", type: "boolean", value: value.value === true };
  if (id === "DOUBLE") return { kind: "constant", type: "float", value: Number(value.value) };
  if (id === "DECIMAL") return { kind: "constant", type: "float", value: decimalValue(value) };
  if (!INTEGERS.has(id)) return null;
  const integer = BigInt(value.value as number | string);
  return integer < I64_MIN || integer > I64_MAX ? null : { kind: "constant", type: "integer", value: integer };
}

function asFloat(value: FieldExpression): FieldExpression {
  if (value.type !== "integer") return value;
  if (value.kind === "constant") return { kind: "constant", type: "float", value: value.value === null ? null : Number(value.value) };
  return { kind: "call", type: "float", operator: "float", operands: [value] };
}

function number(operator: ExpressionOperator, ...operands: readonly FieldExpression[]): FieldExpression {
  return { kind: "call", type: operands[0]!.type, operator, operands };
}

function truth(operator: ExpressionOperator, ...operands: readonly FieldExpression[]): FieldExpression {
  return { kind: "call", type: "boolean", operator, operands };
}

/** a <= b, of which one follows the other or equals it: numbers are in a total order. */
function atMost(a: FieldExpression, b: FieldExpression): FieldExpression {
  return truth("not", truth("<", b, a));
}
