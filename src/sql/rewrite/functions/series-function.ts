// range and generate_series as scalar functions: lists of numbers, times or dates, limited in length.
import { DAY_NS } from "../../../model/time/time-units.ts";
import type { Typed } from "../../bind/kind.ts";
import type { Interval } from "../../parse/interval.ts";
import { bigintConstant, call, castTo, castToList, type Expression, operator } from "../../parse/tree.ts";
import { callAs, expectArguments, planError, type RuleInput, wide } from "../rule.ts";
import { asTime, intervalConstant, nsOf } from "../time/time-value.ts";

/** `isClosed`: includes the end, as in generate_series. */
export function rewriteSeries(input: RuleInput, isClosed: boolean): Typed {
  expectArguments(input, 1, 3);
  const [first, second, third] = input.args;
  if (third?.kind === "interval") return series(input, third, isClosed);
  const [from, to] = second === undefined ? [bigintConstant(0n), wide(first!)] : [wide(first!), wide(second)];
  const step = third === undefined ? bigintConstant(1n) : wide(third);
  return { node: numbers(input, [from, to, step], isClosed), kind: "list", depth: 1 };
}

function numbers(input: RuleInput, [from, to, step]: readonly [Expression, Expression, Expression], isClosed: boolean): Expression {
  return callAs(
    isClosed ? "__generate_series" : "__range",
    input,
    [from, to, step].map((value) => castTo(value, "BIGINT")),
  );
}

/** Times or dates an interval apart. */
function series(input: RuleInput, { interval }: Typed, isClosed: boolean): Typed {
  const [first, last] = input.args;
  if (interval === undefined) throw planError(`${input.node.function_name} expects its step to be a constant`);
  const areDates = first!.kind === "date" && last!.kind === "date" && interval.ns === 0n;
  const [from, to] = [asTime(first!), asTime(last!)];
  const times =
    interval.months === 0
      ? call("__times", [numbers(input, [nsOf(from), nsOf(to), bigintConstant(lengthNs(interval))], isClosed)])
      : months(input, [from, to], interval, isClosed);
  return { node: areDates ? castToList(times, "DATE") : times, kind: "list", depth: 1 };
}

const MONTH_NS = 28n * DAY_NS;

function lengthNs({ months, days, ns }: Interval): bigint {
  return BigInt(months) * MONTH_NS + BigInt(days) * DAY_NS + ns;
}

/** Uses DuckDB's function with microseconds, because months have no fixed length. */
function months(input: RuleInput, [from, to]: readonly [Typed, Typed], interval: Interval, isClosed: boolean): Expression {
  const ends = [from, to].map(({ node }) => castTo(node, "TIMESTAMP"));
  const count = operator("//", operator("-", nsOf(to), nsOf(from)), bigintConstant(lengthNs(interval)));
  const bounded = call("__if_bounded", [count, ends[1]!]);
  const list = callAs(isClosed ? "generate_series" : "range", input, [ends[0]!, bounded, intervalConstant(interval).node]);
  return castToList(list, "TIMESTAMP_NS");
}
