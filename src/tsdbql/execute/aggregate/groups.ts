// The groups of a SELECT with calls: selects how they are read, once for all calls that read the same range.
import { inRange, StepCounter, type Steps, sortInSteps } from "../../../model/steps.ts";
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
export async function readGroups({ chains, ...request }: Omit<GroupRequest, "range">): Promise<readonly GroupResult[]> {
  const parts: RangeGroups[] = [];
  for (const together of Map.groupBy(chains, ({ range }) => `${range.minNs} ${range.maxNs}`).values()) {
    const groups = await readRange({ ...request, chains: together, range: together[0]!.range });
    parts.push({ groups, places: together.map((chain) => chains.indexOf(chain)) });
  }
  const { turns } = request.context;
  const [only, ...others] = parts;
  const groups = others.length === 0 ? only!.groups : await turns.run(joined(parts, chains.length));
  return turns.run(inOrder(groups));
}

/** The groups of the chains that read one range. */
interface RangeGroups {
  readonly groups: readonly GroupResult[];
  /** Of each chain among all. */
  readonly places: readonly number[];
}

function* joined(parts: readonly RangeGroups[], chainCount: number): Steps<GroupResult[]> {
  const found = new Map<string, GroupResult & { readonly bases: (BasePoints | null)[] }>();
  const counter = new StepCounter();
  for (const { groups, places } of parts) {
    for (const { tags, bases, columnAt } of groups) {
      const key = tags.join("\0");
      let group = found.get(key);
      if (group === undefined) {
        group = { tags, bases: new Array<BasePoints | null>(chainCount).fill(null), columnAt };
        found.set(key, group);
      }
      for (const [i, place] of places.entries()) group.bases[place] = bases[i]!;
      if (counter.isDue(GROUP_COST)) yield;
    }
  }
  return [...found.values()];
}

/** Approximate cost of a group, in units of rows. */
const GROUP_COST = 8;

function* inOrder(groups: readonly GroupResult[]): Steps<readonly GroupResult[]> {
  let isOrdered = true;
  yield* inRange(1, groups.length, (from, to) => {
    for (let i = from; i < to && isOrdered; i++) isOrdered = compareTags(groups[i - 1]!.tags, groups[i]!.tags) <= 0;
  });
  if (isOrdered) return groups;
  const places = Uint32Array.from(groups.keys());
  yield* sortInSteps(places, (a, b) => compareTags(groups[a]!.tags, groups[b]!.tags));
  return Array.from(places, (place) => groups[place]!);
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
