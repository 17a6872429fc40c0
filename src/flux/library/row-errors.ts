// Errors of row functions, worded as recorded: the reference computes some of them column by column, and compiles the others by row.
import { Closure } from "../interpret/closure.ts";
import { OperandError } from "../interpret/operators.ts";
import { walk } from "../parse/walk.ts";
import { COLUMN_TYPES } from "../values/column-type.ts";
import { FluxError, UnplacedError } from "../values/flux-error.ts";
import type { FluxFunction } from "../values/value.ts";
import { ArgumentError } from "./native-call.ts";

const ARITHMETIC: readonly string[] = ["+", "-", "*", "/", "%", "^"];

/** Kinds of nodes that the reference computes column by column. */
const VECTOR_NODES: ReadonlySet<string> = new Set([
  ...["ObjectExpression", "Property", "MemberExpression", "Identifier", "ParenExpression", "BinaryExpression", "LogicalExpression"],
  ...["ConditionalExpression", "IntegerLiteral", "FloatLiteral", "StringLiteral", "BooleanLiteral", "DateTimeLiteral", "DurationLiteral"],
]);

/** Whether the reference computes the function column by column: then columns keep their order. */
export function isVectorized(fn: FluxFunction): boolean {
  const body = fn instanceof Closure ? fn.body : null;
  if (body === null) return false;
  let found = true;
  walk(body, (node) => {
    if (node.type === "CallExpression") {
      const { callee } = node as typeof node & { readonly callee: { readonly type: string; readonly name?: string } };
      found &&= callee.type === "Identifier" && callee.name === "float";
    } else found &&= VECTOR_NODES.has(node.type);
    return found;
  });
  return found;
}

function isColumnType(type: string): boolean {
  return (COLUMN_TYPES as readonly string[]).includes(type);
}

/** @returns what is to be thrown in place of an error of the function */
export function rowError(kind: "filter" | "map" | "reduce" | "state", fn: FluxFunction, error: unknown): unknown {
  if (!(error instanceof FluxError) || error instanceof UnplacedError) return error;
  const isVector = kind === "map" && isVectorized(fn);
  if (error instanceof OperandError) {
    const { left, operator, right } = error;
    const conflict = operator.includes("~") ? `type conflict: string != ${left}` : `type conflict: ${right} != ${left}`;
    if (isVector) return new UnplacedError(`runtime error: ${conflict}`);
    // operands of arithmetic have one type before anything is known of the operator
    if (operator.includes("~") || (ARITHMETIC.includes(operator) && left !== right)) return new FluxError(conflict);
    return fn instanceof Closure ? new FluxError(`cannot compile @ ${fn.place}: ${error.message}`) : error;
  }
  // as recorded, floats of whole columns are named after another type
  if (isVector) return new UnplacedError(`runtime error: ${error.message.replace(/ to float( due to invalid syntax)$/, " to Float$1")}`);
  const column = error instanceof ArgumentError && isColumnType(error.wanted) && isColumnType(error.given) ? error : null;
  if (column !== null) return new FluxError(`type conflict: ${column.wanted} != ${column.given}`);
  if (kind === "state") return error;
  return new FluxError(`failed to evaluate ${kind} function: ${error.message}`, error.code);
}
