// A value by the stretch of time that an instant lies in: a tree of comparisons, which costs little for a row but much to plan. Of a long
// table only the years that data mostly has become a tree; the others are searched in a list.
import { daysOf } from "../time-text.ts";
import type { Expression } from "../tree.ts";
import { bigintConstant, call, stringConstant } from "../tree.ts";
import { timeConstant } from "./cast.ts";
import { nanosecondsOf } from "./time-macro.ts";

/** Nanoseconds, text, or what an expression says; all constants of one choice are of one kind. */
export type Leaf = bigint | string | Expression;

const TREE_LEAVES_MAX = 96;
const DAY_NS = 86_400_000_000_000n;
const COMMON_FROM_NS = BigInt(daysOf(2005, 1, 1)) * DAY_NS;
const COMMON_END_NS = BigInt(daysOf(2040, 1, 1)) * DAY_NS;

/** `leaves[k]` for times from `bounds[k - 1]` on and before `bounds[k]`; `at` is mentioned many times. */
export function choose(at: Expression, bounds: readonly bigint[], leaves: readonly Leaf[]): Expression {
  if (leaves.length <= TREE_LEAVES_MAX) return tree(at, bounds, leaves);
  const first = bounds.findIndex((bound) => bound > COMMON_FROM_NS);
  const end = bounds.findLastIndex((bound) => bound < COMMON_END_NS) + 1;
  if (first < 0 || end <= first) return search(at, bounds, leaves);
  // what lies before the first bound is in the same stretch as the beginning
  const common = tree(at, bounds.slice(first, end), leaves.slice(first, end + 1));
  const rest = search(at, bounds, leaves);
  const isCommon: Expression = {
    class: "CONJUNCTION",
    type: "CONJUNCTION_AND",
    alias: "",
    children: [atLeast(at, COMMON_FROM_NS), before(at, COMMON_END_NS)],
  };
  return when(isCommon, common, rest);
}

function tree(at: Expression, bounds: readonly bigint[], leaves: readonly Leaf[]): Expression {
  if (leaves.length === 1) return constant(leaves[0]!);
  const middle = leaves.length >> 1;
  const left = tree(at, bounds.slice(0, middle - 1), leaves.slice(0, middle));
  return when(before(at, bounds[middle - 1]!), left, tree(at, bounds.slice(middle), leaves.slice(middle)));
}

function search(at: Expression, bounds: readonly bigint[], leaves: readonly Leaf[]): Expression {
  const steps: number[] = [];
  for (let step = 1; step <= bounds.length; step *= 2) steps.unshift(step);
  const isText = leaves.some((leaf) => typeof leaf === "string");
  const own = leaves.find((leaf) => typeof leaf === "object");
  const texts = leaves.map((leaf) => (typeof leaf === "object" ? "NULL" : String(leaf)));
  const lists = [bounds, steps, texts].map((list) => stringConstant(`[${list.join(",")}]`));
  const found = call(isText ? "__choose_text" : "__choose_number", [nanosecondsOf(at), ...lists]);
  return own === undefined ? found : { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children: [found, own] };
}

function constant(leaf: Leaf): Expression {
  return typeof leaf === "object" ? leaf : typeof leaf === "string" ? stringConstant(leaf) : bigintConstant(leaf);
}

function before(at: Expression, bound: bigint): Expression {
  return { class: "COMPARISON", type: "COMPARE_LESSTHAN", alias: "", left: at, right: timeConstant(bound).node };
}

function atLeast(at: Expression, bound: bigint): Expression {
  return { class: "COMPARISON", type: "COMPARE_GREATERTHANOREQUALTO", alias: "", left: at, right: timeConstant(bound).node };
}

function when(when_expr: Expression, then_expr: Expression, else_expr: Expression): Expression {
  return { class: "CASE", type: "CASE_EXPR", alias: "", case_checks: [{ when_expr, then_expr }], else_expr };
}
