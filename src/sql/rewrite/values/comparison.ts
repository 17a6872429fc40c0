// Comparisons with times and durations, and their hints for scans: conditions of the form column-operator-constant.

import type { Hint, ScanUse, Typed } from "../../bind/kind.ts";
import { deferredTime } from "../../bind/plan-clock.ts";
import type { Scope } from "../../bind/scope.ts";
import { markOf, NULL_TYPE, typeName, withMarkOf } from "../../bind/type-notes.ts";
import { intervalNs, isFine } from "../../parse/interval.ts";
import { clampI64 } from "../../parse/time-text.ts";
import type { Between, Comparison, LiteralList, Operator } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, integerConstant, stringConstant } from "../../parse/tree.ts";
import { comparisonSign } from "../../print/print-expression.ts";
import { betweenHints, comparisonHint, textHint } from "../pushdown/conditions.ts";
import { planError } from "../rule.ts";
import { comparable } from "../time/common-zone.ts";
import { asTime, timeConstant } from "../time/time-value.ts";
import { textOf } from "./cast.ts";
import { typedConstant } from "./constant.ts";
import { dependsOnNan, negative } from "./least-nan.ts";

/** Converts two operands to one kind where the dialect defines it; otherwise DuckDB decides. */
function align(value: Typed, other: Typed): Typed {
  const isTime = other.kind === "time" || other.kind === "coarse";
  if (isTime && value.text !== undefined) return asTime(value, other.zone);
  if (isTime && value.kind === "coarse") return asTime(value);
  if (isTime && value.kind === "string") return asTime(value);
  if (value.kind === "interval" && (other.kind === "duration" || areFine(value, other))) return asDuration(value);
  if (other.kind === "binary" && value.text !== undefined) return { node: call("encode", [value.node]), kind: "binary" };
  return value;
}

/** An open parameter compared with an interval is one. */
function beside(value: Typed, other: Typed): Typed {
  return value.difference !== undefined && (other.kind === "interval" || other.kind === "duration") ? value.difference : value;
}

const isNumber = ({ kind }: Typed): boolean => kind === "integer" || kind === "float";

/** Numbers beside a text are compared as texts, for not every text is a number. */
function asTexts(values: readonly Typed[]): readonly Typed[] {
  if (!values.some(({ kind }) => kind === "string") || !values.some(isNumber)) return values;
  return values.map((value) => (isNumber(value) ? asText(value) : value));
}

function asText(value: Typed): Typed {
  if (typeof value.number !== "bigint") return { node: castTo(textOf(value), "VARCHAR"), kind: "string" };
  const text = String(value.number);
  return { node: stringConstant(text), kind: "string", text };
}

/** For equality. The digits of an integer equal no other's, so they are that integer to a scan. */
function asEqual(values: readonly Typed[]): readonly Typed[] {
  if (!values.some(({ kind }) => kind === "integer")) return asTexts(values);
  const wholes = values.map(wholeOf);
  return wholes.every(({ kind }) => kind !== "string" && kind !== "float") ? wholes : asTexts(values);
}

function wholeOf(value: Typed): Typed {
  if (value.text === undefined || !/^(?:0|-?[1-9]\d{0,17})$/.test(value.text)) return value;
  return typedConstant(integerConstant(BigInt(value.text)));
}

/** True for constant intervals whose nanoseconds DuckDB would truncate. */
function areFine({ interval: a }: Typed, { interval: b }: Typed): boolean {
  return a !== undefined && b !== undefined && a.months === 0 && b.months === 0 && (isFine(a) || isFine(b));
}

/** An interval as nanoseconds. */
export function asDuration(value: Typed): Typed {
  if (value.kind !== "interval") return value;
  if (value.interval !== undefined) return { node: bigintConstant(intervalNs(value.interval)), kind: "duration" };
  return { node: call("__interval_ns", [value.node]), kind: "duration" };
}

/** A time outside of i64 as the nearest one inside, which has the same order. */
function inRange(value: Typed): Typed {
  // one following from now() is inside
  if (deferredTime(value) !== undefined || value.timeNs === undefined) return value;
  const timeNs = clampI64(value.timeNs);
  return value.kind === "time" && timeNs === value.timeNs ? value : { ...value, node: timeConstant(timeNs).node };
}

/** True for a condition that the vendor's optimizer makes one of its operands, or the opposite: `b = true`, `b <> true`. */
function isSide(type: string, side: Typed, other: Typed): boolean {
  if (side.kind !== "boolean" || markOf(side) === null) return false;
  return (type === "COMPARE_EQUAL" || type === "COMPARE_NOTEQUAL") && other.boolean !== undefined;
}

/** Rewrites a comparison, with its hint for the scan. */
export function rewriteComparison(node: Comparison, left: Typed, right: Typed, scope: Scope): Typed {
  const same = isSide(node.type, left, right) ? left : isSide(node.type, right, left) ? right : undefined;
  return withMarkOf(compare(node, left, right, scope), same);
}

/** Truth values are compared with each other alone. @throws TsdbError bad_query */
function expectComparable(type: string, left: Typed, right: Typed): void {
  if (left.kind !== "boolean" && right.kind !== "boolean") return;
  const names = unlikeBoolean(left, right);
  if (names === null) return;
  const sign = type === "COMPARE_NOTEQUAL" ? "!=" : comparisonSign(type);
  throw planError(`Cannot infer common argument type for comparison operation ${names[0]} ${sign} ${names[1]}`);
}

/** The types of two values, if one of them is no truth value; null too if it is not known to be none. */
function unlikeBoolean(left: Typed, right: Typed): readonly [string, string] | null {
  const [a, b] = [typeName(left), typeName(right)];
  if (a === null || b === null) return null;
  return [a, b].every((name) => name === "Boolean" || name === NULL_TYPE) ? null : [a, b];
}

/** A number beside constants of both its types: the vendor compares it without the cast, which not all of its values have. */
function uncast(value: Typed, others: readonly Typed[]): Typed {
  const of = value.crossing;
  if (of === undefined) return value;
  return others.every(({ number }) => typeof number === "bigint" && number >= 0n && number <= of.most) ? of.value : value;
}

function compare(node: Comparison, left: Typed, right: Typed, scope: Scope): Typed {
  const [first, second] = [uncast(left, [right]), uncast(right, [left])];
  expectComparable(node.type, first, second);
  const open = comparable([beside(first, second), beside(second, first)], scope);
  const [own, other] = /LESS|GREATER/.test(node.type) ? asTexts(open) : asEqual(open);
  const [a, b] = [inRange(align(own!, other!)), inRange(align(other!, own!))];
  if (/LESS|GREATER/.test(node.type) && dependsOnNan([a, b])) {
    return condition({ ...node, left: negative(b.node), right: negative(a.node) }, [null]);
  }
  if (a.kind === "interval" && b.kind === "interval") {
    return condition({ ...node, left: call("__interval_order", [a.node]), right: call("__interval_order", [b.node]) }, [null]);
  }
  const rewritten: Comparison = { ...node, left: a.node, right: b.node };
  // `1 = 1`, which tools insert before appending conditions
  if (node.type === "COMPARE_EQUAL" && a.number !== undefined && a.number === b.number) {
    return { node: rewritten, kind: "boolean", hints: [], isExact: true };
  }
  const numbers = node.type === "COMPARE_EQUAL" ? numbersOne(a, b) : undefined;
  if (numbers !== undefined) return { node: rewritten, kind: "boolean", hints: [{ kind: "newest", scan: numbers }], isExact: false };
  return condition(rewritten, [comparisonHint(node.type, a, b)]);
}

/** `number = 1` for a row number. */
function numbersOne(a: Typed, b: Typed): ScanUse | undefined {
  return b.number === 1n ? a.numbers : a.number === 1n ? b.numbers : undefined;
}

/** Rewrites BETWEEN, with its hint for the scan. `operands`: the value and its bounds. */
export function rewriteBetween(node: Between, operands: readonly Typed[], scope: Scope): Typed {
  const [tested, ...bounds] = operands;
  const [subject, first, last] = asTexts(comparable([uncast(tested!, bounds), ...bounds], scope));
  const [low, high] = [inRange(align(first!, subject!)), inRange(align(last!, subject!))];
  const value = inRange(align(align(subject!, low), high));
  if (dependsOnNan([value, low, high])) {
    return condition({ ...node, input: negative(value.node), lower: negative(high.node), upper: negative(low.node) }, [null]);
  }
  return condition({ ...node, input: value.node, lower: low.node, upper: high.node }, betweenHints(value, low, high));
}

/** @throws TsdbError bad_query for a truth value beside others */
function expectListed(subject: Typed, item: Typed): void {
  if (subject.kind !== "boolean" && item.kind !== "boolean") return;
  const names = unlikeBoolean(subject, item);
  if (names !== null) throw planError(`Can not find compatible types to compare ${names[0]} with [${names[1]}]`);
}

/** Rewrites IN and NOT IN over a list, with its hint for the scan. */
export function rewriteIn(node: Operator, children: readonly Typed[], scope: Scope): Typed {
  for (const child of children.slice(1)) expectListed(children[0]!, child);
  const [tested, ...listed] = children;
  const [first, ...rest] = asEqual(comparable([uncast(tested!, listed), ...listed], scope));
  const list = rest.map((child) => inRange(align(child, first!)));
  const subject = list.some(({ kind }) => kind === "time") ? align(first!, list.find(({ kind }) => kind === "time")!) : first!;
  const rewritten: Operator = { ...node, children: [subject.node, ...list.map((child) => child.node)] };
  if (node.type !== "COMPARE_IN") return { node: rewritten, kind: "boolean" };
  const texts: string[] = [];
  for (const { text } of list) if (text !== undefined) texts.push(text);
  if (texts.length === list.length) return condition(rewritten, [textHint(first!, texts)]);
  return condition(rewritten, [list.length === 1 ? comparisonHint("COMPARE_EQUAL", first!, list[0]!) : null]);
}

/** The same for literals only, which stay a single list if the column's type accepts them unchanged. */
export function rewriteInList(node: Operator, subject: Typed, literals: LiteralList, scope: Scope): Typed {
  const { kind, values } = literals;
  const isAsItIs = kind === "s" ? subject.kind === "string" : subject.kind === "integer" || subject.kind === "float";
  if (subject.source === undefined || !isAsItIs) {
    const constants = values.map((value): Typed => typedConstant({ class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value }));
    return rewriteIn(node, [subject, ...constants], scope);
  }
  const rewritten: Operator = { ...node, children: [subject.node, literals] };
  if (node.type !== "COMPARE_IN") return { node: rewritten, kind: "boolean" };
  const isText = kind === "s" && textHint(subject, []) !== null;
  return condition(rewritten, [
    isText
      ? textHint(
          subject,
          values.map(({ value }) => String(value)),
        )
      : null,
  ]);
}

/** A condition with the given hints; exact if none is missing. */
export function condition(node: Typed["node"], hints: readonly (Hint | null)[]): Typed {
  const known = hints.filter((hint) => hint !== null);
  return { node, kind: "boolean", hints: known, isExact: known.length === hints.length };
}
