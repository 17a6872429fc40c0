// Nested macros: DuckDB's planner inserts an argument as often as the macro uses it, so an expensive one is first bound to a name.

import { internalName } from "../parse/names.ts";
import type { Expression, FunctionCall } from "../parse/tree.ts";
import { call } from "../parse/tree.ts";
import { MACRO_WEIGHTS } from "./macro-weights.ts";

/** An argument is bound if its uses would add this many expressions. */
const BIND_WEIGHT = 300;

export interface Weighed {
  /** Number of expressions that DuckDB plans for it. */
  readonly weight: number;
  /** Number of expressions that DuckDB traverses again for enclosing ones. */
  readonly work?: number;
}

/** Smaller ones are cheap, however many there are. */
const SMALL_WEIGHT = 64;

function ownWork(weight: number): number {
  return weight > SMALL_WEIGHT ? weight : 0;
}

/** Work for an expression of this weight with these parts. */
export function workOf(weight: number, parts: readonly Weighed[], factor = 1): number {
  return parts.reduce((sum, part) => sum + (part.work ?? 0), ownWork(weight) * factor);
}

/** Excludes the functions used by rewrites for binding arguments. */
const OF_LISTS = /^(?:array_|list_(?!transform|value|extract)|__(?:distinct|union|except|intersect|removed|replaced|pop_))/;
/** Factor for list types, which DuckDB plans more slowly. */
const LIST_WORK = 16;

/** Rewrites `f(x)` to `list_transform([x], lambda v: f(v))[1]` for each expensive argument that the macro uses more than once. */
export function bind(node: FunctionCall, parts: readonly Weighed[], weight: number, depth: number): Weighed & { node: Expression } {
  const macro = MACRO_WEIGHTS.get(node.function_name);
  const factor = OF_LISTS.test(node.function_name) ? LIST_WORK : 1;
  if (macro === undefined) return { node, weight, work: workOf(weight, parts, factor) };
  const isHeavy = node.children.map((_, i) => (parts[i]?.weight ?? 0) * ((macro.mentions[i] ?? 1) - 1) > BIND_WEIGHT);
  const expanded = node.children.reduce(
    (sum, _, i) => sum + (parts[i]?.weight ?? 1) * (isHeavy[i] ? 1 : (macro.mentions[i] ?? 1)),
    macro.own,
  );
  const bound = isHeavy.flatMap((heavy, index) => (heavy ? [{ index, name: internalName("x", depth + index) }] : []));
  const inner: Expression = {
    ...node,
    children: node.children.map((child, i) => (isHeavy[i] ? reference(internalName("x", depth + i)) : child)),
  };
  const outer = bound.reduceRight<Expression>((body, { index, name }) => bindOne(node.children[index]!, name, body), inner);
  const total = expanded + bound.length * 4;
  const mentioned = node.children.reduce((sum, _, i) => sum + (parts[i]?.work ?? 0) * (isHeavy[i] ? 1 : (macro.mentions[i] ?? 1)), 0);
  // an argument is nested in a few expressions of the macro, and in those that bind it
  const work = mentioned + ownWork(total) * (bound.length > 0 ? 4 : 2) * factor;
  return { node: { ...outer, alias: node.alias }, weight: total, work };
}

function bindOne(value: Expression, name: string, body: Expression): Expression {
  const lambda: Expression = { class: "LAMBDA", type: "LAMBDA", alias: "", lhs: reference(name), expr: { ...body, alias: "" } };
  const list: Expression = { class: "OPERATOR", type: "ARRAY_CONSTRUCTOR", alias: "", children: [{ ...value, alias: "" }] };
  const one: Expression = {
    class: "CONSTANT",
    type: "VALUE_CONSTANT",
    alias: "",
    value: { type: { id: "INTEGER", type_info: null }, is_null: false, value: 1 },
  };
  return { class: "OPERATOR", type: "ARRAY_EXTRACT", alias: "", children: [call("list_transform", [list, lambda]), one] };
}

function reference(name: string): Expression {
  return { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [name] };
}
