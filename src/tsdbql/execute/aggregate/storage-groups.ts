// Groups computed by the scan.
import type { Points } from "../../functions/points.ts";
import { planWhere } from "../../plan/where.ts";
import { type GroupReader, hasOwnTimes, startOf, type TableRequest } from "./group-request.ts";
import { pointsBytes } from "./points.ts";
import { type CallGroup, type CallRequest, kernelCalls } from "./storage-calls.ts";

type KernelCalls = Pick<CallRequest, "calls" | "ownTimes" | "timesOnly" | "groupsMax"> & Partial<Pick<CallRequest, "groupBy">>;

export const STORAGE_GROUPS: GroupReader = {
  suits: ({ plan, chains }) => plan.columns.length === 0 && chains.every(({ base }) => base.call !== null),
  read: async (request) => {
    const calls = request.chains.flatMap(({ base }) => base.call ?? []);
    const groups = await kernelGroups(request, { calls, ownTimes: hasOwnTimes(request.plan) });
    if (groups === null) return null;
    request.context.memory.take(pointsBytes(groups.flatMap((group) => group.points)));
    const withoutRows = (points: Points | null) => (points === null ? null : { points, rows: null });
    return groups.map(({ tags, points }) => ({ tags, bases: points.map(withoutRows), columnAt: null }));
  },
};

/** The calls' results by the tags of the statement, unless others are given. Returns null if the scan cannot compute them. */
export async function kernelGroups(
  { context, plan, groupBy: ownTags, range, source }: TableRequest,
  { calls, groupBy = ownTags, ...wanted }: KernelCalls,
): Promise<readonly CallGroup[] | null> {
  const { turns } = context;
  const { checked } = plan;
  const { table, schema } = source;
  const where = planWhere(checked, schema);
  if (where.rows.length > 0) return null;
  const predicates = await table.predicates(where, turns);
  if (predicates.leftTags.length > 0) return null;
  if (predicates.isEmpty || range.minNs > range.maxNs) return [];
  const { interval, timeZone: zone, descending } = checked;
  const request = { ...wanted, calls, groupBy, range, interval, zone, startNs: startOf(range), descending };
  return kernelCalls(table, request, predicates, context);
}
