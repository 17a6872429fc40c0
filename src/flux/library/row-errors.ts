// Errors of row functions, worded as recorded: the reference computes some of them column by column, and compiles the others by row.
import { Closure } from "../interpret/closure.ts";
import { OperandError } from "../interpret/operators.ts";
import type { BinaryExpression, Expression } from "../parse/ast.ts";
import { walk } from "../parse/walk.ts";
import { type FluxTable, RowRecord } from "../tables/table.ts";
import type { MemberTypes } from "../types/function-types.ts";
import { COLUMN_TYPES } from "../values/column-type.ts";
import { FluxError, UnplacedError } from "../values/flux-error.ts";
import type { FluxFunction } from "../values/value.ts";
import { ArgumentError } from "./native-call.ts";
import { checkOperandTypes, lacksColumns, TypeConflict } from "./operand-types.ts";
import { keptWithTree } from "./plan/kept-with-tree.ts";

type RowFunctionKind = "filter" | "map" | "reduce" | "state" | "join" | "item";

/** Parameters whose types are known from columns alone. */
const ROWS: readonly string[] = ["r"];
const JOINED_ROWS: readonly string[] = ["l", "r"];
/** Of items, the item itself too. */
const ITEMS: readonly string[] = ["x"];

const ARITHMETIC: readonly string[] = ["+", "-", "*", "/", "%", "^"];

/** What the reference calls comparisons of columns. */
const VECTOR_NAMES: ReadonlyMap<string, string> = new Map([
  ["==", "Equal"],
  ["!=", "NotEqual"],
  ["<", "LessThan"],
  ["<=", "LessThanEqual"],
  [">", "GreaterThan"],
  [">=", "GreaterThanEqual"],
]);

const VECTOR_LITERALS: readonly string[] = ["IntegerLiteral", "FloatLiteral", "StringLiteral", "BooleanLiteral", "DateTimeLiteral"];

/** Whether the reference computes the function column by column: then columns keep their order. */
export const isVectorized = keptWithTree(isOfColumns);

function isOfColumns(fn: FluxFunction): boolean {
  const [row, ...others] = fn.parameters;
  if (!(fn instanceof Closure) || fn.body === null || row === undefined || others.length > 0) return false;
  const record = withoutParentheses(fn.body);
  if (record.type !== "ObjectExpression" || (record.with !== undefined && record.with.name !== row.name)) return false;
  return record.properties.every(({ value }) => value !== null && isVector(value, row.name));
}

function withoutParentheses(node: Expression): Expression {
  return node.type === "ParenExpression" ? withoutParentheses(node.expression) : node;
}

/** Whether an expression is one over whole columns: of the row's members and literals. */
function isVector(node: Expression, row: string): boolean {
  const are = (...nodes: readonly Expression[]) => nodes.every((each) => isVector(each, row));
  switch (node.type) {
    case "ParenExpression":
      return are(node.expression);
    case "Identifier":
      return node.name === "true" || node.name === "false";
    case "MemberExpression":
      return node.object.type === "Identifier" && node.object.name === row;
    case "UnaryExpression":
      return are(node.argument);
    case "BinaryExpression":
    case "LogicalExpression":
      return are(node.left, node.right);
    case "ConditionalExpression":
      return are(node.test, node.consequent, node.alternate);
    case "CallExpression": {
      const given = node.arguments[0]?.properties ?? [];
      return node.callee.type === "Identifier" && node.callee.name === "float" && given.every(({ value }) => value !== null && are(value));
    }
    default:
      return VECTOR_LITERALS.includes(node.type);
  }
}

function isColumnType(type: string): boolean {
  return (COLUMN_TYPES as readonly string[]).includes(type);
}

function vectorProblem({ left, operator, right }: OperandError): string {
  return `unsupported type for vector ${VECTOR_NAMES.get(operator)}: ${left} ${operator} ${right}`;
}

/** What is known before the row's columns are is named first: other values, and what a call takes. Of two columns, the left one. */
function namesLeftFirst(fn: FluxFunction, operator: string, rows: readonly string[]): boolean {
  if (!(fn instanceof Closure) || fn.body === null) return true;
  const found: BinaryExpression[] = [];
  let isGiven = false;
  walk(fn.body, (node) => {
    if (node.type === "CallExpression" && found.length === 0) {
      walk(node, (inner) => {
        isGiven ||= inner.type === "BinaryExpression" && (inner as BinaryExpression).operator === operator;
        return !isGiven;
      });
    }
    if (node.type === "BinaryExpression" && (node as BinaryExpression).operator === operator) found.push(node as BinaryExpression);
    return found.length === 0;
  });
  const [first] = found;
  return first === undefined || !isOfRow(first.left, rows) || (isOfRow(first.right, rows) && !isGiven);
}

/** Whether the type of an expression is that of a column. */
function isOfRow(node: Expression, rows: readonly string[]): boolean {
  switch (node.type) {
    case "ParenExpression":
      return isOfRow(node.expression, rows);
    case "Identifier":
      return rows.includes(node.name);
    case "MemberExpression":
      return node.object.type === "Identifier" && rows.includes(node.object.name);
    case "UnaryExpression":
      return isOfRow(node.argument, rows);
    case "BinaryExpression":
      return ARITHMETIC.includes(node.operator) && isOfRow(node.left, rows) && isOfRow(node.right, rows);
    default:
      return false;
  }
}

/** @returns what is to be thrown in place of an error of the function */
export function rowError(kind: RowFunctionKind, fn: FluxFunction, error: unknown): unknown {
  if (!(error instanceof FluxError) || error instanceof UnplacedError) return error;
  const isVector = kind === "map" && isVectorized(fn);
  if (error instanceof OperandError) {
    const { left, operator, right } = error;
    const isLeftFirst = namesLeftFirst(fn, operator, kind === "join" ? JOINED_ROWS : kind === "item" ? ITEMS : ROWS);
    const [wanted, given] = operator.includes("~") ? ["string", left] : isLeftFirst ? [left, right] : [right, left];
    const conflict = `type conflict: ${wanted} != ${given}`;
    if (isVector && error.isOfConstants) return new UnplacedError(`runtime error: ${error.message}`);
    if (isVector) return new UnplacedError(`runtime error: ${VECTOR_NAMES.has(operator) ? vectorProblem(error) : conflict}`);
    if (error.isOfCall && (left === right || !ARITHMETIC.includes(operator) || [left, right].includes("invalid"))) {
      return kind === "item" ? error : new FluxError(`failed to evaluate ${kind} function: ${error.message}`);
    }
    // operands of arithmetic have one type before anything is known of the operator
    if (operator.includes("~") || (ARITHMETIC.includes(operator) && left !== right)) return new FluxError(conflict);
    return fn instanceof Closure ? new FluxError(`cannot compile @ ${fn.place}: ${error.message}`) : error;
  }
  if (error instanceof TypeConflict && !isVector) return new FluxError(error.message);
  // as recorded, floats of whole columns are named after another type
  if (isVector) {
    const shown = callsOfRows(fn) ? error.message.replace(/ to float( due to invalid syntax)$/, " to Float$1") : error.message;
    return new UnplacedError(`runtime error: ${shown}`);
  }
  const column = error instanceof ArgumentError && isColumnType(error.wanted) && isColumnType(error.given) ? error : null;
  if (column !== null) return new FluxError(`type conflict: ${column.wanted} != ${column.given}`);
  if (kind === "state" || kind === "join" || kind === "item") return error;
  return new FluxError(`failed to evaluate ${kind} function: ${error.message}`, error.code);
}

/** Whether calls take columns, and not literals alone. */
function callsOfRows(fn: FluxFunction): boolean {
  let found = false;
  if (!(fn instanceof Closure) || fn.body === null) return found;
  walk(fn.body, (node) => {
    if (node.type === "CallExpression") {
      walk(node, (inner) => {
        found ||= inner.type === "MemberExpression";
        return !found;
      });
    }
    return !found;
  });
  return found;
}

/** A record of rows for the function: a member that is used as no column can be has to be there. */
export function rowRecord(table: FluxTable, fn: FluxFunction, parameter = "r"): RowRecord {
  return new RowRecord(table, fn instanceof Closure ? (label) => fn.compositeMember(parameter, label) : null);
}

/** @throws FluxError: columns have other types than the function is for */
export function checkColumns(kind: RowFunctionKind, fn: FluxFunction, members: MemberTypes): void {
  const conflict = fn instanceof Closure ? fn.columnConflict(members) : null;
  if (conflict !== null) throw rowError(kind, fn, new TypeConflict(conflict.wanted, conflict.given));
}

/** @throws FluxError: as for the columns; or operands have types that an operator never takes, though they may never be computed */
export function checkOperands(kind: RowFunctionKind, fn: FluxFunction, members: MemberTypes): void {
  if (!(fn instanceof Closure)) return;
  checkColumns(kind, fn, members);
  // of missing columns the reference makes columns without a type
  const isOfColumns = kind === "map" && isVectorized(fn);
  if (isOfColumns && lacksColumns(fn, members)) return;
  try {
    checkOperandTypes(fn, members, isOfColumns);
  } catch (error) {
    throw rowError(kind, fn, error);
  }
}
