// Computes calls by windows for a measurement too large for memory: reads rows in stretches of whole windows and keeps only the points.
import type { Steps } from "../../../model/steps.ts";
import type { StatementMemory } from "../memory.ts";
import type { GroupReader, GroupResult, TableRequest } from "./group-request.ts";
import { type BasePoints, pointsBytes } from "./points.ts";
import { findRows, groupsOfRows } from "./row-groups.ts";
import { isLong, joinStretches, windowStretches } from "./window-stretches.ts";

export const STRETCH_GROUPS: GroupReader = {
  suits: ({ plan, chains, source }) => {
    const { rowCountMax, times } = source.table.scan;
    if (plan.checked.interval === null || plan.columns.length > 0 || times === undefined || !isLong(rowCountMax)) return false;
    // an integral continues into the next window
    return chains.every(({ base: { call } }) => call !== null && call.name !== "integral");
  },
  read: async (request) => {
    const { memory } = request.context;
    const parts = new GroupParts(request.chains.length, memory);
    for (const range of stretchesOf(request)) {
      const heldBytes = memory.used;
      const stretch = { ...request, range };
      const groups = await groupsOfRows(await findRows(stretch, {}), stretch);
      memory.giveDownTo(heldBytes);
      for (const group of groups) parts.add(group);
    }
    return request.context.turns.run(parts.joined());
  },
};

function stretchesOf({ plan, range, source }: TableRequest): Iterable<TableRequest["range"]> {
  const { interval, timeZone, descending } = plan.checked;
  const { rowCountMax, times } = source.table.scan;
  const grid = { intervalNs: interval!.durationNs, offsetNs: interval!.offsetNs, zone: timeZone };
  return windowStretches(range, { times: times!, rowCountMax }, grid, descending);
}

/** The points of groups, stretch by stretch. */
class GroupParts {
  private readonly groups = new Map<string, { readonly tags: readonly string[]; readonly parts: (BasePoints | null)[][] }>();

  constructor(
    private readonly chainCount: number,
    private readonly memory: StatementMemory,
  ) {}

  /** @throws TsdbError query_limit */
  add({ tags, bases }: GroupResult): void {
    const key = tags.join("\0");
    let group = this.groups.get(key);
    if (group === undefined) {
      group = { tags, parts: Array.from({ length: this.chainCount }, () => []) };
      this.groups.set(key, group);
    }
    for (const [i, base] of bases.entries()) {
      if (base === null) continue;
      group.parts[i]!.push(base);
      this.memory.take(pointsBytes([base.points]));
    }
  }

  *joined(): Steps<GroupResult[]> {
    const groups: GroupResult[] = [];
    for (const { tags, parts } of this.groups.values()) {
      const bases: (BasePoints | null)[] = [];
      for (const own of parts) bases.push(yield* joinStretches(own));
      groups.push({ tags, bases, columnAt: null });
    }
    return groups;
  }
}
