// Computes groups of last() from the newest row of each series alone.
import { planWhere } from "../../plan/where.ts";
import type { AnyCells } from "../rows/columns.ts";
import type { GroupReader, GroupRequest } from "./group-request.ts";
import { type FoundRows, findRows, groupsOfRows } from "./row-groups.ts";

export const NEWEST_GROUPS: GroupReader = {
  suits: ({ plan, chains, source }) => {
    if (plan.checked.interval !== null || !chains.every(({ base }) => base.call?.name === "last")) return false;
    const { rows, fields } = planWhere(plan.checked, source.schema);
    return rows.length === 0 && fields.length === 0;
  },
  read: async (request) => {
    const found = await findRows(request, { newestOnly: true });
    return hasAllValues(found, request) ? groupsOfRows(found, request) : null;
  },
};

/** True if every row has a value in every requested column: otherwise an older row may have the last value. */
function hasAllValues({ set, columnAt }: FoundRows, { chains }: GroupRequest): boolean {
  const isFull = (cells: AnyCells | null) => cells !== null && cells.type !== "tag" && cells.validity === null;
  return set.times.length === 0 || chains.every(({ base: { column } }) => isFull(columnAt(column.name, column.kind)));
}
