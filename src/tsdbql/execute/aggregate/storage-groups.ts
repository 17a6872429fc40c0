// Groups computed by the scan; and restrictions on the rows that a single selector selects, as far as the scan can determine them.
import type { Integers } from "../../functions/int64.ts";
import type { Points } from "../../functions/points.ts";
import type { PlannedCall } from "../../plan/select.ts";
import { planWhere } from "../../plan/where.ts";
import { type GroupReader, hasOwnTimes, startOf, type TableRequest } from "./group-request.ts";
import { pointsBytes } from "./points.ts";
import type { Narrowing } from "./row-groups.ts";
import { type CallGroup, kernelCalls } from "./storage-calls.ts";

export const STORAGE_GROUPS: GroupReader = {
  suits: ({ plan, chains }) => plan.columns.length === 0 && chains.every(({ base }) => base.call !== null),
  read: async (request) => {
    const groups = await kernelGroups(request, { ownTimes: hasOwnTimes(request.plan), timesOnly: false });
    if (groups === null) return null;
    request.context.memory.take(pointsBytes(groups.flatMap((group) => group.points)));
    const withoutRows = (points: Points | null) => (points === null ? null : { points, rows: null });
    return groups.map(({ tags, points }) => ({ tags, bases: points.map(withoutRows), columnAt: null }));
  },
};

/** Selectors whose row the scan can restrict by a time, or by a bound of its value. */
const NARROWED: ReadonlySet<string> = new Set(["min", "max", "first", "last"]);

/** Restrictions that all rows selected by a single selector satisfy; {} if nothing is known. */
export async function narrowingOf(request: TableRequest): Promise<Narrowing> {
  const { plan, chains, source } = request;
  const [{ base }, ...others] = chains as [(typeof chains)[number]];
  const { call } = base;
  if (call === null || others.length > 0 || !hasOwnTimes(plan) || !NARROWED.has(call.name)) return {};
  const isOfTime = call.name === "first" || call.name === "last";
  const groups = await kernelGroups(request, { ownTimes: isOfTime, timesOnly: isOfTime });
  const column = source.table.column(base.column.name);
  if (groups === null || column === undefined) return {};
  const points = groups.flatMap((group) => group.points[0] ?? []);
  if (points.length === 0) return {};
  if (isOfTime) {
    const times = points.map((each) => each.times[0]!);
    return { range: { minNs: times.reduce((a, b) => (b < a ? b : a)), maxNs: times.reduce((a, b) => (b > a ? b : a)) } };
  }
  return boundOf(call, points, column.id);
}

/** Selected values are at most the greatest of all groups' minima, or at least the least of their maxima. */
function boundOf({ name, type }: PlannedCall, points: readonly Points[], columnId: number): Narrowing {
  if (!["float", "integer", "unsigned"].includes(type!)) return {};
  const isMax = name === "max";
  const bound = points
    .map((each) => (each.values as Float64Array | Integers)[0]! as number | bigint)
    .reduce((a, b) => (b < a === isMax ? b : a));
  return { also: [{ columnId, operator: isMax ? ">=" : "<=", value: bound }] };
}

/** Returns null if the scan cannot compute them. */
async function kernelGroups(
  { context, plan, groupBy, range, chains, source }: TableRequest,
  { ownTimes, timesOnly }: { readonly ownTimes: boolean; readonly timesOnly: boolean },
): Promise<readonly CallGroup[] | null> {
  const { turns } = context;
  const { checked } = plan;
  const { table, schema } = source;
  const where = planWhere(checked, schema);
  if (where.rows.length > 0) return null;
  const predicates = await table.predicates(where, turns);
  if (predicates.leftTags.length > 0) return null;
  if (predicates.isEmpty || range.minNs > range.maxNs) return [];
  return kernelCalls(
    table,
    {
      ...{ groupBy, range, ownTimes, timesOnly },
      calls: chains.flatMap(({ base }) => base.call ?? []),
      interval: checked.interval,
      zone: checked.timeZone,
      startNs: startOf(range),
      descending: checked.descending,
    },
    predicates,
    context,
  );
}
