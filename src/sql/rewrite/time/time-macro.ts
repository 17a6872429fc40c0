// Calls of the macros of macros.ts. A macro's text takes the place of its call with the arguments in it, as often as it mentions them, so a
// large argument is computed once, in front.
import { internalName } from "../../parse/names.ts";
import type { ColumnRef, Expression } from "../../parse/tree.ts";
import { call, integerConstant } from "../../parse/tree.ts";
import { someNode } from "../walk.ts";

/** A value of more nodes than this is not worth being planned and computed twice. */
const MENTIONED_NODES_MAX = 12;

/** `body` over a value that it mentions several times. `name`: for people who read plans. */
export function bind(name: string, value: Expression, body: (value: Expression) => Expression): Expression {
  let nodes = 0;
  if (!someNode(value, () => ++nodes > MENTIONED_NODES_MAX)) return body(value);
  const parameter: ColumnRef = { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [internalName(name, 0)] };
  const lambda: Expression = { class: "LAMBDA", type: "LAMBDA", alias: "", lhs: parameter, expr: body(parameter) };
  const list = call("list_transform", [call("list_value", [value]), lambda]);
  return { class: "OPERATOR", type: "ARRAY_EXTRACT", alias: "", children: [list, integerConstant(1)] };
}

/** A macro of a time, its first parameter. */
export function timeMacro(name: string, time: Expression, ...others: readonly Expression[]): Expression {
  return bind("of", time, (at) => call(name, [at, ...others]));
}

/** The nanoseconds of a time as BIGINT. */
export function nanosecondsOf(time: Expression): Expression {
  if (time.class === "FUNCTION" && time.function_name === "make_timestamp_ns" && time.children.length === 1) return time.children[0]!;
  return call("__ns", [time]);
}
