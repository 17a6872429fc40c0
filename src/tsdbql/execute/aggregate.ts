// SELECT with calls: each call's points by group, from the storage or from rows; windows filled, functions of points in order applied,
// then all of them joined by time into rows.

import type { TimeRange } from "../../model/query/scan.ts";
import type { Steps } from "../../model/steps.ts";
import { cellsOf } from "../functions/columns.ts";
import { fillWindows } from "../functions/fill.ts";
import type { Points, WindowPoints } from "../functions/points.ts";
import { REDUCERS } from "../functions/reducers.ts";
import { haveEqualTimes, joinByTime } from "../functions/rows.ts";
import { TRANSFORMS } from "../functions/transforms.ts";
import { windowAt, windowStarts } from "../functions/windows.ts";
import type { Fill } from "../parse/ast.ts";
import type { PlannedCall, PlannedColumn, TableSource } from "../plan/select.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "../plan/time-range.ts";
import { planWhere } from "../plan/where.ts";
import { type CallResult, limit, spread, upTo, withoutNulls } from "./call-result.ts";
import { computeOutputs } from "./outputs.ts";
import { type BaseCall, type BasePoints, basePoints, type ColumnAt } from "./points.ts";
import { emptyCells, takeCells } from "./rows/cells.ts";
import type { AnyCells } from "./rows/columns.ts";
import { fillCells } from "./rows/fill.ts";
import { compareTags } from "./rows/order.ts";
import type { RowSet, RowsRequest } from "./rows/rows.ts";
import type { MeasurementTable } from "./rows/table.ts";
import { isLong, joinStretches, pointsBytes, windowStretches } from "./rows/window-slices.ts";
import { distinctColumns, type RowBlock, type RunPlan, type SelectRun, type SelectScope } from "./select.ts";
import { type CallGroup, type CallRequest, kernelCalls } from "./storage-calls.ts";

/** One group's points, one a call, and the columns beside a selector. */
interface GroupResult {
  readonly tags: readonly string[];
  readonly bases: (BasePoints | null)[];
  /** Finds the columns that are shown beside a single selector. */
  readonly columnAt: ColumnAt | null;
}

interface CallRoad {
  readonly call: PlannedCall;
  readonly base: BaseCall;
  /** From the innermost on. */
  readonly transforms: readonly PlannedCall[];
  /** What is read for it: windows before the range are for the functions that look back. */
  readonly range: TimeRange;
}

export class AggregateRun {
  private readonly roads: readonly CallRoad[];
  /** Beginnings of windows are mostly the same for all groups. */
  private starts: { readonly minNs: bigint; readonly maxNs: bigint; readonly startsNs: BigInt64Array } | null = null;

  constructor(
    private readonly run: SelectRun,
    private readonly plan: RunPlan,
    private readonly name: string,
    private readonly scope: SelectScope,
  ) {
    // tags of measurements are no points, but what an inner statement shows is
    const isOverTables = plan.sources.every(({ kind }) => kind === "table");
    const isThere = (call: PlannedCall) => {
      const { kind } = columnOf(call);
      return kind !== null && !(isOverTables && kind === "tag");
    };
    this.roads = plan.calls.filter(isThere).map((call) => this.road(call));
  }

  async *blocks(): AsyncGenerator<RowBlock> {
    if (this.roads.length === 0) return;
    const { checked } = this.plan;
    const groups = sliceGroups(await this.groups(), checked);
    for (const group of checked.descending ? groups.toReversed() : groups) {
      const block = await this.run.turns.run(this.block(group));
      if (block !== null) yield block;
      const pause = this.run.turns.pause();
      if (pause !== null) await pause;
    }
  }

  private road(call: PlannedCall): CallRoad {
    const transforms: PlannedCall[] = [];
    let inner = call;
    while (inner.isTransform && "args" in inner.of) {
      transforms.unshift(inner);
      inner = inner.of;
    }
    const base: BaseCall = inner.isTransform ? { call: null, column: inner.of as PlannedColumn } : { call: inner, column: columnOf(inner) };
    if (inner.isTransform) transforms.unshift(inner);
    return { call, base, transforms, range: this.extended(transforms) };
  }

  private extended(transforms: readonly PlannedCall[]): TimeRange {
    const { range } = this.scope;
    const { interval, descending } = this.plan.checked;
    const windows = transforms.reduce((sum, { name, args }) => sum + TRANSFORMS.get(name)!.windowsBefore(args), 0);
    if (interval === null || windows === 0 || !Number.isFinite(windows)) return range;
    const byNs = BigInt(windows) * interval.durationNs;
    if (descending) return { minNs: range.minNs, maxNs: range.maxNs > TIME_MAX_NS - byNs ? TIME_MAX_NS : range.maxNs + byNs };
    return { minNs: range.minNs < TIME_MIN_NS + byNs ? TIME_MIN_NS : range.minNs - byNs, maxNs: range.maxNs };
  }

  /** All groups of all calls, in order of tags. */
  private async groups(): Promise<GroupResult[]> {
    const byRange = Map.groupBy(this.roads, ({ range }) => `${range.minNs} ${range.maxNs}`);
    const found = new Map<string, GroupResult>();
    for (const roads of byRange.values()) {
      for (const { tags, bases, columnAt } of await this.groupsOf(roads)) {
        const key = tags.join("\0");
        let group = found.get(key);
        if (group === undefined) {
          group = { tags, bases: this.roads.map(() => null), columnAt };
          found.set(key, group);
        }
        roads.forEach((road, i) => {
          group.bases[this.roads.indexOf(road)] = bases[i]!;
        });
      }
    }
    return [...found.values()].sort((a, b) => compareTags(a.tags, b.tags));
  }

  /** Whether it shows in which order rows of one time come. */
  private isOrderSeen(roads: readonly CallRoad[]): boolean {
    return this.plan.columns.length > 0 || roads.some(({ base: { call } }) => call === null || !ORDERLESS.has(call.name));
  }

  private get ownTimes(): boolean {
    return this.plan.isSelector && this.plan.checked.interval === null;
  }

  private async groupsOf(roads: readonly CallRoad[]): Promise<GroupResult[]> {
    const quick = (await this.fromNewest(roads)) ?? (await this.fromStorage(roads)) ?? (await this.fromStretches(roads));
    return quick ?? this.fromRows(roads, await this.narrowed(roads));
  }

  private async fromStorage(roads: readonly CallRoad[]): Promise<GroupResult[] | null> {
    const { plan, run } = this;
    const [source, ...others] = run.sourcesOf(plan, this.name);
    if (source?.kind !== "table" || others.length > 0 || plan.columns.length > 0) return null;
    const groups = await this.kernelGroups(roads, source, this.ownTimes);
    if (groups === null) return null;
    const withoutRows = (points: Points | null) => (points === null ? null : { points, rows: null });
    return groups.map(({ tags, points }) => ({ tags, bases: points.map(withoutRows), columnAt: null }));
  }

  private async kernelGroups(
    roads: readonly CallRoad[],
    { table, schema }: TableSource<MeasurementTable>,
    ownTimes: boolean,
    timesOnly = false,
  ): Promise<readonly CallGroup[] | null> {
    const { run, scope } = this;
    const { checked } = this.plan;
    const calls = roads.flatMap(({ base }) => base.call ?? []);
    if (calls.length < roads.length) return null;
    const where = planWhere(checked.condition, schema);
    if (where.rows.length > 0) return null;
    const { range } = roads[0]!;
    const predicates = await table.predicates(where, run.turns);
    if (predicates.leftTags.length > 0) return null;
    if (predicates.isEmpty || range.minNs > range.maxNs) return [];
    const request: CallRequest = {
      ...{ calls, groupBy: scope.groupBy, range, ownTimes, timesOnly },
      interval: checked.interval,
      zone: checked.timeZone,
      startNs: startOf(range),
      descending: checked.descending,
    };
    return kernelCalls(table, request, predicates, run.turns);
  }

  /** Calls by windows of a measurement too large to be held; null: it is not, or they are not made window by window. */
  private async fromStretches(roads: readonly CallRoad[]): Promise<GroupResult[] | null> {
    const { plan, run } = this;
    const { interval, timeZone, descending } = plan.checked;
    const [source, ...others] = run.sourcesOf(plan, this.name);
    if (interval === null || source?.kind !== "table" || others.length > 0 || plan.columns.length > 0) return null;
    const { rowCountMax, times } = source.table.scan;
    // an area goes on into the next window
    const isByWindows = roads.every(({ base: { call } }) => call !== null && call.name !== "integral");
    if (!isByWindows || times === undefined || !isLong(rowCountMax)) return null;
    const grid = { intervalNs: interval.durationNs, offsetNs: interval.offsetNs, zone: timeZone };
    const found = new Map<string, { readonly tags: readonly string[]; readonly parts: (BasePoints | null)[][] }>();
    for (const range of windowStretches(roads[0]!.range, { times, rowCountMax }, grid, descending)) {
      const heldBytes = run.memory.used;
      const groups = await this.fromRows(
        roads.map((road) => ({ ...road, range })),
        {},
      );
      run.memory.giveDownTo(heldBytes);
      for (const { tags, bases } of groups) {
        const key = tags.join("\0");
        const group = found.get(key) ?? { tags, parts: roads.map(() => []) };
        found.set(key, group);
        bases.forEach((base, i) => {
          if (base === null) return;
          group.parts[i]!.push(base);
          run.memory.take(pointsBytes(base));
        });
      }
    }
    return [...found.values()].map(({ tags, parts }) => ({ tags, bases: parts.map(joinStretches), columnAt: null }));
  }

  /** last() of everything, where the newest row of each series has all the values; null: it has not, or that is not what is asked. */
  private async fromNewest(roads: readonly CallRoad[]): Promise<GroupResult[] | null> {
    const { plan, run } = this;
    if (plan.checked.interval !== null || !roads.every(({ base }) => base.call?.name === "last")) return null;
    const [source, ...others] = run.sourcesOf(plan, this.name);
    if (source?.kind !== "table" || others.length > 0) return null;
    const { rows, fields } = planWhere(plan.checked.condition, source.schema);
    if (rows.length > 0 || fields.length > 0) return null;
    const areThere = (set: RowSet, columnAt: ColumnAt) => {
      const isFull = (cells: AnyCells | null) => cells !== null && cells.type !== "tag" && cells.validity === null;
      return set.times.length === 0 || roads.every(({ base: { column } }) => isFull(columnAt(column.name, column.kind)));
    };
    return this.fromRows(roads, { newestOnly: true }, areThere);
  }

  /** Where the rows lie that a single selector chooses, as far as the storage can tell. */
  private async narrowed(roads: readonly CallRoad[]): Promise<Narrowing> {
    const [road, ...otherRoads] = roads;
    const call = road?.base.call;
    const [source, ...others] = this.run.sourcesOf(this.plan, this.name);
    if (call === null || call === undefined || otherRoads.length > 0 || !this.ownTimes) return {};
    if (source?.kind !== "table" || others.length > 0 || !NARROWED.has(call.name)) return {};
    const isOfTime = call.name === "first" || call.name === "last";
    const groups = await this.kernelGroups(roads, source, isOfTime, isOfTime);
    const column = source.table.column(road!.base.column.name);
    if (groups === null || groups.length === 0 || column === undefined) return {};
    const points = groups.flatMap((group) => group.points[0] ?? []);
    if (points.length === 0) return {};
    if (isOfTime) {
      const times = points.map((each) => each.times[0]!);
      return { range: { minNs: times.reduce((a, b) => (b < a ? b : a)), maxNs: times.reduce((a, b) => (b > a ? b : a)) } };
    }
    const isMax = call.name === "max";
    const bound = points.map((each) => each.values[0] as number | bigint).reduce((a, b) => (b < a === isMax ? b : a));
    if (!["float", "integer", "unsigned"].includes(call.type!)) return {};
    return { also: [{ columnId: column.id, operator: isMax ? ">=" : "<=", value: bound }] };
  }

  private async fromRows(
    roads: readonly CallRoad[],
    narrowing: Narrowing,
    isEnough: (set: RowSet, columnAt: ColumnAt) => boolean,
  ): Promise<GroupResult[] | null>;
  private async fromRows(roads: readonly CallRoad[], narrowing: Narrowing): Promise<GroupResult[]>;
  private async fromRows(
    roads: readonly CallRoad[],
    narrowing: Narrowing,
    isEnough: (set: RowSet, columnAt: ColumnAt) => boolean = () => true,
  ): Promise<GroupResult[] | null> {
    const { plan, run, scope } = this;
    const { checked } = plan;
    const { range } = roads[0]!;
    const tagRefs = roads
      .flatMap(({ base }) => base.call?.tags ?? [])
      .flatMap((name) => [
        { name, kind: "tag" as const },
        { name, kind: "string" as const },
      ]);
    const columns = distinctColumns([...roads.map(({ base }) => base.column), ...plan.columns, ...tagRefs]);
    const request = {
      columns,
      groupBy: scope.groupBy,
      range,
      descending: checked.descending,
      bySeries: this.isOrderSeen(roads),
      ...narrowing,
    };
    const set = await run.rows(plan, this.name, request);
    const columnAt: ColumnAt = (name, kind) => {
      const index = columns.findIndex((column) => column.name === name && column.kind === kind);
      return index < 0 ? null : set.columns[index]!;
    };
    if (!isEnough(set, columnAt)) return null;
    const groups: GroupResult[] = [];
    for (let group = 0; group < set.groups.length; group++) {
      const steps = basePoints(set, group, columnAt, {
        bases: roads.map(({ base }) => base),
        interval: checked.interval,
        zone: checked.timeZone,
        startNs: startOf(range),
        endNs: range.maxNs,
        ownTimes: this.ownTimes,
        descending: checked.descending,
      });
      groups.push({ tags: set.groups[group]!, bases: await run.turns.run(steps), columnAt });
      const pause = run.turns.pause();
      if (pause !== null) await pause;
    }
    return groups;
  }

  /** The rows of one group; null: there are none. */
  private *block({ tags, bases, columnAt }: GroupResult): Steps<RowBlock | null> {
    const { plan, name } = this;
    const { checked } = plan;
    const results: (CallResult | null)[] = [];
    for (const [i, road] of this.roads.entries()) results.push(yield* this.result(road, bases[i] ?? null));
    const present = results.filter((result) => result !== null);
    if (present.length === 0) return null;
    const limited: CallResult[] = [];
    for (const result of present) limited.push(yield* limit(result, checked));
    const rows = yield* joinByTime(
      limited.map(({ points }) => points),
      checked.descending,
    );
    const rowCount = rows.times.length;
    if (rowCount === 0) return null;
    const cells: (AnyCells | null)[] = plan.calls.map((call) => {
      const place = this.roads.findIndex((road) => road.call === call);
      const result = place < 0 ? null : results[place]!;
      if (result !== null) return rows.columns[present.indexOf(result)]!;
      // a call without a point in any window is filled with the number itself, whatever the field is
      if (checked.interval !== null && checked.fill.kind === "value") return constantCells(checked.fill.value, rowCount);
      return call.type === null ? null : emptyCells(call.type, rowCount);
    });
    const beside = limited[0]!.rows;
    for (const { name: column, kind } of plan.columns) {
      const own = columnAt?.(column, kind) ?? null;
      cells.push(own === null || beside === null ? null : yield* takeCells(own, beside));
    }
    const filled: (AnyCells | null)[] = [];
    for (const each of cells) filled.push(each === null ? null : yield* fillCells(each, checked.fill));
    return { name, tags, times: rows.times, columns: yield* computeOutputs(plan, filled, rowCount) };
  }

  private *result({ base, transforms }: CallRoad, found: BasePoints | null): Steps<CallResult | null> {
    if (found === null) return null;
    const { checked } = this.plan;
    const { interval } = checked;
    const isList = base.call === null || REDUCERS.get(base.call.name)!.isList;
    let filled: WindowPoints = { points: found.points, validity: null };
    let rows = found.rows;
    if (interval !== null && !isList && checked.fill.kind !== "none") {
      const range = this.extended(transforms);
      const wanted = checked.limit > 0 && transforms.length === 0 ? checked.limit + checked.offset : null;
      const starts = yield* this.windowStarts(found.points, range, wanted);
      const points = wanted === null ? found.points : yield* upTo(found.points, starts, wanted);
      // windows without values count none
      const fill: Fill = base.call!.name === "count" && checked.fill.kind === "null" ? { kind: "value", value: 0n } : checked.fill;
      const isWhole = yield* haveEqualTimes(points.times, starts);
      filled = isWhole ? { points, validity: null } : yield* fillWindows(points, starts, fill, interval.durationNs);
      if (rows !== null) rows = yield* spread(rows, points.times, filled.points.times);
    }
    if (transforms.length === 0) return { points: filled, rows };
    let points: Points = yield* withoutNulls(filled);
    for (const { name, args } of transforms) {
      points = yield* TRANSFORMS.get(name)!.apply(points, args, {
        descending: checked.descending,
        intervalNs: interval?.durationNs ?? null,
      });
    }
    return points.times.length === 0 ? null : { points: { points, validity: null }, rows: null };
  }

  /** Of the range, or of the first windows of it that are wanted and a few more. */
  private *windowStarts({ times }: Points, range: TimeRange, wanted: number | null): Steps<BigInt64Array> {
    const { interval, timeZone, descending } = this.plan.checked;
    const grid = { intervalNs: interval!.durationNs, offsetNs: interval!.offsetNs, zone: timeZone };
    const least = descending ? times[times.length - 1]! : times[0]!;
    let minNs = range.minNs === TIME_MIN_NS ? windowAt(grid, least).startNs : range.minNs;
    let { maxNs } = range;
    if (wanted !== null) {
      const reachNs = BigInt(wanted + SPARE_WINDOWS) * grid.intervalNs;
      if (descending && maxNs - minNs > reachNs) minNs = maxNs - reachNs;
      else if (maxNs - minNs > reachNs) maxNs = minNs + reachNs;
    }
    if (this.starts?.minNs !== minNs || this.starts.maxNs !== maxNs) {
      this.starts = { minNs, maxNs, startsNs: yield* windowStarts(grid, minNs, maxNs, descending) };
    }
    return this.starts!.startsNs;
  }
}

function constantCells(value: number | bigint, rowCount: number): AnyCells {
  return cellsOf("float", new Float64Array(rowCount).fill(Number(value)), null);
}

/** Where a clock changes, windows are longer or shorter. */
const SPARE_WINDOWS = 4;

/** What more is known of the rows that are wanted. */
type Narrowing = Pick<RowsRequest, "newestOnly" | "also"> & { readonly range?: TimeRange };

/** Of rows of one time they give the same value in any order. Sums of floats do not, to the last bit. */
const ORDERLESS: ReadonlySet<string> = new Set(["count", "min", "max", "spread", "median", "percentile", "first", "last"]);

const NARROWED: ReadonlySet<string> = new Set(["min", "max", "first", "last"]);

function columnOf(call: PlannedCall): PlannedColumn {
  return "args" in call.of ? columnOf(call.of) : call.of;
}

/** What a result without windows has as its time. */
function startOf({ minNs }: TimeRange): bigint {
  return minNs === TIME_MIN_NS ? 0n : minNs;
}

function sliceGroups<T>(groups: readonly T[], { slimit, soffset }: { readonly slimit: number; readonly soffset: number }): readonly T[] {
  return slimit === 0 && soffset === 0 ? groups : groups.slice(soffset, slimit === 0 ? undefined : soffset + slimit);
}
