// Restricts the rows that are read for a selector, as far as the scan can tell before: first and last by their times, extremes and the
// greatest or least n by a bound of the value.
import { StepCounter, type Steps } from "../../../model/steps.ts";
import { SORT_COST } from "../../functions/aggregates.ts";
import { integerOf } from "../../functions/arguments.ts";
import type { Integers } from "../../functions/int64.ts";
import type { PlannedCall } from "../../plan/select.ts";
import { hasOwnTimes, type TableRequest } from "./group-request.ts";
import type { Narrowing } from "./row-groups.ts";
import type { CallGroup } from "./storage-calls.ts";
import { kernelGroups } from "./storage-groups.ts";

/** What bounds the values that a selector can select. */
interface Ranking {
  /** Which values are the best. */
  readonly extreme: "min" | "max";
  /** Tags by whose groups the scan finds the best values. */
  readonly groupBy: readonly string[];
  /** Number of selected values of each group and window. */
  readonly count: number;
  /** True if rows are selected only if they are the best of their group by `groupBy`. */
  readonly isDistinct: boolean;
}

type Value = number | bigint;

/** Approximate cost of a value, in units of rows. */
const VALUE_COST = 8;

/** With more groups and windows, their best values cost more than reading the rows. */
const BESTS_MAX = 50_000;

const BOUNDED: ReadonlySet<string> = new Set(["float", "integer", "unsigned"]);

/** Restrictions that all rows selected by a single selector satisfy; {} if nothing is known. */
export async function narrowingOf(request: TableRequest): Promise<Narrowing> {
  const [{ base }, ...others] = request.chains as [TableRequest["chains"][number]];
  const { call } = base;
  const column = request.source.table.column(base.column.name);
  if (call === null || column === undefined || others.length > 0) return {};
  if (call.name === "first" || call.name === "last") return timesOf(request, call);
  const ranking = BOUNDED.has(call.type!) ? rankingOf(request, call) : null;
  const value = ranking === null ? null : await boundOf(request, call, ranking);
  return value === null ? {} : { also: [{ columnId: column.id, operator: ranking!.extreme === "max" ? ">=" : "<=", value }] };
}

async function timesOf(request: TableRequest, call: PlannedCall): Promise<Narrowing> {
  if (!hasOwnTimes(request.plan)) return {};
  const groups = await kernelGroups(request, { calls: [call], ownTimes: true, timesOnly: true });
  const times = (groups ?? []).flatMap(({ points: [points] }) => points?.times[0] ?? []);
  if (times.length === 0) return {};
  return { range: { minNs: times.reduce((a, b) => (b < a ? b : a)), maxNs: times.reduce((a, b) => (b > a ? b : a)) } };
}

/** Returns null for other functions. */
function rankingOf({ plan, groupBy, source: { table } }: TableRequest, { name, args, tags }: PlannedCall): Ranking | null {
  if (name === "min" || name === "max") return { extreme: name, groupBy, count: 1, isDistinct: true };
  if (name !== "top" && name !== "bottom") return null;
  const known = table.tagColumns.map((column) => column.name);
  const isDistinct = tags.length > 0;
  // in v3 fields count like tags
  if (plan.checked.isTable && !tags.every((tag) => known.includes(tag))) return null;
  const finer = isDistinct ? tags.filter((tag) => known.includes(tag)) : known;
  const extreme = name === "top" ? "max" : "min";
  return { extreme, groupBy: [...new Set([...groupBy, ...finer])].sort(), count: integerOf(args.at(-1)!), isDistinct };
}

/** The worst value that any group and window can select; null if it is not known. */
async function boundOf(request: TableRequest, call: PlannedCall, ranking: Ranking): Promise<Value | null> {
  const { extreme, groupBy, count } = ranking;
  if (count === 0) return null;
  const calls = [{ ...call, name: extreme, args: [], tags: [] }];
  const fine = await kernelGroups(request, { calls, groupBy, ownTimes: false, groupsMax: BESTS_MAX });
  if (fine === null) return null;
  return request.context.turns.run(worstOf(request, ranking, fine));
}

function* worstOf(
  request: TableRequest,
  { extreme, groupBy, count, isDistinct }: Ranking,
  fine: readonly CallGroup[],
): Steps<Value | null> {
  const sign = extreme === "max" ? 1 : -1;
  const counter = new StepCounter();
  let bound: Value | null = null;
  for (const values of (yield* bestValues(request, groupBy, fine)).values()) {
    if (values.length < count && !isDistinct) return null;
    values.sort((a, b) => (a === b ? 0 : a < b ? sign : -sign));
    if (counter.isDue(values.length * SORT_COST)) yield;
    const last: Value = values[Math.min(count, values.length) - 1]!;
    if (bound === null || (sign === 1 ? last < bound : last > bound)) bound = last;
  }
  return bound;
}

/** By the statement's tags and windows: the best value of each of the finer groups. */
function* bestValues(request: TableRequest, groupBy: readonly string[], fine: readonly CallGroup[]): Steps<Map<string, Value[]>> {
  const places = request.groupBy.map((tag) => groupBy.indexOf(tag));
  const found = new Map<string, Value[]>();
  const counter = new StepCounter();
  for (const { tags, points } of fine) {
    const [own] = points;
    if (own === null || own === undefined) continue;
    const group = places.map((place) => tags[place]!).join("\0");
    for (const [i, time] of own.times.entries()) {
      const key = `${group}\0${time}`;
      const value = (own.values as Float64Array | Integers)[i]!;
      const values = found.get(key);
      if (values === undefined) found.set(key, [value]);
      else values.push(value);
      if (counter.isDue(VALUE_COST)) yield;
    }
  }
  return found;
}
