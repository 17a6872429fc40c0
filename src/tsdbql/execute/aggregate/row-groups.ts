// Computes groups from rows: always possible, and the reference for the cheaper ways.
import type { TimeRange } from "../../../model/query/scan.ts";
import { WHOLE_MEDIAN } from "../../functions/operator.ts";
import { fieldsAmong, type PlannedColumn } from "../../plan/select.ts";
import type { RowSet, RowsRequest } from "../rows/rows.ts";
import { type GroupRequest, type GroupResult, hasOwnTimes, startOf } from "./group-request.ts";
import { basePoints, type ColumnAt } from "./points.ts";

/** Additional restrictions on the wanted rows. */
export type Narrowing = Pick<RowsRequest, "newestOnly" | "also"> & { readonly range?: TimeRange };

export interface FoundRows {
  readonly set: RowSet;
  readonly columnAt: ColumnAt;
}

/** Functions whose result does not depend on the order of rows with equal times. Float sums depend on it in their last bit. */
const ORDERLESS: ReadonlySet<string> = new Set(["count", "min", "max", "spread", "median", WHOLE_MEDIAN, "percentile", "first", "last"]);

/** @throws TsdbError query_limit */
export async function findRows(request: GroupRequest, narrowing: Narrowing): Promise<FoundRows> {
  const { context, plan, name, groupBy, range, chains } = request;
  const keys = chains.flatMap(({ base }) => base.call?.tags ?? []);
  const fields = plan.checked.isTable ? fieldsAmong(keys, plan.sources) : null;
  const tagRefs = keys.flatMap((name): PlannedColumn[] => {
    const type = fields?.get(name);
    return [{ name, kind: "tag" }, ...(type === undefined ? [] : [{ name, kind: type }])];
  });
  const columns = distinctColumns([...chains.map(({ base }) => base.column), ...plan.columns, ...tagRefs]);
  const { descending } = plan.checked;
  const set = await context.rows(plan, name, { columns, groupBy, range, descending, bySeries: isOrderSeen(request), ...narrowing });
  const columnAt: ColumnAt = (wanted, kind) => {
    const index = columns.findIndex((column) => column.name === wanted && column.kind === kind);
    return index < 0 ? null : set.columns[index]!;
  };
  return { set, columnAt };
}

/** The groups of rows that `findRows` returned. */
export async function groupsOfRows({ set, columnAt }: FoundRows, { context, plan, range, chains }: GroupRequest): Promise<GroupResult[]> {
  const { turns } = context;
  const { checked } = plan;
  const bases = {
    bases: chains.map(({ base }) => base),
    interval: checked.interval,
    zone: checked.timeZone,
    startNs: startOf(range),
    endNs: range.maxNs,
    ownTimes: hasOwnTimes(plan),
    descending: checked.descending,
    isTable: checked.isTable,
  };
  const groups: GroupResult[] = [];
  for (const [group, tags] of set.groups.entries()) {
    groups.push({ tags, bases: await turns.run(basePoints(set, group, columnAt, bases)), columnAt });
    const pause = turns.pause();
    if (pause !== null) await pause;
  }
  return groups;
}

/** True if the answer depends on the order of rows with equal times. */
function isOrderSeen({ plan, chains }: GroupRequest): boolean {
  return plan.columns.length > 0 || chains.some(({ base: { call } }) => call === null || !ORDERLESS.has(call.name));
}

/** Without duplicates. */
function distinctColumns(columns: readonly PlannedColumn[]): PlannedColumn[] {
  const known = new Map(columns.map((column) => [`${column.kind} ${column.name}`, column]));
  return [...known.values()];
}
