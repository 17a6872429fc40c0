// Types of columns and expressions, as determined by the schemas of a statement's sources.
import { TsdbError } from "../../model/errors.ts";
import type { BinaryOperator, Expression, FieldType, VarRef } from "../parse/ast.ts";
import { mapLeaves } from "../parse/map-leaves.ts";
import { printExpression } from "../parse/print.ts";
import { callType, MATH_FUNCTIONS } from "./functions.ts";

/** "tag": a text that rows have by their series. Null: there is no such column. */
export type ColumnKind = FieldType | "tag" | null;

/** The columns of a source. */
export interface Schema {
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly tags: ReadonlySet<string>;
}

/** If sources have different types for one name, the first of these wins. */
const RANK: Readonly<Record<FieldType | "tag", number>> = { float: 0, integer: 1, unsigned: 2, string: 3, boolean: 4, tag: 5 };

/** The type that wins between two sources. */
function strongerKind(a: ColumnKind, b: ColumnKind): ColumnKind {
  if (a === null || b === null) return a ?? b;
  return RANK[b] < RANK[a] ? b : a;
}

/** The type of a column over all sources. */
export function kindIn(schemas: readonly Schema[], name: string): ColumnKind {
  let kind: ColumnKind = null;
  for (const { fields, tags } of schemas) kind = strongerKind(kind, fields.get(name) ?? (tags.has(name) ? "tag" : null));
  return kind;
}

/** The type of a reference: its cast, otherwise that of the sources. */
export function kindOf({ name, cast }: VarRef, schemas: readonly Schema[]): ColumnKind {
  if (cast === null) return kindIn(schemas, name);
  if (cast === "field") {
    const kind = kindIn(schemas, name);
    return kind === "tag" ? null : kind;
  }
  if (cast === "time" || cast === "duration") return null;
  return cast === "tag" || schemas.some((schema) => converts(kindIn([schema], name), cast)) ? cast : null;
}

/** Numbers become numbers of another type; of all others a cast leaves nothing. */
function converts(kind: ColumnKind, cast: FieldType): boolean {
  return kind === cast || (isNumber(kind) && isNumber(cast));
}

function isNumber(kind: ValueKind): boolean {
  return kind === "float" || kind === "integer" || kind === "unsigned";
}

type ValueKind = ColumnKind | "duration" | "time" | "regex";

/** The type of an expression's values; null: it has none. @param isTable in v3 what is computed from a column that is not there has no
 *  type, in 1.x the other operand's or the function's @throws TsdbError bad_query: incompatible operands */
export function typeOf(expression: Expression, schemas: readonly Schema[], isTable = false): FieldType | null {
  return fieldType(valueKind(expression, { schemas, isTable }));
}

/** True if the sources have none of the expression's columns. */
export function isUnknown(expression: Expression, schemas: readonly Schema[]): boolean {
  switch (expression.kind) {
    case "ref":
      return kindIn(schemas, expression.name) === null;
    case "call":
      return expression.args.every((arg) => isUnknown(arg, schemas));
    case "binary":
      return isUnknown(expression.left, schemas) && isUnknown(expression.right, schemas);
    case "paren":
      return isUnknown(expression.inner, schemas);
    default:
      return true;
  }
}

interface Columns {
  readonly schemas: readonly Schema[];
  readonly isTable: boolean;
}

function fieldType(kind: ValueKind): FieldType | null {
  if (kind === "tag") return "string";
  return kind === "duration" || kind === "time" || kind === "regex" ? null : kind;
}

function valueKind(expression: Expression, columns: Columns): ValueKind {
  switch (expression.kind) {
    case "ref":
      return kindOf(expression, columns.schemas);
    case "number":
      return "float";
    case "integer":
      return expression.unsigned ? "unsigned" : "integer";
    case "string":
    case "boolean":
    case "duration":
    case "time":
    case "regex":
      return expression.kind;
    case "paren":
      return valueKind(expression.inner, columns);
    case "call": {
      const { name, args } = expression;
      const isMath = MATH_FUNCTIONS.has(name);
      // each argument once: calls are nested
      const kinds = (isMath ? args : args.slice(0, 1)).map((arg) => valueKind(arg, columns));
      const argument = fieldType(kinds[0] ?? null);
      if (!isMath) return aggregateType(name, argument, columns.isTable);
      const wrong = kinds.find((kind) => kind === "string" || kind === "boolean");
      if (wrong !== undefined) throw typeError(expression, `cannot use type ${wrong} in argument to ${name}`, columns.schemas);
      return mathType(name, argument, columns.isTable);
    }
    case "binary":
      return binaryKind(expression.operator, expression, columns);
    default:
      return null;
  }
}

const KEEPS_TYPE: ReadonlySet<string> = new Set(["abs", "pow"]);

function mathType(name: string, argument: FieldType | null, isTable: boolean): FieldType | null {
  if (!KEEPS_TYPE.has(name)) return "float";
  if (argument === null && isTable) return name === "pow" ? "integer" : "float";
  return argument;
}

/** Medians of integers are integers in v3. */
function aggregateType(name: string, argument: FieldType | null, isTable: boolean): FieldType | null {
  return isTable && (argument === null || name === "median") ? argument : callType(name, argument);
}

function binaryKind(operator: BinaryOperator, expression: Expression & { kind: "binary" }, columns: Columns): ValueKind {
  const { schemas, isTable } = columns;
  const left = valueKind(expression.left, columns);
  const right = valueKind(expression.right, columns);
  if ((left === "unsigned" && right === "integer") || (left === "integer" && right === "unsigned")) {
    const [signed, whole] = left === "integer" ? [expression.left, expression.right] : [expression.right, expression.left];
    // an integer literal can be unsigned
    if (signed.kind !== "integer" || signed.value < 0n) {
      const isLiteral = whole.kind === "integer";
      const why = isLiteral
        ? `cannot use ${operator} with an integer and unsigned literal`
        : `cannot use ${operator} between an integer and unsigned, an explicit cast is required`;
      throw typeError(expression, why, schemas);
    }
    return "unsigned";
  }
  if (left === null || right === null) return isTable ? null : (left ?? right);
  const result = resultKind(operator, left, right);
  if (result === null) throw typeError(expression, `incompatible types: ${left} and ${right}`, schemas);
  return result;
}

function resultKind(operator: BinaryOperator, left: ValueKind, right: ValueKind): ValueKind {
  const isBitwise = operator === "&" || operator === "|" || operator === "^";
  if (left === "boolean" && right === "boolean")
    return isBitwise || operator === "AND" || operator === "OR" ? "boolean" : comparison(operator);
  if (!isNumber(left) || !isNumber(right)) return left === right && left === "string" ? comparison(operator) : null;
  if (left !== "float" && right !== "float") return comparison(operator) ?? left;
  return isBitwise ? null : (comparison(operator) ?? "float");
}

function comparison(operator: BinaryOperator): "boolean" | null {
  return ["=", "!=", "<", "<=", ">", ">="].includes(operator) ? "boolean" : null;
}

function typeError(expression: Expression, why: string, schemas: readonly Schema[]): TsdbError {
  return new TsdbError("bad_query", `type error: ${printExpression(withTypes(expression, schemas))}: ${why}`);
}

/** References as 1.x prints them after planning: `v::float`. */
export function withTypes(expression: Expression, schemas: readonly Schema[]): Expression {
  return mapLeaves(expression, (leaf) => (leaf.kind === "ref" ? { ...leaf, cast: kindOf(leaf, schemas) } : leaf));
}
