// Calls of the macros in macros.ts. A macro is expanded with its argument inserted at each use, so a large argument is bound first.
import { internalName } from "../../parse/names.ts";
import type { ColumnRef, Expression } from "../../parse/tree.ts";
import { call, integerConstant } from "../../parse/tree.ts";
import { someNode } from "../walk.ts";

/** Values with more nodes are bound rather than planned and computed twice. */
const MENTIONED_NODES_MAX = 12;

/** `body` over a value that it uses several times. `name`: for readers of plans. */
export function bind(name: string, value: Expression, body: (value: Expression) => Expression): Expression {
  let nodes = 0;
  if (!someNode(value, () => ++nodes > MENTIONED_NODES_MAX)) return body(value);
  const parameter: ColumnRef = { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [internalName(name, 0)] };
  const lambda: Expression = { class: "LAMBDA", type: "LAMBDA", alias: "", lhs: parameter, expr: body(parameter) };
  const list = call("list_transform", [call("list_value", [value]), lambda]);
  return { class: "OPERATOR", type: "ARRAY_EXTRACT", alias: "", children: [list, integerConstant(1)] };
}

/** A macro whose first parameter is a time. */
export function timeMacro(name: string, time: Expression, ...others: readonly Expression[]): Expression {
  return bind("of", time, (at) => call(name, [at, ...others]));
}

/** The nanoseconds of a time as BIGINT. */
export function nanosecondsOf(time: Expression): Expression {
  if (time.class === "FUNCTION" && time.function_name === "make_timestamp_ns" && time.children.length === 1) return time.children[0]!;
  return call("__ns", [time]);
}
