// selector_first(x, time) and similar: the value and the time of one selected row, ignoring rows without x. Composed from DuckDB's
// aggregates.
import { type Typed, withClock } from "../../bind/kind.ts";
import { sameType, structType, typeName } from "../../bind/type-notes.ts";
import type { Expression, FunctionCall, Operator } from "../../parse/tree.ts";
import { call } from "../../parse/tree.ts";
import { argumentCount, isNotNull, planError, whenThen } from "../rule.ts";
import { asTime, nsOf } from "../time/time-value.ts";
import { typed } from "../typed.ts";

/** The aggregates for the value and its time. Among equal values the earliest row is selected. */
const SELECTORS: Readonly<Record<string, (value: Typed, time: Typed) => { value: FunctionCall; time: FunctionCall }>> = {
  selector_first: (x, time) => ({ value: call("arg_min", [x.node, time.node]), time: call("min", [time.node]) }),
  selector_last: (x, time) => ({ value: call("arg_max", [x.node, time.node]), time: call("max", [time.node]) }),
  selector_min: (x, time) => ({
    value: call("min", [x.node]),
    time: call("arg_min", [time.node, call("row", [x.node, time.node])]),
  }),
  selector_max: (x, time) => ({
    value: call("max", [x.node]),
    time: call("arg_max", [time.node, call("row", [x.node, { ...call("~", [nsOf(time)]), is_operator: true }])]),
  }),
};

/** True for selector_first, selector_last, selector_min and selector_max. */
export function isSelector(name: string): boolean {
  return Object.hasOwn(SELECTORS, name);
}

/** Rewrites a call to a struct of value and time. */
export function rewriteSelector(node: FunctionCall, args: readonly Typed[]): Typed {
  const { value, time } = pairOf(node, args);
  const members: Expression[] = [
    { ...value.node, alias: "value" },
    { ...time.node, alias: "time" },
  ];
  const note = structType([
    { name: "value", value },
    { name: "time", value: time },
  ]);
  return { ...typed(whenThen([[isNotNull(time.node), call("struct_pack", members, node.query_location)]]), "other"), ...note };
}

/** `selector_last(x, time)['value']`: one part, without computing the other. */
export function selectorPart(node: Operator): { selector: FunctionCall; part: "value" | "time" } | null {
  const [pair, key] = node.children;
  if (node.type !== "ARRAY_EXTRACT" && node.type !== "STRUCT_EXTRACT") return null;
  if (pair?.class !== "FUNCTION" || !isSelector(pair.function_name) || key?.class !== "CONSTANT") return null;
  const part = key.value.value;
  return part === "value" || part === "time" ? { selector: pair, part } : null;
}

/** Rewrites `selector_…(value, time)['value']`, or `['time']`. */
export function rewriteSelectorPart(node: FunctionCall, args: readonly Typed[], part: "value" | "time"): Typed {
  return pairOf(node, args)[part];
}

function pairOf(node: FunctionCall, args: readonly Typed[]): { value: Typed; time: Typed } {
  const [x, at] = args;
  if (x === undefined || at === undefined || args.length !== 2) throw argumentCount(node.function_name, "2", args.length);
  if (typeName(at) !== null && at.kind !== "time")
    throw planError(`${node.function_name} second argument must be a timestamp, but got ${typeName(at)}`);
  const pair = SELECTORS[node.function_name]!(x, asTime(at));
  const isPresent: Expression = { class: "OPERATOR", type: "OPERATOR_IS_NOT_NULL", alias: "", children: [x.node] };
  const filter: Expression =
    node.filter === null ? isPresent : { class: "CONJUNCTION", type: "CONJUNCTION_AND", alias: "", children: [isPresent, node.filter] };
  // the minimum and maximum of tags are plain texts
  const chosen = /first|last/.test(node.function_name) ? sameType(x) : {};
  // the aggregates of the value ignore NULLs by themselves
  const time = withClock(typed({ ...pair.time, filter }, "time"), [at]);
  return { value: { ...typed({ ...pair.value, filter: node.filter }, x.kind), ...chosen }, time };
}
