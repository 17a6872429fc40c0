// What filters say about series as a whole: conditions on measurement, field and tags, read from the trees of their functions. Whatever
// else they test is left to them, so this only has to be right about what it refuses.

import { Closure } from "../../interpret/closure.ts";
import type { ValueTest, WantedSeries } from "../../interpret/flux-source.ts";
import { labelOf } from "../../interpret/labels.ts";
import type { Expression, Identifier, MemberExpression } from "../../parse/ast.ts";
import { walk } from "../../parse/walk.ts";
import type { FluxFunction } from "../../values/value.ts";
import { type FieldTest, fieldFilter, fieldTest } from "../plan/field-tests.ts";
import { keptWithTree } from "../plan/kept-with-tree.ts";

/** Texts that a column must have one of; null: anything. */
type Texts = ReadonlySet<string> | null;

/** A condition on one column. */
interface ColumnTexts {
  readonly label: string;
  readonly texts: ReadonlySet<string>;
}

const NO_TAGS: ReadonlySet<string> = new Set(["_measurement", "_field", "_value", "_time", "_start", "_stop"]);

/** Null: the filters say nothing about series. */
export function wantedSeries(filters: readonly FluxFunction[]): WantedSeries | null {
  const byLabel = new Map<string, ReadonlySet<string>>();
  const tests: FieldTest[] = [];
  for (const fn of filters) {
    const said = saidOfSeries(fn);
    if (said === null) continue;
    if (!isUnknown(said.test)) tests.push(said.test);
    for (const { label, texts } of said.conditions) byLabel.set(label, both(byLabel.get(label) ?? null, texts));
  }
  if (byLabel.size === 0 && tests.length === 0) return null;
  const measurements = byLabel.get("_measurement") ?? null;
  const fields = byLabel.get("_field") ?? null;
  const tags = [...byLabel].filter(([label]) => !NO_TAGS.has(label)).map(([label, texts]) => [label, [...texts]] as const);
  const mayPass = fieldFilter(tests);
  return {
    key: JSON.stringify([[...byLabel].map(([label, texts]) => [label, ...texts]), tests]),
    measurements: measurements === null ? null : [...measurements],
    mayBe: (measurement, field) => has(measurements, measurement) && has(fields, field) && mayPass(measurement, field),
    tags: new Map(tags),
  };
}

/** What one filter says about series; null: nothing. */
const saidOfSeries = keptWithTree((fn) => {
  const row = fn.parameters[0]?.name;
  if (!(fn instanceof Closure) || fn.body === null || row === undefined) return null;
  return { test: fieldTest(fn.body, fn, row), conditions: conditionsOf(fn.body, { fn, row }) };
});

function isUnknown(test: FieldTest): boolean {
  if (test.operator === "and" || test.operator === "or") return isUnknown(test.left) && isUnknown(test.right);
  return test.operator === "unknown" || (test.operator === "not" && isUnknown(test.of));
}

/** What a filter tests. */
export interface FilterParts {
  /** Its comparisons of the value, all of which a row has to pass. */
  readonly values: readonly ValueTest[];
  /** True: `wantedSeries` says everything else that it tests. */
  readonly isDecided: boolean;
}

/** Null: its result depends on rows in other ways than by their values' size. */
export const filterParts = keptWithTree(readParts);

function readParts(fn: FluxFunction): FilterParts | null {
  if (!(fn instanceof Closure) || fn.body === null || fn.parameters[0] === undefined) return null;
  const of: RowFunction = { fn, row: fn.parameters[0].name };
  const values: ValueTest[] = [];
  let isDecided = true;
  for (const part of conjunctsOf(fn.body)) {
    if (isExact(part, of) || isTrue(part, of)) continue;
    const test = valueTest(part, of);
    if (test !== null) values.push(test);
    else if (isOfSeries(part, of.row)) isDecided = false;
    else return null;
  }
  return { values, isDecided };
}

function conjunctsOf(expression: Expression): Expression[] {
  if (expression.type === "ParenExpression") return conjunctsOf(expression.expression);
  if (expression.type !== "LogicalExpression" || expression.operator !== "and") return [expression];
  return [...conjunctsOf(expression.left), ...conjunctsOf(expression.right)];
}

/** Whether `conditionsOf` says all of it. */
function isExact(expression: Expression, of: RowFunction): boolean {
  if (expression.type === "ParenExpression") return isExact(expression.expression, of);
  const conditions = conditionsOf(expression, of);
  if (conditions.length === 0 || conditions.some(({ label }) => NO_SERIES.has(label))) return false;
  if (expression.type !== "LogicalExpression") return true;
  const { left, right, operator } = expression;
  if (!isExact(left, of) || !isExact(right, of)) return false;
  return operator === "and" || (conditionsOf(left, of).length === 1 && conditionsOf(right, of).length === 1);
}

const NO_SERIES: ReadonlySet<string> = new Set(["_value", "_time", "_start", "_stop"]);

function isTrue(expression: Expression, { fn, row }: RowFunction): boolean {
  if (expression.type === "BooleanLiteral") return expression.value;
  return expression.type === "Identifier" && expression.name !== row && fn.outerValue(expression.name) === true;
}

const MIRRORED = { "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

function valueTest(expression: Expression, { fn, row }: RowFunction): ValueTest | null {
  if (expression.type !== "BinaryExpression" || !Object.hasOwn(MIRRORED, expression.operator)) return null;
  const operator = expression.operator as ValueTest["operator"];
  const { left, right } = expression;
  const isValue = (side: Expression) =>
    side.type === "MemberExpression" &&
    side.object.type === "Identifier" &&
    side.object.name === row &&
    labelOf(side.property) === "_value";
  const [operand, own] = isValue(left) ? [right, operator] : isValue(right) ? [left, MIRRORED[operator]] : [null, operator];
  const value = operand === null ? null : constantOf(operand, fn, row);
  return value === null ? null : { operator: own, value };
}

function constantOf(expression: Expression, fn: Closure, row: string): ValueTest["value"] | null {
  switch (expression.type) {
    case "ParenExpression":
      return constantOf(expression.expression, fn, row);
    case "StringLiteral":
    case "FloatLiteral":
    case "IntegerLiteral":
    case "BooleanLiteral":
      return expression.value;
    case "UnaryExpression": {
      const value = expression.operator === "-" ? constantOf(expression.argument, fn, row) : null;
      return typeof value === "number" || typeof value === "bigint" ? -value : null;
    }
    case "Identifier": {
      const value = expression.name === row ? undefined : fn.outerValue(expression.name);
      return typeof value === "number" || typeof value === "bigint" || typeof value === "string" || typeof value === "boolean"
        ? value
        : null;
    }
    default:
      return null;
  }
}

/** Whether it has one result for all rows of a series. */
function isOfSeries(expression: Expression, row: string): boolean {
  let isSo = true;
  walk(expression, (node) => {
    if (node.type === "FunctionExpression") isSo = false;
    if (node.type === "MemberExpression") {
      const { object, property } = node as MemberExpression;
      if (object.type === "Identifier" && object.name === row) {
        const label = labelOf(property);
        if (label === "_value" || label === "_time") isSo = false;
        return false;
      }
    }
    if (node.type === "Identifier" && (node as Identifier).name === row) isSo = false;
    return isSo;
  });
  return isSo;
}

function has(texts: Texts, text: string): boolean {
  return texts === null || texts.has(text);
}

function both(a: Texts, b: ReadonlySet<string>): ReadonlySet<string> {
  return a === null ? b : new Set([...a].filter((text) => b.has(text)));
}

interface RowFunction {
  readonly fn: Closure;
  readonly row: string;
}

/** Conditions that hold whenever the expression is true. */
function conditionsOf(expression: Expression, of: RowFunction): ColumnTexts[] {
  if (expression.type === "ParenExpression") return conditionsOf(expression.expression, of);
  if (expression.type === "LogicalExpression") {
    const [left, right] = [conditionsOf(expression.left, of), conditionsOf(expression.right, of)];
    return expression.operator === "and" ? [...left, ...right] : eitherOf(left, right);
  }
  if (expression.type !== "BinaryExpression" || expression.operator !== "==") return [];
  const { left, right } = expression;
  const condition = equality(left, right, of) ?? equality(right, left, of);
  return condition === null ? [] : [condition];
}

/** What holds whichever side is true. */
function eitherOf(left: readonly ColumnTexts[], right: readonly ColumnTexts[]): ColumnTexts[] {
  return left.flatMap(({ label, texts }) => {
    const other = right.find((each) => each.label === label);
    return other === undefined ? [] : [{ label, texts: new Set([...texts, ...other.texts]) }];
  });
}

function equality(column: Expression, value: Expression, { fn, row }: RowFunction): ColumnTexts | null {
  if (column.type !== "MemberExpression" || column.object.type !== "Identifier" || column.object.name !== row) return null;
  const text = textOf(value, fn, row);
  // an absent tag is null, which equals nothing
  return text === null ? null : { label: labelOf(column.property), texts: new Set([text]) };
}

/** A text that is the same for all rows. */
function textOf(value: Expression, fn: Closure, row: string): string | null {
  if (value.type === "StringLiteral") return value.value;
  if (value.type !== "Identifier" || value.name === row) return null;
  const outer = fn.outerValue(value.name);
  return typeof outer === "string" ? outer : null;
}
