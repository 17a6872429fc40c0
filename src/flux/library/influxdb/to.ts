// `to` and `wideTo`: rows as points of a bucket. What they write passes through them.
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { FluxColumn } from "../../tables/column.ts";
import type { Flow, StreamNode, Tables } from "../../tables/stream.ts";
import { type FluxTable, RowRecord } from "../../tables/table.ts";
import { FluxError, WriteError } from "../../values/flux-error.ts";
import { fullTimeText } from "../../values/text.ts";
import { type FluxFunction, FluxRecord, isNull, kindOf, Time, type Value } from "../../values/value.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { membersOf } from "../plan/read-members.ts";
import { checkOneOf, checkOwnOrganization, writtenBucketId } from "./bucket-arguments.ts";
import { LineWriter } from "./line-writer.ts";
import { remoteOf } from "./remote.ts";

/** Characters of a batch. */
const BATCH_LENGTH = 1 << 20;

/** What a table's rows are written as. */
type RowWriter = (lines: LineWriter, row: number) => void;

/** Writes line protocol. @returns what was refused, or null */
type LineTarget = (lines: string) => Promise<string | null>;

/** Where points go. */
interface Target {
  /** @throws FluxError: there is no such bucket */
  readonly check: (run: ScriptRun) => void;
  readonly open: (run: ScriptRun) => LineTarget;
}

/** The bucket of a call's arguments, here or on another host. */
function targetOf(call: NativeCall): Target {
  const [bucket, id] = [call.has("bucket") ? call.string("bucket") : null, call.has("bucketID") ? call.string("bucketID") : null];
  const remote = remoteOf(call);
  if (remote !== null) return { check: () => undefined, open: (run) => (lines) => remote.write(run, ["bucket", bucket ?? id!], lines) };
  const [organization, organizationId] = [call.string("org", ""), call.string("orgID", "")];
  const found = (run: ScriptRun): string => {
    checkOwnOrganization(run, organization, organizationId);
    return writtenBucketId(run, bucket, id);
  };
  const open = (run: ScriptRun): LineTarget => {
    const foundId = found(run);
    const { write } = run.services;
    if (write === undefined) throw new FluxError("writing is not available here");
    return (lines) => write(foundId, lines);
  };
  return { check: (run) => void found(run), open };
}

/** Sends batches on their way; the stream pauses until each has been written. */
class Batches {
  private readonly lines = new LineWriter(true);

  constructor(
    private readonly run: ScriptRun,
    private readonly write: LineTarget,
  ) {}

  *rows(count: number, write: RowWriter): Generator<null, void> {
    for (let row = 0; row < count; row++) {
      write(this.lines, row);
      if (this.lines.length >= BATCH_LENGTH) yield* this.flush();
    }
  }

  /** @throws WriteError: points were refused */
  *flush(): Generator<null, void> {
    const { run } = this;
    const text = this.lines.take();
    if (text === "") return;
    let failure: string | null = null;
    const written = this.write(text).then(
      (refused) => {
        failure = refused;
      },
      (error: unknown) => {
        failure = error instanceof Error ? error.message : String(error);
      },
    );
    yield* run.outside.pauseFor(written);
    if (failure !== null) throw new WriteError(failure);
  }
}

interface WriterParts {
  readonly prepare: (table: FluxTable) => RowWriter;
  readonly keep: (table: FluxTable) => FluxTable;
  readonly flow: Flow;
}

/** A node that writes; the script's result is named after it unless something follows. */
function writing(call: NativeCall, name: string, { prepare, keep, flow }: WriterParts): StreamNode {
  const target = targetOf(call);
  const body = function* ([tables]: readonly Tables[], run: ScriptRun): Tables {
    const batches = new Batches(run, target.open(run));
    for (const table of tables!) {
      if (table === null) {
        yield null;
        continue;
      }
      yield* batches.rows(table.rowCount, prepare(table));
      yield keep(table);
    }
    yield* batches.flush();
  };
  const node = streamOf(call, [call.stream()], body, { effect: name, handsOn: true, flow });
  node.onStart = target.check;
  call.run.effects.push(node);
  return node;
}

function checkArguments(call: NativeCall): void {
  if (call.has("bucket") && call.has("bucketID")) {
    throw new FluxError("cannot provide both `bucket` and `bucketID` parameters to the `to` function");
  }
  if (call.has("org") && call.has("orgID")) throw new FluxError("cannot provide both `org` and `orgID` parameters to the `to` function");
  if (!call.has("bucket")) call.string("bucketID");
  if (call.has("host")) call.string("token");
  else if (call.has("token")) throw new FluxError("unused arguments [token]");
}

const NEVER_TAGS: readonly string[] = ["_field", "_measurement", "_value"];
/** What a tag of these names would hide: the storage gives the field and the measurement. */
const RESERVED_TAGS: readonly string[] = ["_field", "_measurement"];

export const to: NativeBody = (call) => {
  checkArguments(call);
  const [timeLabel, measurementLabel] = [call.string("timeColumn", "_time"), call.string("measurementColumn", "_measurement")];
  const tagLabels = call.has("tagColumns") ? call.strings("tagColumns") : null;
  const fieldFn = call.has("fieldFn") ? call.function("fieldFn") : null;
  // columns that make fields are no tags
  const used = new Set([...NEVER_TAGS, ...(fieldFn === null ? [] : membersOf(fieldFn))]);
  const prepare = (table: FluxTable): RowWriter => {
    const measurement = stringColumn(table, measurementLabel);
    const times = table.column(timeLabel);
    if (times === undefined) throw new FluxError("no time column detected");
    if (times.type !== "time") throw new FluxError(`column ${timeLabel} of type ${times.type} is not of type time`);
    const isTag = ({ label, type }: FluxColumn) => (tagLabels === null ? type === "string" && !used.has(label) : tagLabels.includes(label));
    const isOther = ({ label }: FluxColumn) => label !== measurementLabel && label !== timeLabel;
    const tags = table.columns.filter((column) => isTag(column) && isOther(column));
    for (const { type } of tags) if (type !== "string") throw new FluxError("invalid type for tag column");
    const fields = fieldFn === null ? storedFields(table) : computedFields(table, fieldFn);
    return (lines, row) => {
      const time = times.get(row);
      if (!(time instanceof Time)) return;
      const named = tags.flatMap((tag) => (RESERVED_TAGS.includes(tag.label) ? [] : [[tag.label, tag.get(row)] as const]));
      lines.append(measurement.get(row), named, fields(row), time.ns);
    };
  };
  return writing(call, "to", { prepare, keep: (table) => withTimes(table, timeLabel), flow: "rows" });
};

function stringColumn(table: FluxTable, label: string): FluxColumn {
  const column = table.column(label);
  if (column === undefined) throw new FluxError(`no column with label ${label} exists`);
  if (column.type !== "string") throw new FluxError(`column ${label} of type ${column.type} is not of type string`);
  return column;
}

type FieldsOfRow = (row: number) => Iterable<readonly [string, Value]>;

function storedFields(table: FluxTable): FieldsOfRow {
  const [names, values] = [table.column("_field"), table.column("_value")];
  if (names === undefined) throw new FluxError("table has no _field column");
  if (values === undefined) throw new FluxError("table has no _value column");
  return (row) => {
    const name = names.get(row);
    return typeof name === "string" ? [[name, values.get(row)]] : [];
  };
}

function computedFields(table: FluxTable, fn: FluxFunction): FieldsOfRow {
  const make = fn.prepare(["r"]);
  const record = new RowRecord(table);
  return (row) => {
    record.row = row;
    const made = make(record);
    if (made instanceof FluxRecord) return checkedFields(made);
    throw new FluxError(`fieldFn must return an object, got ${kindOf(made)}`);
  };
}

/** @throws FluxError: a field of a type that is not stored */
function checkedFields(made: FluxRecord): Iterable<readonly [string, Value]> {
  const fields = [...made.entries()];
  for (const [, value] of fields) {
    if (!isNull(value) && !STORED_TYPES.includes(kindOf(value))) throw new FluxError(`unsupported field type ${kindOf(value)}`);
  }
  return fields;
}

const STORED_TYPES: readonly string[] = ["float", "int", "uint", "string", "time", "bool"];

/** Rows without a time are not written, and go no further. */
function withTimes(table: FluxTable, label: string): FluxTable {
  const times = table.column(label)!;
  if (times.valid === null) return table;
  return table.take(Uint32Array.from({ length: table.rowCount }, (_, row) => row).filter((row) => !times.isNull(row)));
}

export const wideTo: NativeBody = (call) => {
  if (!call.has("bucket") && !call.has("bucketID")) throw new FluxError("must specify bucket or bucketID");
  checkOneOf(call, "bucket", "bucketID");
  checkOneOf(call, "org", "orgID");
  return writing(call, "wide-to", { prepare: wideRows, keep: (table) => table, flow: "tables" });
};

const BOUNDS = ["_start", "_stop"];

/** Columns of the key are tags, all others fields. */
function wideRows(table: FluxTable): RowWriter {
  let measurement: Value | null = null;
  const tags: (readonly [string, Value])[] = [];
  for (const { label, type, value } of table.key.columns) {
    if (BOUNDS.includes(label)) continue;
    if (label === "_field") throw new FluxError(`found column "_field" in the group key; wideTo() expects pivoted data`);
    if (type !== "string") throw new FluxError(`group key column "${label}" has type ${type}; type string is required`);
    if (label === "_measurement") measurement = value;
    else tags.push([label, value]);
  }
  if (measurement === null) throw new FluxError('required column "_measurement" not in group key');
  const times = table.column("_time");
  if (times === undefined) throw new FluxError('input table is missing required column "_time"');
  if (times.type !== "time") throw new FluxError(`column "_time" has type ${times.type}; type time is required`);
  const others = new Set([...BOUNDS, "_measurement", "_time", ...tags.map(([label]) => label)]);
  const fields = table.columns.filter(({ label }) => !others.has(label));
  return (lines, row) => {
    const time = times.get(row);
    const values = fields.map((column) => [column.label, wideValue(column.get(row))] as const);
    if (time instanceof Time && !isNull(measurement)) lines.append(measurement, tags, values, time.ns);
  };
}

/** As recorded: times are texts there. */
function wideValue(value: Value): Value {
  return value instanceof Time ? fullTimeText(value.ns) : value;
}
