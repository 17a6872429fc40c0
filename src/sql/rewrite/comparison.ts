// Comparisons with times and durations, and what they tell the scan: conditions of the form column-operator-constant become hints.

import { ColumnType } from "../../model/column.ts";
import { ALL_TIME } from "../../model/scan.ts";
import { intervalNs } from "../interval.ts";
import type { Hint, Typed } from "../kind.ts";
import type { Between, Comparison, Operator } from "../tree.ts";
import { bigintConstant, call } from "../tree.ts";
import { asTime } from "./cast.ts";
import { tagHints } from "./expression.ts";

/** Brings two sides to one kind where the dialect says how; otherwise DuckDB decides. */
function align(value: Typed, other: Typed): Typed {
  if (other.kind === "time" && value.kind === "string" && value.text !== undefined) return asTime(value);
  if (other.kind === "duration" && value.kind === "interval") return asDuration(value);
  return value;
}

/** An interval as nanoseconds. */
export function asDuration(value: Typed): Typed {
  if (value.kind !== "interval") return value;
  if (value.interval !== undefined) return { node: bigintConstant(intervalNs(value.interval)), kind: "duration" };
  return { node: call("__interval_ns", [value.node]), kind: "duration" };
}

/** The operator when its sides change places. */
const MIRRORED: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: "COMPARE_EQUAL",
  COMPARE_LESSTHAN: "COMPARE_GREATERTHAN",
  COMPARE_GREATERTHAN: "COMPARE_LESSTHAN",
  COMPARE_LESSTHANOREQUALTO: "COMPARE_GREATERTHANOREQUALTO",
  COMPARE_GREATERTHANOREQUALTO: "COMPARE_LESSTHANOREQUALTO",
};

export function rewriteComparison(node: Comparison, left: Typed, right: Typed): Typed {
  const [a, b] = [align(left, right), align(right, left)];
  const hints = [...comparisonHints(node.type, a, b), ...comparisonHints(MIRRORED[node.type] ?? "", b, a)];
  return { node: { ...node, left: a.node, right: b.node }, kind: "boolean", hints };
}

export function rewriteBetween(node: Between, input: Typed, lower: Typed, upper: Typed): Typed {
  const [low, high] = [align(lower, input), align(upper, input)];
  const value = align(align(input, low), high);
  const hints = [
    ...comparisonHints("COMPARE_GREATERTHANOREQUALTO", value, low),
    ...comparisonHints("COMPARE_LESSTHANOREQUALTO", value, high),
  ];
  return { node: { ...node, input: value.node, lower: low.node, upper: high.node }, kind: "boolean", hints };
}

export function rewriteIn(node: Operator, children: readonly Typed[]): Typed {
  const [first, ...rest] = children;
  const list = rest.map((child) => align(child, first!));
  const rewritten: Operator = { ...node, children: [first!.node, ...list.map((child) => child.node)] };
  const texts = list.map(({ text }) => text);
  const constant = node.type === "COMPARE_IN" && texts.every((text) => text !== undefined);
  return { node: rewritten, kind: "boolean", hints: constant ? tagHints(first!, texts) : [] };
}

function comparisonHints(type: string, column: Typed, constant: Typed): Hint[] {
  if (column.source === undefined) return [];
  if (type === "COMPARE_EQUAL" && constant.text !== undefined) return [...tagHints(column, [constant.text])];
  const { scan, index } = column.source;
  const at = constant.timeNs;
  if (at === undefined || scan.defs[index]?.type !== ColumnType.time) return [];
  switch (type) {
    case "COMPARE_EQUAL":
      return [{ kind: "time", scan, range: { minNs: at, maxNs: at } }];
    case "COMPARE_GREATERTHANOREQUALTO":
      return [{ kind: "time", scan, range: { minNs: at, maxNs: ALL_TIME.maxNs } }];
    case "COMPARE_GREATERTHAN":
      return [{ kind: "time", scan, range: { minNs: at < ALL_TIME.maxNs ? at + 1n : at, maxNs: ALL_TIME.maxNs } }];
    case "COMPARE_LESSTHANOREQUALTO":
      return [{ kind: "time", scan, range: { minNs: ALL_TIME.minNs, maxNs: at } }];
    case "COMPARE_LESSTHAN":
      return [{ kind: "time", scan, range: { minNs: ALL_TIME.minNs, maxNs: at > ALL_TIME.minNs ? at - 1n : at } }];
    default:
      return [];
  }
}
