// Pushes calls down to the scan: counts, sums, means, extremes, first and last values, by windows of fixed length and tags. All others are
// computed from rows (points.ts).
import { type Aggregate, type AggregateFunction, type AggregateRequest, aggregateType } from "../../../model/query/aggregate.ts";
import type { TimeRange } from "../../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { isPause, StepCounter, type Steps } from "../../../model/steps.ts";
import type { TimeZone } from "../../../model/time/time-zone.ts";
import type { Turns } from "../../../model/turns.ts";
import { valueAt } from "../../functions/columns.ts";
import { wordsOf } from "../../functions/int64.ts";
import type { Cells } from "../../functions/operator.ts";
import type { Points } from "../../functions/points.ts";
import { Texts } from "../../functions/texts.ts";
import { isValid } from "../../functions/validity.ts";
import type { FieldType } from "../../parse/ast.ts";
import type { Interval } from "../../plan/check-select.ts";
import type { PlannedCall } from "../../plan/select.ts";
import type { StatementMemory } from "../memory.ts";
import { aggregatedColumns } from "../rows/aggregated.ts";
import { presentPoints, takeTimes } from "../rows/cells.ts";
import type { GrowingColumn, NumberColumn, TagCells, TagColumn } from "../rows/columns.ts";
import { groupRows, orderRows } from "../rows/order.ts";
import type { MeasurementTable, ScanPredicates } from "../rows/table.ts";

export interface CallRequest {
  readonly calls: readonly PlannedCall[];
  /** Ordered by name; tags that the measurement lacks are "" everywhere. */
  readonly groupBy: readonly string[];
  readonly range: TimeRange;
  readonly interval: Interval | null;
  readonly zone: TimeZone | null;
  /** Time of results without windows; points of a single selector keep their own. */
  readonly startNs: bigint;
  readonly ownTimes: boolean;
  /** For first and last only the times matter: any value at that time will do. */
  readonly timesOnly?: boolean;
  /** Of groups and windows; more than this are not computed. Default: any number. */
  readonly groupsMax?: number;
  readonly descending: boolean;
}

/** The results of the calls for one group, each ordered by time. */
export interface CallGroup {
  readonly tags: readonly string[];
  /** One per call; null: no points. */
  readonly points: readonly (Points | null)[];
}

/** Returns null if the scan cannot compute all of them. @throws TsdbError query_limit, cancelled */
export async function kernelCalls(
  table: MeasurementTable,
  request: CallRequest,
  predicates: ScanPredicates,
  { turns, memory }: { readonly turns: Turns; readonly memory: StatementMemory },
): Promise<readonly CallGroup[] | null> {
  const plan = planKernel(table, request);
  if (plan === null) return null;
  const wanted: AggregateRequest = {
    range: request.range,
    tags: predicates.tags,
    fields: predicates.fields,
    bins: plan.originNs === null ? null : { originNs: plan.originNs, widthNs: request.interval!.durationNs },
    groupBy: plan.groupBy,
    aggregates: plan.aggregates,
  };
  // collected, and once more in order
  const found = await aggregatedColumns(table, wanted, turns, (bytes) => memory.check(2 * bytes));
  if (found === null || found.rowCount > (request.groupsMax ?? Number.POSITIVE_INFINITY)) return null;
  return turns.run(callGroups(request, plan, found.columns, found.rowCount));
}

interface KernelPlan {
  readonly groupBy: readonly ColumnDef[];
  /** Position of each `groupBy` tag among the request's; null: the measurement has no such tag. */
  readonly keys: readonly (number | null)[];
  readonly aggregates: readonly Aggregate[];
  /** Null: no windows. */
  readonly originNs: bigint | null;
  /** True if the scan's groups are finer than requested and must be combined. */
  readonly isFine: boolean;
  /** One per call. */
  readonly makers: readonly Maker[];
}

/** Positions in `aggregates` that a call is computed from. */
interface Maker {
  readonly call: PlannedCall;
  readonly parts: readonly number[];
}

const PARTS: Readonly<Record<string, readonly AggregateFunction[]>> = {
  count: ["count"],
  sum: ["sum"],
  mean: ["mean"],
  min: ["min"],
  max: ["max"],
  spread: ["min", "max"],
  stddev: ["squares", "count"],
  first: ["first", "firstTime"],
  last: ["last", "lastTime"],
};

/** Of a selector whose points keep their own times. */
const PARTS_WITH_TIME: Readonly<Record<string, readonly AggregateFunction[]>> = { min: ["min", "minTime"], max: ["max", "maxTime"] };

function planKernel(table: MeasurementTable, request: CallRequest): KernelPlan | null {
  const originNs = originOf(request);
  if (originNs === undefined) return null;
  const keyColumns = request.groupBy.map((name) => table.column(name));
  const known = keyColumns.filter((column) => column?.type === ColumnType.tag) as ColumnDef[];
  const aggregates: Aggregate[] = [];
  const makers: Maker[] = [];
  const isChosen = request.timesOnly !== true && request.calls.some(({ name }) => name === "first" || name === "last");
  // with several series at one time the greatest value wins, so series must be distinguished
  const others = isChosen ? table.tagColumns.filter((column) => !known.includes(column)) : [];
  const isFine = others.length > 0;
  for (const call of request.calls) {
    const functions = (request.ownTimes ? PARTS_WITH_TIME[call.name] : undefined) ?? PARTS[call.name];
    if (functions === undefined || "args" in call.of) return null;
    const column = table.column(call.of.name);
    const isField = column !== undefined && column.type !== ColumnType.tag && column.type !== ColumnType.time;
    if (!isField || table.schema.fields.get(column.name) !== call.of.kind) return null;
    if (call.name === "spread" && column.type === ColumnType.boolean) return null;
    if (call.name === "stddev" && isFine) return null;
    // means cannot be combined
    const wanted = isFine && call.name === "mean" ? (["sum", "count"] as const) : functions;
    const parts = wanted.map((fn) => place(aggregates, { fn, column }));
    if (parts.some((part) => part < 0)) return null;
    makers.push({ call, parts });
  }
  const groupBy = [...known, ...others];
  return { groupBy, keys: keyColumns.map((column) => indexOf(groupBy, column)), aggregates, originNs, isFine, makers };
}

function indexOf(columns: readonly ColumnDef[], column: ColumnDef | undefined): number | null {
  const index = column === undefined ? -1 : columns.indexOf(column);
  return index < 0 ? null : index;
}

function place(aggregates: Aggregate[], aggregate: Aggregate): number {
  if (aggregateType(aggregate) === null) return -1;
  const found = aggregates.findIndex(({ fn, column }) => fn === aggregate.fn && column === aggregate.column);
  return found >= 0 ? found : aggregates.push(aggregate) - 1;
}

/** Origin of the windows; null: no windows. Undefined: windows of different lengths. */
function originOf({ interval, zone, range }: CallRequest): bigint | null | undefined {
  if (interval === null) return null;
  if (zone === null) return interval.offsetNs;
  const spans = zone.spansWithin({ minNs: range.minNs - interval.durationNs, maxNs: range.maxNs + interval.durationNs });
  return spans.length === 1 ? interval.offsetNs - spans[0]!.offsetNs : undefined;
}

function* callGroups(request: CallRequest, plan: KernelPlan, columns: readonly GrowingColumn[], rowCount: number): Steps<CallGroup[]> {
  const firstTag = plan.originNs === null ? 0 : 1;
  const tagColumns = columns.slice(firstTag, firstTag + plan.groupBy.length) as TagColumn[];
  const absent = { type: "tag", codes: new Uint32Array(rowCount), dictionary: [""] } as const;
  const keys: TagCells[] = [];
  for (const key of plan.keys) keys.push(key === null ? absent : yield* tagColumns[key]!.take(null, rowCount));
  const groups = yield* groupRows(keys, rowCount);
  const times = plan.originNs === null ? new BigInt64Array(rowCount).fill(request.startNs) : (columns[0] as NumberColumn).view();
  const { rows, starts } = yield* orderRows(groups, times as BigInt64Array, request.descending, null);
  const ordered = yield* takeTimes(times as BigInt64Array, rows);
  const parts: Cells[] = [];
  for (const column of columns.slice(firstTag + plan.groupBy.length)) parts.push((yield* column.take(rows, rowCount)) as Cells);
  const found: CallGroup[] = [];
  const counter = new StepCounter();
  for (const [group, tags] of groups.tags.entries()) {
    const from = starts[group]!;
    const to = starts[group + 1]!;
    const points: (Points | null)[] = [];
    for (const { call, parts: places } of plan.makers) {
      const cells = places.map((at) => parts[at]!);
      if (plan.isFine || !(yield* isResult(call, cells))) {
        points.push(yield* callPoints(call, cells, ordered, { from, to, ownTimes: request.ownTimes }));
        continue;
      }
      const [values, ownTimes] = cells as [Cells, Cells | undefined];
      const shown = request.ownTimes && ownTimes !== undefined ? (ownTimes.values as BigInt64Array) : ordered;
      const present = (yield* presentPoints(values, shown, from, to)).points;
      points.push(present.times.length === 0 ? null : present);
    }
    found.push({ tags, points });
    if (counter.isDue(GROUP_COST * (1 + points.length))) yield;
  }
  return found;
}

/** Cost per group and call, in units of rows. */
const GROUP_COST = 8;

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly ownTimes: boolean;
}

/** True if the scan's first column is the call's result: null in windows without one. */
function* isResult({ name }: PlannedCall, cells: readonly Cells[]): Steps<boolean> {
  if (name === "spread" || name === "stddev") return false;
  if (name !== "count") return true;
  const words = wordsOf(cells[0]!.values as BigInt64Array);
  for (let i = 0; i < words.length; i += 2) {
    if (isPause(i >> 1)) yield;
    if (words[i] === 0 && words[i + 1] === 0) return false;
  }
  return true;
}

type Value = number | bigint | string;

/** The points of one call and group; combines rows with the same time, of several series. */
function* callPoints(
  call: PlannedCall,
  cells: readonly Cells[],
  times: BigInt64Array,
  { from, to, ownTimes }: Stretch,
): Steps<Points | null> {
  const counter = new StepCounter();
  const combine = COMBINE[call.name]!(cells);
  const outTimes = new BigInt64Array(to - from);
  const values: Value[] = [];
  for (let row = from; row < to; ) {
    let end = row + 1;
    while (end < to && times[end] === times[row]) end++;
    const value = combine.value(row, end);
    if (counter.isDue(POINT_COST + end - row)) yield;
    if (value !== null) {
      outTimes[values.length] = ownTimes && combine.time !== undefined ? combine.time() : times[row]!;
      values.push(value);
    }
    row = end;
  }
  return values.length === 0 ? null : pointsOf(call.type!, outTimes.slice(0, values.length), values);
}

/** Values are objects until they are copied to arrays. */
const POINT_COST = 4;

/** Converts single values to points. @param times one per value */
function pointsOf(type: FieldType, times: BigInt64Array, values: readonly Value[]): Points {
  switch (type) {
    case "float":
      return { type, times, values: Float64Array.from(values as number[], Number) };
    case "integer":
      return { type, times, values: BigInt64Array.from(values as bigint[]) };
    case "unsigned":
      return { type, times, values: BigUint64Array.from(values as bigint[]) };
    case "boolean":
      return { type, times, values: Uint8Array.from(values as number[]) };
    default:
      return { type, times, values: Texts.of(values as string[]) };
  }
}

/** Combines rows [from, to) of one group and window. */
interface Combined {
  value(from: number, to: number): Value | null;
  /** Time of the last combined value. */
  time?(): bigint;
}

const COMBINE: Readonly<Record<string, (cells: readonly Cells[]) => Combined>> = {
  count: ([count]) => ({ value: (from, to) => zeroAsNull(sumOf(count!, from, to)) }),
  sum: ([sum]) => ({ value: (from, to) => sumOf(sum!, from, to) }),
  mean: (cells) => ({ value: (from, to) => meanOf(cells, from, to) }),
  min: ([min]) => ({ value: (from, to) => extremeOf(min!, from, to, -1) }),
  max: ([max]) => ({ value: (from, to) => extremeOf(max!, from, to, 1) }),
  spread: ([min, max]) => ({ value: (from, to) => difference(extremeOf(max!, from, to, 1), extremeOf(min!, from, to, -1)) }),
  stddev: ([squares, count]) => ({ value: (row) => deviationOf(presentAt(squares!, row), presentAt(count!, row)) }),
  first: ([value, time]) => chosen(value!, time!, -1),
  last: ([value, time]) => chosen(value!, time!, 1),
};

function presentAt({ values, validity }: Cells, row: number): Value | null {
  return isValid(validity, row) ? valueAt(values, row) : null;
}

/** An empty window has no count either. */
function zeroAsNull(count: Value | null): Value | null {
  return count === 0n ? null : count;
}

function sumOf(cells: Cells, from: number, to: number): Value | null {
  let sum: Value | null = null;
  for (let row = from; row < to; row++) {
    const value = presentAt(cells, row);
    if (value !== null) sum = sum === null ? value : add(cells, sum, value);
  }
  return sum;
}

/** Integers wrap around in 64 bits. */
function add({ type }: Cells, a: Value, b: Value): Value {
  if (typeof a === "number") return a + (b as number);
  const sum = (a as bigint) + (b as bigint);
  return type === "unsigned" ? BigInt.asUintN(64, sum) : BigInt.asIntN(64, sum);
}

/** A mean is a single value; sums and counts are added up. */
function meanOf([sum, count]: readonly Cells[], from: number, to: number): Value | null {
  if (count === undefined) return presentAt(sum!, from);
  const total = sumOf(sum!, from, to);
  return total === null ? null : Number(total) / Number(sumOf(count, from, to));
}

/** Of a sample; NaN of one value. */
function deviationOf(squares: Value | null, count: Value | null): Value | null {
  return squares === null ? null : count === 1n ? Number.NaN : Math.sqrt(Number(squares) / (Number(count) - 1));
}

function extremeOf(cells: Cells, from: number, to: number, sign: 1 | -1): Value | null {
  let best: Value | null = null;
  for (let row = from; row < to; row++) {
    const value = presentAt(cells, row);
    if (value !== null && (best === null || (sign === 1 ? value > best : value < best))) best = value;
  }
  return best;
}

function difference(greatest: Value | null, least: Value | null): Value | null {
  if (greatest === null || least === null) return null;
  if (typeof greatest === "number") return greatest - (least as number);
  return BigInt.asIntN(64, (greatest as bigint) - (least as bigint));
}

/** The earliest or latest value; among several at that time the greatest, but for `first` of booleans false. */
function chosen(values: Cells, times: Cells, sign: 1 | -1): Combined {
  let bestTime = 0n;
  const isReversed = values.type === "boolean" && sign === -1;
  return {
    value: (from, to) => {
      let best: Value | null = null;
      for (let row = from; row < to; row++) {
        const value = presentAt(values, row);
        if (value === null) continue;
        const time = (times.values as BigInt64Array)[row]!;
        const isBetter =
          best === null ||
          (sign === 1 ? time > bestTime : time < bestTime) ||
          (time === bestTime && (isReversed ? value < best : value > best));
        if (!isBetter) continue;
        best = value;
        bestTime = time;
      }
      return best;
    },
    time: () => bestTime,
  };
}
