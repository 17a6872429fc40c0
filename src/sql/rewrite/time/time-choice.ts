// Selects a value by the range that contains an instant: a tree of comparisons, which is fast per row but expensive to plan. For long
// tables only common years use a tree; the others use a list search.
import { DAY_NS } from "../../../model/time/time-units.ts";
import { daysOf } from "../../parse/time-text.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, call, stringConstant } from "../../parse/tree.ts";
import { nullConstant, whenThen } from "../rule.ts";
import { nanosecondsOf } from "./time-macro.ts";
import { timeConstant } from "./time-value.ts";

/** Nanoseconds, text, or an expression; all constants of one choice have one kind. */
export type Leaf = bigint | string | Expression;

const TREE_LEAVES_MAX = 96;
const COMMON_FROM_NS = BigInt(daysOf(2005, 1, 1)) * DAY_NS;
const COMMON_END_NS = BigInt(daysOf(2040, 1, 1)) * DAY_NS;

/** `leaves[k]` for times from `bounds[k - 1]` to before `bounds[k]`; `at` is used many times. */
export function choose(at: Expression, bounds: readonly bigint[], leaves: readonly Leaf[]): Expression {
  if (leaves.length <= TREE_LEAVES_MAX) return wholeTree(at, bounds, leaves);
  const rest = search(nanosecondsOf(at), bounds, leaves);
  const first = bounds.findIndex((bound) => bound > COMMON_FROM_NS);
  const end = bounds.findLastIndex((bound) => bound < COMMON_END_NS) + 1;
  if (first < 0 || end <= first || end - first >= TREE_LEAVES_MAX) return rest;
  // times before the first bound are in the same range as the start
  const common = wholeTree(at, bounds.slice(first, end), leaves.slice(first, end + 1));
  const from = compare("COMPARE_GREATERTHANOREQUALTO", at, timeBound(COMMON_FROM_NS));
  const to = compare("COMPARE_LESSTHAN", at, timeBound(COMMON_END_NS));
  return whenThen([[{ class: "CONJUNCTION", type: "CONJUNCTION_AND", alias: "", children: [from, to] }, common]], rest);
}

/** The same for a BIGINT. */
export function chooseByNumber(at: Expression, bounds: readonly bigint[], leaves: readonly bigint[]): Expression {
  return leaves.length <= TREE_LEAVES_MAX ? tree(at, bounds, leaves, bigintConstant) : search(at, bounds, leaves);
}

/** An expression among the leaves, the same wherever it is one, is written once: it may be a tree itself. */
function wholeTree(at: Expression, bounds: readonly bigint[], leaves: readonly Leaf[]): Expression {
  const own = leaves.filter((leaf) => typeof leaf === "object");
  if (own.length < 2) return tree(at, bounds, leaves, timeBound);
  const none = nullConstant();
  const found = tree(
    at,
    bounds,
    leaves.map((leaf) => (typeof leaf === "object" ? none : leaf)),
    timeBound,
  );
  return orOwn(found, own[0]!);
}

function orOwn(found: Expression, own: Expression): Expression {
  return { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children: [found, own] };
}

type BoundOf = (bound: bigint) => Expression;
const timeBound: BoundOf = (bound) => timeConstant(bound).node;

function tree(at: Expression, bounds: readonly bigint[], leaves: readonly Leaf[], boundOf: BoundOf): Expression {
  if (leaves.length === 1) return constant(leaves[0]!);
  const middle = leaves.length >> 1;
  const left = tree(at, bounds.slice(0, middle - 1), leaves.slice(0, middle), boundOf);
  const right = tree(at, bounds.slice(middle), leaves.slice(middle), boundOf);
  return whenThen([[compare("COMPARE_LESSTHAN", at, boundOf(bounds[middle - 1]!)), left]], right);
}

function search(ns: Expression, bounds: readonly bigint[], leaves: readonly Leaf[]): Expression {
  const steps: number[] = [];
  for (let step = 1; step <= bounds.length; step *= 2) steps.unshift(step);
  const isText = leaves.some((leaf) => typeof leaf === "string");
  const own = leaves.find((leaf) => typeof leaf === "object");
  const texts = leaves.map((leaf) => (typeof leaf === "object" ? "NULL" : String(leaf)));
  const lists = [bounds, steps, texts].map((list) => stringConstant(`[${list.join(",")}]`));
  const found = call(isText ? "__choose_text" : "__choose_number", [ns, ...lists]);
  return own === undefined ? found : orOwn(found, own);
}

function constant(leaf: Leaf): Expression {
  return typeof leaf === "object" ? leaf : typeof leaf === "string" ? stringConstant(leaf) : bigintConstant(leaf);
}

function compare(type: string, left: Expression, right: Expression): Expression {
  return { class: "COMPARISON", type, alias: "", left, right };
}
