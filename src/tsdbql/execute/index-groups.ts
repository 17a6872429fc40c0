// SLIMIT and SOFFSET over measurements: they count the groups of all series that the condition's tags choose, as in 1.x, where the index
// is asked and not the rows. A group without values in the range takes a place, and shows nothing.

import { ALL_TIME } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { inSteps, type Steps, sortInSteps } from "../../model/steps.ts";
import { chooseSeries, codesOf, SeriesTagUnion, textsOf } from "../../scan/series-tags.ts";
import type { TableSource } from "../plan/select.ts";
import type { SeriesCondition } from "../plan/show-condition.ts";
import { planWhere, type Where } from "../plan/where.ts";
import { shownGroups } from "./rows/group-order.ts";
import { compareTags } from "./rows/order.ts";
import type { MeasurementTable } from "./rows/table.ts";
import { isGroupedByField, type RunPlan, type SelectContext, sourcesOf } from "./select-context.ts";

/** Groups by their tags. */
export class WantedGroups {
  private readonly keys: ReadonlySet<string>;

  constructor(groups: readonly (readonly string[])[]) {
    this.keys = new Set(groups.map(keyOf));
  }

  has(tags: readonly string[]): boolean {
    return this.keys.has(keyOf(tags));
  }
}

const keyOf = (tags: readonly string[]) => tags.join("\0");

/** Those within SLIMIT and SOFFSET; null: all, or groups that only the rows tell, of subqueries and of fields. */
export async function wantedGroups(
  { turns }: SelectContext,
  plan: RunPlan,
  name: string,
  groupBy: readonly string[],
): Promise<WantedGroups | null> {
  const { checked } = plan;
  if (checked.slimit === 0 && checked.soffset === 0) return null;
  const found = new Map<string, readonly string[]>();
  for (const source of sourcesOf(plan, name)) {
    if (source.kind !== "table" || isGroupedByField(plan, source, groupBy)) return null;
    for (const tags of await groupsOf(source, planWhere(checked, source.schema), groupBy, turns)) found.set(keyOf(tags), tags);
  }
  const groups = [...found.values()];
  const places = checked.isTable ? groups : groups.map((tags) => [indexKey(groupBy, tags)]);
  const order = Uint32Array.from(groups.keys());
  await turns.run(sortInSteps(order, (a, b) => compareTags(places[a]!, places[b]!)));
  const ordered = Array.from(order, (place) => groups[place]!);
  return new WantedGroups(await turns.run(shownGroups(ordered, (tags) => tags, checked)));
}

/** What the index of 1.x orders groups by: the names of the tags that they have, then the values. */
function indexKey(groupBy: readonly string[], tags: readonly string[]): string {
  return [...groupBy.filter((_, i) => tags[i] !== ""), ...tags.filter((value) => value !== "")].join("|");
}

async function groupsOf(
  { table }: TableSource<MeasurementTable>,
  where: Where,
  groupBy: readonly string[],
  turns: SelectContext["turns"],
): Promise<readonly (readonly string[])[]> {
  const { kernel, scan } = table;
  const columns = groupBy.map((label) => table.column(label)).map((column) => (column?.type === ColumnType.tag ? column : null));
  const union = new SeriesTagUnion(
    kernel,
    columns.filter((column) => column !== null),
  );
  const condition = conditionOf(where);
  let hasSeries = false;
  try {
    for (const set of scan.visibleSeries(ALL_TIME)) {
      const chosen = await turns.run(chooseSeries(kernel, set, scan.columns, condition));
      if (chosen !== "none") {
        hasSeries = true;
        union.add(set.dictionary, chosen.marks);
      }
      const pause = turns.pause();
      if (pause !== null) await pause;
    }
    return hasSeries ? await turns.run(tagsOf(union, columns, table)) : [];
  } finally {
    union.release();
  }
}

function* tagsOf(union: SeriesTagUnion, columns: readonly (ColumnDef | null)[], { kernel }: MeasurementTable): Steps<string[][]> {
  const { view } = union;
  const cells: (readonly [Uint32Array, readonly string[]] | null)[] = [];
  for (const column of columns) {
    const tag = view.tags.find(({ columnId }) => columnId === column?.id);
    cells.push(tag === undefined ? null : [codesOf(kernel, view, tag).slice(), yield* textsOf(kernel, tag)]);
  }
  const groups: string[][] = [];
  yield* inSteps(Math.max(1, view.seriesCount), (from, to) => {
    for (let series = from; series < to; series++) groups.push(cells.map((cell) => (cell === null ? "" : cell[1][cell[0][series]!]!)));
  });
  return groups;
}

function conditionOf({ isNever, tags }: Where): SeriesCondition {
  let all: SeriesCondition = { kind: isNever ? "none" : "all" };
  for (const test of tags) {
    const of = { text: null, isNegated: false, accepts: (value: string) => test.accepts(value) };
    const own: SeriesCondition = { kind: "tag", tag: test.tag, of };
    all = all.kind === "all" ? own : { kind: "and", left: all, right: own };
  }
  return all;
}
