// One measurement of a snapshot as reduced series: a row for each series, field and window, computed by the scan.
import type { ApartTags, ReduceFunction, ReduceRequest, SourceSeries, WindowRun } from "../../flux/interpret/flux-source.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { type Aggregate, type AggregateFunction, type AggregateRequest, aggregateType } from "../../model/query/aggregate.ts";
import type { FieldPredicate, TagPredicate } from "../../model/query/scan.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { inSteps, isPause, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import { codesOf } from "../../scan/series-tags.ts";
import type { TableScan } from "../../scan/table-scan.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import { wordsOf } from "../../tsdbql/functions/int64.ts";
import type { Cells } from "../../tsdbql/functions/operator.ts";
import type { FieldType } from "../../tsdbql/parse/ast.ts";
import { type FieldCells, type GroupedFields, seriesOf } from "./field-series.ts";
import { tagPredicates } from "./measurement-reader.ts";
import { newestSeries } from "./newest-series.ts";
import { type OrderedGroups, orderedGroups } from "./ordered-groups.ts";
import { fieldPredicate } from "./value-tests.ts";

interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly column: ColumnDef;
}

const NUMBERS: readonly FieldType[] = ["float", "integer", "unsigned"];

/** Reads reduced series of one measurement. */
export class ReducedReader {
  constructor(
    private readonly kernel: Kernel,
    readonly turns: Turns,
    readonly memory: StatementMemory,
  ) {}

  /** Series in the order of their keys; null: the scan cannot reduce them. @throws TsdbError query_limit, cancelled */
  async read(scan: TableScan, request: ReduceRequest): Promise<readonly SourceSeries[] | null> {
    const { latest, runs } = request.reduction;
    const run = runs?.length === 1 ? runs[0]! : null;
    if (latest === null || run === null || !(await this.areAlike(scan, request))) return this.reduced(scan, request);
    for (let count = Math.max(64, 2 * latest); ; count *= 8) {
      const firstNumber = Math.max(0, lastNumber(run, scan.times.maxNs) + 1 - count);
      const series = await this.reduced(scan, firstNumber === 0 ? request : fromWindow(request, run, firstNumber));
      if (series === null || firstNumber === 0 || windowCount(series) >= latest) return series;
    }
  }

  /** Whether all series of the range have all tags and fields are of one type: then the columns of a part are those of the whole. */
  private async areAlike(scan: TableScan, { startNs, stopNs, wanted, reduction }: ReduceRequest): Promise<boolean> {
    const table = new MeasurementTable(this.kernel, scan);
    const types = [...table.schema.fields].filter(([name]) => wanted?.mayBe(scan.name, name) ?? true).map(([, type]) => type);
    if (new Set(types).size > 1) return false;
    const tagColumns = apartColumns(table, reduction.apart, types.length);
    if (tagColumns.length === 0) return true;
    for (const { dictionary, marks } of scan.visibleSeries({ minNs: startNs, maxNs: stopNs - 1n })) {
      for (const { id } of tagColumns) {
        const tag = dictionary.tags.find(({ columnId }) => columnId === id);
        if (tag === undefined) return false;
        const codes = codesOf(this.kernel, dictionary, tag);
        if (codes.some((code, series) => code === 0 && (marks === null || marks[series] === 1))) return false;
      }
      const pause = this.turns.pause();
      if (pause !== null) await pause;
    }
    return true;
  }

  private async reduced(scan: TableScan, request: ReduceRequest): Promise<readonly SourceSeries[] | null> {
    const { wanted, reduction, values } = request;
    const table = new MeasurementTable(this.kernel, scan);
    const fields: Field[] = [...table.schema.fields]
      .filter(([name]) => wanted?.mayBe(scan.name, name) ?? true)
      .map(([name, type]) => ({ name, type, column: table.column(name)! }));
    const tags = tagPredicates(table, wanted?.tags);
    if (fields.length === 0 || tags === null) return [];
    if (!fields.every(({ type }) => isReducible(reduction.fn, type))) return null;
    if (reduction.fn === "last" && reduction.runs === null && reduction.ownTimes && values.length === 0) {
      const named = fields.map(({ name, type }) => [name, type] as const);
      const newest = await newestSeries(table, { range: request, fields: named, tags }, this);
      if (newest !== null) return newest;
    }
    if (values.length === 0) return this.aggregated(table, fields, { request, tags, fields: [] });
    // rows pass by one field, so each is a request of its own
    const found: SourceSeries[] = [];
    for (const field of fields) {
      const predicates = values.map((test) => fieldPredicate(test, field.column.id, field.type));
      if (predicates.includes(null)) return null;
      if (predicates.includes("never")) continue;
      const series = await this.aggregated(table, [field], { request, tags, fields: predicates as FieldPredicate[] });
      if (series === null) return null;
      found.push(...series);
    }
    return found.sort(compareSeries);
  }

  private async aggregated(table: MeasurementTable, fields: readonly Field[], asked: Asked): Promise<SourceSeries[] | null> {
    const { reduction } = asked.request;
    const aggregates: Aggregate[] = [];
    const parts = fields.map(({ column }) =>
      functionsOf(reduction).map((fn) => {
        aggregates.push({ fn, column });
        return aggregates.length - 1;
      }),
    );
    if (aggregates.some((aggregate) => aggregateType(aggregate) === null)) return null;
    const tagColumns = apartColumns(table, reduction.apart, fields.length).sort((a, b) => compareTexts(a.name, b.name));
    const runs = await this.runs(table, asked, { aggregates, groupBy: tagColumns });
    if (runs === null) return null;
    const found: SourceSeries[][] = [];
    for (const { cells, groups, starts, times } of runs) {
      const columns = parts.map(([value, second]): FieldCells => {
        const own = cells[value!]!;
        const other = second === undefined ? null : cells[second]!;
        const present = reduction.fn === "count" ? withoutZeros(own) : own;
        return {
          cells: present,
          times: reduction.ownTimes && other !== null ? (other.values as BigInt64Array) : times,
          counts: (reduction.isPartial || reduction.fn === "squares") && other !== null ? (other.values as BigInt64Array) : null,
        };
      });
      const set: GroupedFields = { groups, starts, columns };
      const names = fields.map(({ name }, i) => [name, columns[i]!.cells.type] as const);
      found.push(
        await this.turns.run(
          seriesOf(
            table.scan.name,
            tagColumns.map(({ name }) => name),
            names,
            set,
          ),
        ),
      );
    }
    return found.length === 1 ? found[0]! : joined(found);
  }

  /** One aggregation for each run of windows. */
  private async runs(
    table: MeasurementTable,
    { request, tags, fields }: Asked,
    what: Pick<AggregateRequest, "aggregates" | "groupBy">,
  ): Promise<OrderedGroups[] | null> {
    const { startNs, stopNs, reduction } = request;
    const found: OrderedGroups[] = [];
    for (const run of reduction.runs ?? [null]) {
      const range = { minNs: startNs, maxNs: stopNs - 1n };
      if (run !== null) {
        const endNs = run.startNs + BigInt(run.count) * run.widthNs;
        if (run.startNs > range.minNs) range.minNs = run.startNs;
        if (endNs <= range.maxNs) range.maxNs = endNs - 1n;
      }
      const bins = run === null ? null : { originNs: run.startNs, widthNs: run.widthNs };
      const request = { range, tags, fields, bins, ...what };
      const groups = await orderedGroups(table, request, this.turns, (bytes) => this.memory.check(bytes * 2));
      if (groups === null) return null;
      if (run !== null) await this.turns.run(numberWindows(groups.times, run));
      found.push(groups);
    }
    return found;
  }
}

/** Columns of the tags that tell rows apart. */
function apartColumns({ tagColumns }: MeasurementTable, apart: ApartTags | null, fieldCount: number): ColumnDef[] {
  if (apart === null || (apart.needsOneField && fieldCount > 1)) return [...tagColumns];
  return tagColumns.filter(({ name }) => apart.names.includes(name) !== apart.isExcept);
}

interface Asked {
  readonly request: ReduceRequest;
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
}

/** The window that holds the newest row, or the last one. */
function lastNumber({ firstNumber, startNs, widthNs, count }: WindowRun, newestNs: bigint): number {
  const number = Number((newestNs - startNs) / widthNs);
  return firstNumber + Math.max(0, Math.min(count - 1, number));
}

function fromWindow(request: ReduceRequest, run: WindowRun, firstNumber: number): ReduceRequest {
  const startNs = run.startNs + BigInt(firstNumber - run.firstNumber) * run.widthNs;
  const runs = [{ ...run, firstNumber, startNs, count: run.count - (firstNumber - run.firstNumber) }];
  return { ...request, startNs: startNs > request.startNs ? startNs : request.startNs, reduction: { ...request.reduction, runs } };
}

function windowCount(series: readonly SourceSeries[]): number {
  const numbers = new Set<bigint>();
  for (const { timesNs } of series) for (const number of timesNs) numbers.add(number);
  return numbers.size;
}

function isReducible(fn: ReduceFunction, type: FieldType): boolean {
  return fn === "count" || fn === "first" || fn === "last" || NUMBERS.includes(type);
}

const OWN_TIME: Readonly<Partial<Record<ReduceFunction, AggregateFunction>>> = {
  first: "firstTime",
  last: "lastTime",
  min: "minTime",
  max: "maxTime",
};

/** Of the scan: the value, and what stands beside it. */
function functionsOf({ fn, isPartial, ownTimes }: ReduceRequest["reduction"]): readonly AggregateFunction[] {
  if (fn === "mean" && isPartial) return ["sum", "count"];
  if (fn === "squares") return ["squares", "count"];
  const time = ownTimes ? OWN_TIME[fn] : undefined;
  return time === undefined ? [fn] : [fn, time];
}

/** The numbers of windows in place of their starts. */
function* numberWindows(times: BigInt64Array, { startNs, widthNs, firstNumber, count }: WindowRun): Steps<void> {
  if (count > COUNT_MAX) {
    for (let i = 0; i < times.length; i++) {
      if (isPause(i)) yield;
      times[i] = (times[i]! - startNs) / widthNs + BigInt(firstNumber);
    }
    return;
  }
  const words = wordsOf(times);
  const [width, low, high] = [Number(widthNs), Number(BigInt.asUintN(32, startNs)), Number(startNs >> 32n)];
  yield* inSteps(times.length, (from, to) => {
    for (let i = from; i < to; i++) {
      // the distance may have lost its last digits, the number of windows is whole
      const distance = (words[2 * i + 1]! - high) * TWO_32 + ((words[2 * i]! >>> 0) - low);
      const number = Math.round(distance / width) + firstNumber;
      words[2 * i] = number;
      words[2 * i + 1] = number / TWO_32;
    }
  });
}

const TWO_32 = 2 ** 32;
/** Of windows whose numbers a division of floats gives exactly. */
const COUNT_MAX = 2 ** 50;

/** A window without values has a count too. */
function withoutZeros(cells: Cells): Cells {
  const counts = cells.values as BigInt64Array;
  const words = new Int32Array(counts.buffer, counts.byteOffset, counts.length * 2);
  let validity: Uint8Array | null = null;
  for (let i = 0; i < counts.length; i++) {
    if (words[2 * i] !== 0 || words[2 * i + 1] !== 0) continue;
    validity ??= new Uint8Array((counts.length + 7) >> 3).fill(0xff);
    validity[i >> 3]! &= ~(1 << (i & 7));
  }
  return validity === null ? cells : { ...cells, validity };
}

/** Series of several runs of windows, which follow each other in time. */
function joined(parts: readonly (readonly SourceSeries[])[]): SourceSeries[] {
  const byKey = new Map<string, SourceSeries[]>();
  for (const series of parts.flat()) {
    const key = JSON.stringify([series.tags, series.field]);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [series]);
    else known.push(series);
  }
  return [...byKey.values()].map(joinedSeries).sort(compareSeries);
}

function joinedSeries(parts: readonly SourceSeries[]): SourceSeries {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const counts = parts.map((part) => part.counts ?? new BigInt64Array(0));
  return {
    ...first!,
    timesNs: concatenated(parts.map(({ timesNs }) => timesNs)) as BigInt64Array,
    values: concatenated(parts.map(({ values }) => values)),
    ...(first!.counts === undefined ? {} : { counts: concatenated(counts) as BigInt64Array }),
  };
}

function concatenated(parts: readonly SourceSeries["values"][]): SourceSeries["values"] {
  const [first] = parts;
  if (Array.isArray(first)) return (parts as string[][]).flat();
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new (first!.constructor as Float64ArrayConstructor)(length);
  let at = 0;
  for (const part of parts) {
    all.set(part as Float64Array, at);
    at += part.length;
  }
  return all;
}

function compareSeries(a: SourceSeries, b: SourceSeries): number {
  return Buffer.compare(keyOf(a), keyOf(b)) || compareTexts(a.field, b.field);
}

function keyOf({ tags }: SourceSeries): Buffer {
  return Buffer.from(tags.map(([name, value]) => `${name}=${value}`).join());
}
