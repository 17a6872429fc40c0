// The groups of a SELECT with calls: selects how they are read, once for all calls that read the same range.
import { compareTags } from "../rows/order.ts";
import { isGroupedByField, sourcesOf } from "../select-context.ts";
import type { GroupReader, GroupRequest, GroupResult, TableRequest } from "./group-request.ts";
import { narrowingOf } from "./narrowing.ts";
import { NEWEST_GROUPS } from "./newest-groups.ts";
import type { BasePoints } from "./points.ts";
import { findRows, groupsOfRows } from "./row-groups.ts";
import { STORAGE_GROUPS } from "./storage-groups.ts";
import { STRETCH_GROUPS } from "./stretch-groups.ts";

/** For measurements, the cheapest first. If none applies, groups are computed from rows. */
const READERS: readonly GroupReader[] = [NEWEST_GROUPS, STORAGE_GROUPS, STRETCH_GROUPS];

/** All groups of all chains, ordered by tags; `bases` are in the order of `chains`. */
export async function readGroups({ chains, ...request }: Omit<GroupRequest, "range">): Promise<GroupResult[]> {
  const found = new Map<string, GroupResult & { readonly bases: (BasePoints | null)[] }>();
  for (const together of Map.groupBy(chains, ({ range }) => `${range.minNs} ${range.maxNs}`).values()) {
    for (const { tags, bases, columnAt } of await readRange({ ...request, chains: together, range: together[0]!.range })) {
      const key = tags.join("\0");
      let group = found.get(key);
      if (group === undefined) {
        group = { tags, bases: chains.map(() => null), columnAt };
        found.set(key, group);
      }
      for (const [i, chain] of together.entries()) group.bases[chains.indexOf(chain)] = bases[i]!;
    }
  }
  return [...found.values()].sort((a, b) => compareTags(a.tags, b.tags));
}

async function readRange(request: GroupRequest): Promise<readonly GroupResult[]> {
  const [source, ...others] = sourcesOf(request.plan, request.name);
  const isOfScan = source?.kind === "table" && others.length === 0 && !isGroupedByField(request.plan, source, request.groupBy);
  if (!isOfScan) return groupsOfRows(await findRows(request, {}), request);
  const ofTable: TableRequest = { ...request, source };
  for (const reader of READERS) {
    const groups = reader.suits(ofTable) ? await reader.read(ofTable) : null;
    if (groups !== null) return groups;
  }
  return groupsOfRows(await findRows(request, await narrowingOf(ofTable)), request);
}
