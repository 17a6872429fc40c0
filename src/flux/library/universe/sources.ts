// `from`, `range`, `yield`, `union`.

import type { SeriesQuestion, SourceRows, SourceSeries } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn } from "../../tables/column.ts";
import { EMPTY_RANGE } from "../../tables/plan-check.ts";
import { collect, eachTable, StreamNode, type Tables, type TimeBounds } from "../../tables/stream.ts";
import { FluxTable, GroupKey, isSorted, type KeyColumn } from "../../tables/table.ts";
import { MONTH_NS, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Duration, FluxArray, type FluxFunction, Time, type Value } from "../../values/value.ts";
import { bucketId, checkOneOf, hasEmptyHost, NEEDS_HOST, otherOrganization, startError } from "../influxdb/bucket-arguments.ts";
import { RemoteFromNode, remoteOf } from "../influxdb/remote.ts";
import { mergeTables } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { NumberedOperation, SortOperation } from "../plan/operations.ts";
import { repeatedKey } from "../repeated-keys.ts";
import { shardEnds, shardSpan } from "../shard-pieces.ts";
import { typeText } from "./conversions.ts";
import {
  FromNode,
  PushedNode,
  type ReduceWish,
  type StorageDescribe,
  type StorageRead,
  type StorageReduce,
  type StorageRows,
  type TimePart,
} from "./pushed.ts";
import { wantedSeries } from "./wanted-series.ts";

export const from: NativeBody = (call) => {
  if (!call.has("bucket") && !call.has("bucketID")) throw new FluxError("must specify bucket or bucketID");
  checkOneOf(call, "bucket", "bucketID");
  checkOneOf(call, "org", "orgID");
  const name = call.has("bucket") ? call.string("bucket") : null;
  const id = name === null ? call.string("bucketID") : null;
  const [remote, location] = [remoteOf(call), call.site?.location ?? null];
  if (remote !== null) return new RemoteFromNode(location, name === null ? ["bucketID", id!] : ["bucket", name], remote);
  const problem = call.has("org") || call.has("orgID") ? otherOrganization("reads from the storage engine cannot read from") : null;
  if (hasEmptyHost(call)) return new FromNode(location, name ?? id!, refuseHost);
  return new FromNode(location, name ?? id!, (run) => bucketId(run, name, id), problem);
};

function refuseHost(): never {
  throw startError(NEEDS_HOST);
}

/** A source that no plan can have. */
export function refused(call: NativeCall, problem: string): StreamNode {
  const node = streamOf(call, [], () => []);
  node.planProblem = problem;
  return node;
}

/** A point in time as an argument: a time, a duration from now, or seconds since 1970. The nanoseconds may be beyond all times. */
function momentNs(value: Value, now: Time): bigint {
  if (value instanceof Time) return value.ns;
  if (value instanceof Duration) {
    // months count 30.4375 days here, and what is longer than all durations ends long ago, as recorded
    const ns = value.months * MONTH_NS + value.ns;
    return now.ns + (BigInt.asIntN(64, ns) === ns ? ns : -(1n << 63n));
  }
  if (typeof value === "bigint") return value * SECOND_NS;
  throw new FluxError(`value is not a time, got ${typeText(value)}`);
}

/** The same as a time: beyond the last one they begin again. */
export function timeArgument(value: Value, now: Time): Time {
  return new Time(BigInt.asIntN(64, momentNs(value, now)));
}

export const range: NativeBody = (call) => rangeWithin(call, (bounds) => bounds);

/** A range that reads more of a bucket than it says. */
export function rangeWithin(call: NativeCall, widened: (bounds: TimeBounds) => TimeBounds): StreamNode {
  const now = call.run.nowTime;
  const startNs = momentNs(call.value("start"), now);
  const stopNs = call.has("stop") ? momentNs(call.value("stop"), now) : now.ns;
  const input = call.stream();
  const bounds = narrowed(input.bounds, { startNs: BigInt.asIntN(64, startNs), stopNs: BigInt.asIntN(64, stopNs) });
  const isRead = input instanceof FromNode && bounds.startNs < bounds.stopNs;
  const node = rangeNode(call, input, isRead ? widened(bounds) : bounds);
  if (startNs >= stopNs) node.planProblem ??= EMPTY_RANGE;
  return node;
}

function rangeNode(call: NativeCall, input: StreamNode, bounds: TimeBounds): StreamNode {
  if (input instanceof FromNode) {
    const location = call.site?.location ?? null;
    const state = { isGrouped: false, isWindowed: false };
    if (bounds.startNs >= bounds.stopNs)
      return planned(new RangeNode("range", [input], location, () => [], state, { bounds, read: () => [] }), input);
    const read: StorageRead = (run, filters, part) =>
      input instanceof RemoteFromNode ? input.read(run, bounds, filters) : readTables(run, input, { ...bounds, ...part }, filters);
    const body = (_: readonly Tables[], run: ScriptRun) => read(run, []);
    const reduce: StorageReduce | null = input instanceof RemoteFromNode ? null : (run, wish) => reducedTables(run, input, bounds, wish);
    const describe: StorageDescribe | null =
      input instanceof RemoteFromNode ? null : (run, question, filters) => described(run, input.bucketId(run), bounds, question, filters);
    const hasRows = !(input instanceof RemoteFromNode) && call.run.source.readRows !== undefined;
    const rows: StorageRows | null = hasRows ? (run, filters) => wholeRows(run, input, bounds, filters) : null;
    return planned(new RangeNode("range", [input], location, body, state, { bounds, read, reduce, describe, rows }), input);
  }
  const [from, to] = [new Time(bounds.startNs), new Time(bounds.stopNs)];
  return streamOf(call, [input], ([tables]) => ranged(tables!, from, to), { bounds });
}

function planned(node: RangeNode, from: FromNode): RangeNode {
  node.planProblem = from.rangeProblem;
  if (!(from instanceof RemoteFromNode)) node.onStart = (run) => void from.bucketId(run);
  return node;
}

/** What bounds the read of a bucket. */
class RangeNode extends PushedNode {
  override handsOn = true;

  override get planInputs(): readonly StreamNode[] {
    return [];
  }
}

/** A range within another one; what lies outside of it is the empty range of 1970. */
function narrowed(outer: TimeBounds | null, { startNs, stopNs }: TimeBounds): TimeBounds {
  if (outer === null) return { startNs, stopNs };
  const [from, to] = [startNs > outer.startNs ? startNs : outer.startNs, stopNs < outer.stopNs ? stopNs : outer.stopNs];
  return from < to ? { startNs: from, stopNs: to } : { startNs: 0n, stopNs: 0n };
}

function* readTables(
  run: ScriptRun,
  from: FromNode,
  { startNs, stopNs, fromNs = startNs, untilNs = stopNs }: TimeBounds & TimePart,
  filters: readonly FluxFunction[],
): Tables {
  const bucketId = from.bucketId(run);
  const wanted = filters.length === 0 || !run.pushesDown ? null : wantedSeries(filters);
  const tables = new SeriesTables({ startNs, stopNs });
  const spanNs = shardSpan(run.source.bucket({ id: bucketId })?.retentionPeriodNs ?? 0n);
  for (const series of run.source.read({ bucketId, startNs: fromNs, stopNs: untilNs, ...(wanted === null ? {} : { wanted }) })) {
    if (series === null) yield null;
    else yield tables.table(series).inPieces(shardEnds(series.timesNs, spanNs));
  }
}

function* reducedTables(
  run: ScriptRun,
  from: FromNode,
  bounds: TimeBounds,
  { reduction, shown, filters, values }: ReduceWish,
): ReturnType<StorageReduce> {
  const { source } = run;
  if (source.reduced === undefined) return null;
  const wanted = wantedSeries(filters);
  const request = { bucketId: from.bucketId(run), ...bounds, ...(wanted === null ? {} : { wanted }), reduction, values };
  const found = yield* source.reduced(request);
  const tables = new SeriesTables(bounds, shown);
  return found?.map((series) => tables.table(series)) ?? null;
}

/** Of the series that pass the filters, which say no more than `wantedSeries`. */
function* wholeRows(run: ScriptRun, from: FromNode, bounds: TimeBounds, filters: readonly FluxFunction[]): Tables {
  const wanted = wantedSeries(filters);
  const tables = new SeriesTables(bounds);
  const request = { bucketId: from.bucketId(run), ...bounds, ...(wanted === null ? {} : { wanted }) };
  for (const rows of run.source.readRows?.(request) ?? []) yield rows === null ? null : tables.rows(rows);
}

/** About the series that pass the filters, which say no more than `wantedSeries`. */
export function* described(
  { source }: ScriptRun,
  bucketId: string,
  bounds: TimeBounds,
  question: SeriesQuestion,
  filters: readonly FluxFunction[],
): ReturnType<StorageDescribe> {
  if (source.described === undefined) return null;
  const wanted = wantedSeries(filters);
  return yield* source.described({ bucketId, ...bounds, ...(wanted === null ? {} : { wanted }) }, question);
}

/** Counts of partial means: no column of a row has this name. */
export const COUNTS = "\0counts";

/** Columns that the tables of neighbours share: those of one series have the same measurement and tags. */
interface SharedColumns {
  readonly measurement: string;
  readonly tags: SourceSeries["tags"];
  readonly length: number;
  /** Measurement and tags in the order of their labels. */
  readonly named: readonly KeyColumn[];
  /** Those that are shown. */
  readonly columns: readonly FluxColumn[];
  readonly bounds: readonly FluxColumn[];
  /** Where the field stands among `named`, and among `columns`. */
  readonly fieldPlaces: readonly [number, number];
}

/** Makes tables of the series in a range, with the columns that `from` returns. */
export class SeriesTables {
  private readonly bounds: readonly KeyColumn[];
  /** The same columns in all tables. */
  private readonly boundColumns: readonly FluxColumn[];
  private latest: SharedColumns | null = null;
  private readonly fields = new Map<string, KeyColumn>();

  /** @param shown labels of the columns that are read besides the time and the value: the others are only in the keys; null: all */
  constructor(
    { startNs, stopNs }: TimeBounds,
    private readonly shown: readonly string[] | null = null,
  ) {
    this.bounds = [
      { label: "_start", type: "time", value: new Time(startNs) },
      { label: "_stop", type: "time", value: new Time(stopNs) },
    ];
    this.boundColumns = this.bounds
      .filter(({ label }) => this.isShown(label))
      .map(({ label, type, value }) => FluxColumn.constant(label, type, value, 1));
  }

  /** A series with a column for each field, behind the others. */
  rows({ measurement, tags, timesNs, fields }: SourceRows): FluxTable {
    const length = timesNs.length;
    const shared = this.shared(measurement, tags, length);
    const columns = [...shared.bounds, new FluxColumn("_time", "time", timesNs, null, length), ...shared.columns];
    for (const { name, type, values, valid } of fields) columns.push(new FluxColumn(name, type, values, valid, length));
    return new FluxTable(new GroupKey([...this.bounds, ...shared.named]), columns, length);
  }

  table({ measurement, field, tags, type, timesNs, values, counts }: SourceSeries): FluxTable {
    const length = timesNs.length;
    const { named, columns: sharedColumns, bounds, fieldPlaces } = this.shared(measurement, tags, length);
    const [keyPlace, place] = fieldPlaces;
    const key: KeyColumn[] = [...this.bounds];
    for (let i = 0; i < keyPlace; i++) key.push(named[i]!);
    key.push(this.fieldColumn(field));
    for (let i = keyPlace; i < named.length; i++) key.push(named[i]!);
    const columns = [
      ...bounds,
      new FluxColumn("_time", "time", timesNs, null, length),
      new FluxColumn("_value", type, values, null, length),
    ];
    for (let i = 0; i < place; i++) columns.push(sharedColumns[i]!);
    if (this.isShown("_field")) columns.push(new FluxColumn("_field", "string", [field], null, length, 0));
    for (let i = place; i < sharedColumns.length; i++) columns.push(sharedColumns[i]!);
    if (counts !== undefined) columns.push(new FluxColumn(COUNTS, "int", counts, null, length));
    return new FluxTable(new GroupKey(key), columns, length);
  }

  private shared(measurement: string, tags: SourceSeries["tags"], length: number): SharedColumns {
    const { latest } = this;
    const isOfSeries = latest !== null && latest.tags === tags && latest.measurement === measurement;
    if (isOfSeries && latest.length === length) return latest;
    const named = isOfSeries ? latest.named : this.named(measurement, tags);
    const columns: FluxColumn[] = [];
    const fieldPlaces: [number, number] = [0, 0];
    for (const { label, value } of named) {
      const isShown = this.isShown(label);
      if (isShown) columns.push(new FluxColumn(label, "string", [value as string], null, length, 0));
      if (label >= "_field") continue;
      fieldPlaces[0]++;
      if (isShown) fieldPlaces[1]++;
    }
    const bounds = latest?.length === length ? latest.bounds : this.boundColumns.map((column) => column.slice(0, length));
    this.latest = { measurement, tags, length, named, columns, bounds, fieldPlaces };
    return this.latest;
  }

  private isShown(label: string): boolean {
    return this.shown === null || this.shown.includes(label);
  }

  /** Columns of the series before that have the same value are the same: keys are compared quickly then. */
  private named(measurement: string, tags: SourceSeries["tags"]): readonly KeyColumn[] {
    const named = namedColumns(measurement, tags);
    const before = this.latest?.named ?? [];
    for (let i = 0; i < named.length && i < before.length; i++) {
      if (named[i]!.value === before[i]!.value && named[i]!.label === before[i]!.label) named[i] = before[i]!;
    }
    return named;
  }

  private fieldColumn(field: string): KeyColumn {
    let column = this.fields.get(field);
    if (column === undefined) {
      column = { label: "_field", type: "string", value: field };
      this.fields.set(field, column);
    }
    return column;
  }
}

function namedColumns(measurement: string, tags: SourceSeries["tags"]): KeyColumn[] {
  const named: KeyColumn[] = [{ label: "_measurement", type: "string", value: measurement }];
  for (const [label, value] of tags) named.push({ label, type: "string", value });
  if (!isSorted(named)) named.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  return named;
}

/** The tables' rows from `start` to `stop`. @throws FluxError for tables that are the same but for the times they had */
function ranged(tables: Tables, start: Time, stop: Time): Tables {
  const seen = new Set<string>();
  return eachTable(tables, (table) => {
    const made = rowsWithin(table, start, stop);
    if (seen.has(made.key.text)) throw repeatedKey("range ", table.key);
    seen.add(made.key.text);
    return made;
  });
}

/** What `_start` and `_stop` become: a window that the range touches ends with it. */
function boundsWithin(key: GroupKey, start: Time, stop: Time): readonly [start: Time, stop: Time] {
  const [from, to] = ["_start", "_stop"].map((name) => key.columns.find(({ label }) => label === name)?.value);
  if (!(from instanceof Time) || !(to instanceof Time)) return [from instanceof Time ? from : start, to instanceof Time ? to : stop];
  if (from.ns >= stop.ns || to.ns <= start.ns) return [start, stop];
  return [from.ns > start.ns ? from : start, to.ns < stop.ns ? to : stop];
}

const BOUNDS = [
  ["start", "_start"],
  ["stop", "_stop"],
] as const;

function rowsWithin(table: FluxTable, start: Time, stop: Time): FluxTable {
  const times = table.column("_time");
  if (times === undefined) throw new FluxError("range error: supplied time column _time doesn't exist");
  if (times.type !== "time") throw new FluxError(`range error: provided time column _time is not of type time`);
  for (const [what, label] of BOUNDS) {
    const bound = table.column(label);
    if (bound !== undefined && bound.type !== "time") throw new FluxError(`range error: provided ${what} column _time is not of type time`);
  }
  const rows: number[] = [];
  for (let row = 0; row < table.rowCount; row++) {
    if (times.isNull(row)) continue;
    const { ns } = times.get(row) as Time;
    if (ns >= start.ns && ns < stop.ns) rows.push(row);
  }
  const [from, to] = boundsWithin(table.key, start, stop);
  const bounds: KeyColumn[] = [
    { label: "_start", type: "time", value: from },
    { label: "_stop", type: "time", value: to },
  ];
  const kept = table.take(Uint32Array.from(rows));
  const constant = ({ label, type, value }: KeyColumn) => FluxColumn.constant(label, type, value, kept.rowCount);
  const ofLabel = (label: string) => bounds.find((each) => each.label === label);
  // columns that are there stay where they are
  const added = bounds.filter(({ label }) => table.column(label) === undefined);
  const rest = kept.columns.map((column) => {
    const bound = ofLabel(column.label);
    return bound === undefined ? column : constant(bound);
  });
  const newToKey = bounds.filter(({ label }) => !table.key.has(label));
  const key = table.key.columns.map((column) => ofLabel(column.label) ?? column);
  return kept.with([...added.map(constant), ...rest], new GroupKey([...newToKey, ...key]));
}

export const yieldResult: NativeBody = (call) => {
  const node: StreamNode = streamOf(call, [call.stream()], ([tables]) => tables!, {
    resultName: call.string("name", "_result"),
    flow: "rows",
    // what is read on is no result alone
    sourceContext: () => (node.readers > 0 ? "" : null),
  });
  return node;
};

export const union: NativeBody = (call) => {
  const items = call.array("tables", new FluxArray([])).items;
  const given = items.filter((item) => item instanceof StreamNode);
  if (given.length < 2) throw new FluxError("union must have at least two streams as input");
  // a stream that is named twice is one
  const inputs = [...new Set(given)];
  return streamOf(call, inputs, (streams) => collect(chain(inArrival(inputs).map((place) => streams[place]!)), mergeTables));
};

/** Places of streams in the order in which their tables arrive: of those that come from one stream, the one with fewer operators on its
 *  way is first. */
function inArrival(inputs: readonly StreamNode[]): readonly number[] {
  const ways = inputs.map((input, place) => ({ place, ...wayOf(input) }));
  const sources = new Set(ways.map(({ source }) => source));
  const sorted = [...sources].flatMap((source) => ways.filter((way) => way.source === source).sort((a, b) => a.length - b.length));
  return sorted.map(({ place }) => place);
}

/** Where the tables of a stream come from, and how many operators they pass. */
function wayOf(stream: StreamNode): { readonly source: StreamNode; readonly length: number } {
  let [source, length] = [stream, 0];
  while (source.inputs.length === 1) {
    const input = source.inputs[0]!;
    if (!isOneStep(input, source)) length++;
    source = input;
  }
  return { source, length };
}

/** Rows that are sorted again are sorted once, and a limit of sorted rows is part of sorting them. */
function isOneStep({ operation, readers }: StreamNode, next: StreamNode): boolean {
  if (!(operation instanceof SortOperation) || readers > 1) return false;
  return next.operation instanceof SortOperation || (next.operation instanceof NumberedOperation && operation.isLimited);
}

function* chain(streams: readonly Tables[]): Tables {
  for (const stream of streams) yield* stream;
}
