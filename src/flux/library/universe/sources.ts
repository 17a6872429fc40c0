// `from`, `range`, `yield`, `union`.

import type { SourceSeries } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn } from "../../tables/column.ts";
import { collect, eachTable, StreamNode, type Tables } from "../../tables/stream.ts";
import { FluxTable, GroupKey, type KeyColumn } from "../../tables/table.ts";
import { addDuration, MONTH_NS, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Duration, FluxArray, Time, type Value } from "../../values/value.ts";
import { mergeTables } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { FromNode, PushedNode } from "./pushed.ts";

const BUCKET_ID = /^[0-9a-f]{16}$/;

export const from: NativeBody = (call) => {
  if (!call.has("bucket") && !call.has("bucketID")) throw new FluxError("must specify one of bucket or bucketID");
  if (call.has("bucket") && call.has("bucketID")) throw new FluxError("must specify only one of bucket or bucketID");
  const name = call.has("bucket") ? call.string("bucket") : null;
  if (name === "") throw new FluxError("bucket name must not be empty");
  const id = name === null ? call.string("bucketID") : null;
  return new FromNode(call.site?.location ?? null, name ?? id!, (run) => bucketId(run, name, id));
};

export function bucketId(run: ScriptRun, name: string | null, id: string | null): string {
  if (id !== null && !BUCKET_ID.test(id)) {
    throw new FluxError("failed to initialize execute state: invalid bucket id: id must have a length of 16 bytes");
  }
  const found = run.source.buckets().find((bucket) => (name === null ? bucket.id === id : bucket.name === name));
  if (found === undefined) {
    throw new FluxError(`failed to initialize execute state: could not find bucket "${name ?? id}"`, "not found");
  }
  return found.id;
}

/** A point in time as an argument: a time, a duration from now, or seconds since 1970. */
export function timeArgument(value: Value, now: Time): Time {
  if (value instanceof Time) return value;
  // months count 30.4375 days here, as recorded
  if (value instanceof Duration) return addDuration(now, new Duration(0n, value.months * MONTH_NS + value.ns));
  if (typeof value === "bigint") return new Time(BigInt.asIntN(64, value * SECOND_NS));
  throw new FluxError("value is not a time");
}

export const range: NativeBody = (call) => {
  const now = call.run.nowTime;
  const start = timeArgument(call.value("start"), now);
  const stop = call.has("stop") ? timeArgument(call.value("stop"), now) : now;
  const input = call.stream();
  const bounds = { startNs: start.ns, stopNs: stop.ns };
  if (input instanceof FromNode) {
    if (start.ns >= stop.ns) throw new FluxError("error in building plan while starting program: cannot query an empty range");
    const read = (_: readonly Tables[], run: ScriptRun) => readTables(run, input, start, stop);
    return new PushedNode("range", [input], call.site?.location ?? null, read, { isGrouped: false, isWindowed: false }, bounds);
  }
  return streamOf(call, [input], ([tables]) => eachTable(tables!, (table) => within(table, start, stop)), { bounds });
};

function* readTables(run: ScriptRun, from: FromNode, start: Time, stop: Time): Tables {
  const bucketId = from.bucketId(run);
  for (const series of run.source.read({ bucketId, startNs: start.ns, stopNs: stop.ns })) {
    yield series === null ? null : seriesTable(series, start, stop);
  }
}

export function seriesTable({ measurement, field, tags, type, timesNs, values }: SourceSeries, start: Time, stop: Time): FluxTable {
  const length = timesNs.length;
  const named = [["_measurement", measurement] as const, ["_field", field] as const, ...tags];
  named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const key: KeyColumn[] = [
    { label: "_start", type: "time", value: start },
    { label: "_stop", type: "time", value: stop },
    ...named.map(([label, value]) => ({ label, type: "string", value }) as const),
  ];
  const constants = key.map((column) => FluxColumn.constant(column.label, column.type, column.value, length));
  const columns = [
    ...constants.slice(0, 2),
    new FluxColumn("_time", "time", timesNs, null, length),
    new FluxColumn("_value", type, values, null, length),
    ...constants.slice(2),
  ];
  return new FluxTable(new GroupKey(key), columns, length);
}

function within(table: FluxTable, start: Time, stop: Time): FluxTable {
  const times = table.column("_time");
  if (times === undefined) throw new FluxError("range error: supplied time column _time doesn't exist");
  if (times.type !== "time") throw new FluxError(`range error: provided column _time is not of type time`);
  const rows: number[] = [];
  for (let row = 0; row < table.rowCount; row++) {
    if (times.isNull(row)) continue;
    const { ns } = times.get(row) as Time;
    if (ns >= start.ns && ns < stop.ns) rows.push(row);
  }
  const bounds: KeyColumn[] = [
    { label: "_start", type: "time", value: start },
    { label: "_stop", type: "time", value: stop },
  ];
  const kept = table.take(Uint32Array.from(rows));
  const set = bounds.map(({ label, type, value }) => FluxColumn.constant(label, type, value, kept.rowCount));
  const isBound = (label: string) => label === "_start" || label === "_stop";
  const rest = kept.columns.filter(({ label }) => !isBound(label));
  const restOfKey = table.key.columns.filter(({ label }) => !isBound(label));
  return kept.with([...set, ...rest], new GroupKey([...bounds, ...restOfKey]));
}

export const yieldResult: NativeBody = (call) =>
  streamOf(call, [call.stream()], ([tables]) => tables!, {
    resultName: call.string("name", "_result"),
  });

export const union: NativeBody = (call) => {
  const items = call.array("tables", new FluxArray([])).items;
  const inputs = items.filter((item) => item instanceof StreamNode);
  if (inputs.length < 2) throw new FluxError("union must have at least two streams as input");
  return streamOf(call, inputs, (streams) => collect(chain(streams), mergeTables));
};

function* chain(streams: readonly Tables[]): Tables {
  for (const stream of streams) yield* stream;
}

export const limit = operator((call) => {
  const n = call.int("n");
  const offset = call.int("offset", 0);
  return (input) =>
    eachTable(input, (table) => {
      const from = Math.min(table.rowCount, Math.max(0, offset));
      const kept = table.slice(from, Math.max(from, Math.min(table.rowCount, from + n)));
      // as recorded: a table that loses all its rows goes, unless `n` is negative
      return kept.isEmpty && !table.isEmpty && n >= 0 ? null : kept;
    });
});

export const tail = operator((call: NativeCall) => {
  const n = call.int("n");
  const offset = call.int("offset", 0);
  return (input) =>
    eachTable(input, (table) => {
      const to = Math.max(0, table.rowCount - Math.max(0, offset));
      return table.slice(Math.min(to, Math.max(0, to - n)), to);
    });
});
