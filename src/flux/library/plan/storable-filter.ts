// Conditions that the reference's storage can test: a filter with any other is behind it, and so is what follows. In the storage an absent
// tag is the empty text.
import { Closure } from "../../interpret/closure.ts";
import { labelOf } from "../../interpret/labels.ts";
import type { Expression } from "../../parse/ast.ts";
import { type FluxFunction, FluxRecord, Regexp, type Value } from "../../values/value.ts";
import { keptWithTree } from "./kept-with-tree.ts";

/** What of a filter the storage can test. */
export interface StorableFilter {
  /** True: all of it. */
  readonly isWhole: boolean;
  /** Tags of the conditions that it can test, and that are not asked whether they exist. */
  readonly tags: ReadonlySet<string>;
  /** The conditions that it can test. */
  readonly conditions: readonly Expression[];
}

export const NOT_STORABLE: StorableFilter = { isWhole: false, tags: new Set(), conditions: [] };

const EQUALITIES: readonly string[] = ["==", "!=", "=~", "!~"];
const ORDERS: readonly string[] = ["<", "<=", ">", ">="];
const NO_TAGS: ReadonlySet<string> = new Set(["_measurement", "_field", "_value", "_time", "_start", "_stop"]);

/** A filter is cut into the conditions that `and` joins. */
export const storableFilter = keptWithTree(readFilter);

/** Whether a filter lets all rows pass, whatever they are. */
export const isAlwaysTrue = keptWithTree((fn: FluxFunction): boolean => {
  const row = fn.parameters[0]?.name;
  if (!(fn instanceof Closure) || fn.body === null || row === undefined) return false;
  let { body } = fn;
  while (body.type === "ParenExpression") body = body.expression;
  return new Conditions(fn, row).isTrue(body);
});

function readFilter(fn: FluxFunction): StorableFilter {
  const row = fn.parameters[0]?.name;
  if (!(fn instanceof Closure) || fn.body === null || row === undefined || fn.parameters.length !== 1) return NOT_STORABLE;
  const found = new Conditions(fn, row);
  const conditions = conjunctsOf(fn.body);
  const storable = conditions.filter((each) => found.isCondition(each));
  const tags = new Set(storable.flatMap((each) => [...found.tagsOf(each)]));
  for (const tag of found.asked) tags.delete(tag);
  // what is always true is no condition
  return { isWhole: storable.length === conditions.filter((each) => !found.isTrue(each)).length, tags, conditions: storable };
}

function conjunctsOf(expression: Expression): Expression[] {
  if (expression.type === "ParenExpression") return conjunctsOf(expression.expression);
  if (expression.type !== "LogicalExpression" || expression.operator !== "and") return [expression];
  return [...conjunctsOf(expression.left), ...conjunctsOf(expression.right)];
}

class Conditions {
  /** Labels of columns that are asked whether they exist. */
  readonly asked = new Set<string>();

  constructor(
    private readonly fn: Closure,
    private readonly row: string,
  ) {}

  isTrue(expression: Expression): boolean {
    if (expression.type === "BooleanLiteral") return expression.value;
    if (expression.type !== "Identifier" || expression.name === this.row) return false;
    return expression.name === "true" || this.fn.outerValue(expression.name) === true;
  }

  isCondition(expression: Expression): boolean {
    switch (expression.type) {
      case "ParenExpression":
        return this.isCondition(expression.expression);
      case "LogicalExpression": {
        const [left, right] = [this.isCondition(expression.left), this.isCondition(expression.right)];
        return left && right;
      }
      case "UnaryExpression":
        return this.isExistence(expression);
      case "BinaryExpression":
        return this.isComparison(expression);
      default:
        return false;
    }
  }

  private isExistence({ operator, argument }: Expression & { type: "UnaryExpression" }): boolean {
    const inner = argument.type === "ParenExpression" ? argument.expression : argument;
    if (operator === "not") return inner.type === "UnaryExpression" && this.isExistence(inner);
    const label = operator === "exists" ? this.columnOf(inner) : null;
    if (label === null || label === "_value") return false;
    this.asked.add(label);
    return true;
  }

  private isComparison({ operator, left, right }: Expression & { type: "BinaryExpression" }): boolean {
    const label = this.columnOf(left);
    const value = this.constantOf(right);
    if (label === null || value === null) return false;
    if (label === "_value") return EQUALITIES.includes(operator) || ORDERS.includes(operator);
    return EQUALITIES.includes(operator) && !(operator === "==" && value === "");
  }

  /** Of a condition: the columns that it compares. */
  *tagsOf(expression: Expression): Generator<string> {
    if (expression.type === "ParenExpression") yield* this.tagsOf(expression.expression);
    else if (expression.type === "LogicalExpression") {
      yield* this.tagsOf(expression.left);
      yield* this.tagsOf(expression.right);
    } else if (expression.type === "BinaryExpression") {
      const label = this.columnOf(expression.left);
      if (label !== null && !NO_TAGS.has(label)) yield label;
    }
  }

  private columnOf(expression: Expression): string | null {
    if (expression.type !== "MemberExpression" || expression.object.type !== "Identifier") return null;
    return expression.object.name === this.row ? labelOf(expression.property) : null;
  }

  /** A text, a number, a boolean or a regular expression that is the same for all rows; a sign is an operator. */
  private constantOf(expression: Expression): Value | null {
    switch (expression.type) {
      case "ParenExpression":
        return this.constantOf(expression.expression);
      case "StringLiteral":
      case "IntegerLiteral":
      case "FloatLiteral":
      case "BooleanLiteral":
      case "RegexpLiteral":
        return expression.value;
      case "Identifier":
      case "MemberExpression": {
        const value = this.outerValue(expression);
        return isScalar(value) ? value : null;
      }
      default:
        return null;
    }
  }

  private outerValue(expression: Expression): Value | undefined {
    if (expression.type === "Identifier") return expression.name === this.row ? undefined : this.fn.outerValue(expression.name);
    if (expression.type !== "MemberExpression") return undefined;
    const object = this.outerValue(expression.object);
    return object instanceof FluxRecord ? object.get(labelOf(expression.property)) : undefined;
  }
}

function isScalar(value: Value | undefined): value is string | number | bigint | boolean | Regexp {
  return ["string", "number", "bigint", "boolean"].includes(typeof value) || value instanceof Regexp;
}
