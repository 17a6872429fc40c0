// Expressions over the fields of a row that a scan computes itself, as conditions or as what it aggregates.
import { type ColumnDef, ColumnType } from "../rows/column.ts";

/** Integers have 64 bits and a sign. */
export type ExpressionType = "float" | "integer" | "boolean";

/** Of numbers, both of one type: + - * and, of floats alone, /. An integer that leaves 64 bits makes the scan fail. "float": of an
 *  integer. < and = compare two numbers of one type; NaN equals itself and is greater than all other numbers. and, or, not: with three
 *  truth values. "is null": of any type. "choose": the second where the first is true, otherwise the third. What is computed from a NULL is
 *  NULL, except by "is null", "choose", and, or. */
export type ExpressionOperator = "+" | "-" | "*" | "/" | "abs" | "float" | "<" | "=" | "and" | "or" | "not" | "is null" | "choose";

/** A value computed from a row. */
export type FieldExpression =
  | { readonly kind: "column"; readonly type: ExpressionType; readonly columnId: number }
  /** null: NULL. */
  | { readonly kind: "constant"; readonly type: ExpressionType; readonly value: number | bigint | boolean | null }
  | {
      readonly kind: "call";
      readonly type: ExpressionType;
      readonly operator: ExpressionOperator;
      readonly operands: readonly FieldExpression[];
    };

/** A column that is not stored: its values are computed as rows are read. Its id is negative. */
export interface ComputedColumn extends ColumnDef {
  readonly expression: FieldExpression;
}

/** True for a column whose values are computed. */
export function isComputed(column: ColumnDef): column is ComputedColumn {
  return "expression" in column;
}

/** The type of a field of an expression; null: expressions have no such values. */
export function expressionType(type: ColumnType): ExpressionType | null {
  if (type === ColumnType.float) return "float";
  if (type === ColumnType.integer) return "integer";
  return type === ColumnType.boolean ? "boolean" : null;
}

/** The type of a column with such values. */
export function columnTypeOf(type: ExpressionType): ColumnType {
  return type === "float" ? ColumnType.float : type === "integer" ? ColumnType.integer : ColumnType.boolean;
}

/** The numbers of the columns that an expression reads. */
export function columnIdsIn(expression: FieldExpression): readonly number[] {
  if (expression.kind === "column") return [expression.columnId];
  return expression.kind === "constant" ? [] : [...new Set(expression.operands.flatMap(columnIdsIn))];
}

/** Parts of an expression, each of which is evaluated for every row. */
export const EXPRESSION_PARTS_MAX = 128;
/** Values that are kept at a time while one is computed: 9 KiB each. */
const REGISTERS_MAX = 32;

/** True if few enough values are kept while it is computed. Call it with an expression of at most EXPRESSION_PARTS_MAX parts. */
export function isWithinLimits(expression: FieldExpression): boolean {
  return registersOf(expression) <= REGISTERS_MAX;
}

function registersOf(expression: FieldExpression): number {
  return expression.kind === "call" ? Math.max(...expression.operands.map((operand, i) => i + registersOf(operand))) : 1;
}

/** The same expression over other columns. */
export function withColumns(expression: FieldExpression, columnIdOf: (columnId: number) => number): FieldExpression {
  if (expression.kind === "column") return { ...expression, columnId: columnIdOf(expression.columnId) };
  if (expression.kind === "constant") return expression;
  return { ...expression, operands: expression.operands.map((operand) => withColumns(operand, columnIdOf)) };
}

/** The expression as a text that tells it from others, and that is read by people. */
export function expressionText(expression: FieldExpression, nameOf: (columnId: number) => string): string {
  if (expression.kind === "column") return nameOf(expression.columnId);
  if (expression.kind === "constant") {
    const { value } = expression;
    return value === null ? "NULL" : Object.is(value, -0) ? "-0" : String(value);
  }
  const [first, ...others] = expression.operands.map((operand) => expressionText(operand, nameOf));
  switch (expression.operator) {
    case "abs":
    case "float":
      return `${expression.operator}(${first})`;
    case "not":
      return `not ${first}`;
    case "is null":
      return `${first} is null`;
    case "choose":
      return `(${first} ? ${others.join(" : ")})`;
    default:
      return `(${[first, ...others].join(` ${expression.operator} `)})`;
  }
}
