// Package `experimental/mqtt`: messages to brokers, and rows as messages of line protocol.
import type { MqttMessage, MqttService } from "../../../model/query/mqtt-service.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { FluxColumn } from "../../tables/column.ts";
import type { Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { FluxError, WriteError } from "../../values/flux-error.ts";
import { Time } from "../../values/value.ts";
import { LineWriter } from "../influxdb/line-writer.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { millisecondsOf } from "./http-call.ts";

const CLIENT_ID = "flux-mqtt";
const CONNECT_MS = 1000;
/** Characters of the message of a table; the server's limit of bytes is below. */
const MESSAGE_LENGTH_MAX = 32 * 1024 * 1024;
/** Rows between two pauses. */
const PART_ROWS = 5000;

type Envelope = Omit<MqttMessage, "topic" | "payload">;

/** What both functions say of the broker and the delivery. */
function envelopeOf(call: NativeCall): Envelope {
  const broker = call.string("broker");
  if (call.has("username") && !call.has("password")) throw new FluxError("password required with username");
  const login = call.has("username") ? { username: call.string("username"), password: call.string("password") } : null;
  const qos = call.int("qos", 0);
  if (qos !== 0 && qos !== 1 && qos !== 2) throw new FluxError(`qos must be 0, 1 or 2, but was ${qos}`);
  const timeoutMs = call.has("timeout") ? millisecondsOf(call.duration("timeout")) : CONNECT_MS;
  return { broker, qos, login, timeoutMs, retain: call.bool("retain", false), clientId: call.string("clientid", CLIENT_ID) };
}

function serviceOf({ services }: ScriptRun): MqttService {
  if (services.mqtt === undefined) throw new FluxError("MQTT brokers are not available here");
  return services.mqtt;
}

const publish: NativeBody = (call) => {
  const message = { ...envelopeOf(call), topic: call.string("topic"), payload: call.string("message") };
  if (message.topic === "") throw new FluxError("empty topic");
  if (message.payload === "") throw new FluxError("empty message");
  const service = serviceOf(call.run);
  return call.run.outside.call(async () => {
    try {
      await service(message);
      return true;
    } catch (error) {
      throw new FluxError(error instanceof Error ? error.message : String(error));
    }
  });
};

/** How rows become lines. */
interface RowShape {
  /** Empty: the column `_measurement` has it. */
  readonly name: string;
  readonly timeColumn: string;
  readonly tagColumns: readonly string[];
  readonly valueColumns: readonly string[];
}

const to: NativeBody = (call) => {
  const envelope = envelopeOf(call);
  const topic = call.string("topic", "");
  const values = call.strings("valueColumns", []);
  const shape: RowShape = {
    name: call.string("name", ""),
    timeColumn: call.string("timeColumn", "_time"),
    tagColumns: call.strings("tagColumns", []),
    valueColumns: values.length === 0 ? ["_value"] : values,
  };
  const body = function* ([tables]: readonly Tables[], run: ScriptRun): Tables {
    const service = serviceOf(run);
    for (const table of tables!) {
      if (table === null) {
        yield null;
        continue;
      }
      const message = yield* messageOf(table, shape);
      if (message.payload !== "")
        yield* sent(run, service({ ...envelope, topic: topic === "" ? message.topic : topic, payload: message.payload }));
      yield table;
    }
  };
  const node = streamOf(call, [call.stream()], body, { effect: "toMQTT" });
  call.run.effects.push(node);
  return node;
};

function* sent(run: ScriptRun, publication: Promise<void>): Generator<null, void, void> {
  let failure: string | null = null;
  const settled = publication.catch((error: unknown) => {
    failure = error instanceof Error ? error.message : String(error);
  });
  yield* run.outside.pauseFor(settled);
  if (failure !== null) throw new WriteError(failure);
}

/** The rows of a table as lines, and the topic that the first of them has: `/measurement/tag/value`. */
function* messageOf(table: FluxTable, shape: RowShape): Generator<null, { readonly topic: string; readonly payload: string }, void> {
  const { times, names, tags, fields } = columnsOf(table, shape);
  const lines = new LineWriter();
  let topic = "";
  for (let row = 0; row < table.rowCount; row++) {
    if (row % PART_ROWS === PART_ROWS - 1) yield null;
    const time = times.get(row);
    if (!(time instanceof Time)) continue;
    const name = names === null ? shape.name : names.get(row);
    const tagged = tags.map((column) => [column.label, column.get(row)] as const);
    const valued = fields.map((column) => [column.label, column.get(row)] as const);
    lines.append(name, tagged, valued, time.ns);
    if (lines.length > MESSAGE_LENGTH_MAX) throw new FluxError(`the message of a table is longer than ${MESSAGE_LENGTH_MAX} bytes`);
    if (topic !== "" || lines.length === 0) continue;
    topic = ["", name, ...tagged.filter(([, value]) => typeof value === "string" && value !== "").flat()].join("/");
  }
  return { topic, payload: lines.take() };
}

function columnsOf(table: FluxTable, { name, timeColumn, tagColumns, valueColumns }: RowShape) {
  const times = table.column(timeColumn);
  if (times === undefined) throw new FluxError(`no time column ${JSON.stringify(timeColumn)} to write as a message`);
  if (times.type !== "time") throw new FluxError(`invalid type for time column ${JSON.stringify(timeColumn)}: ${times.type}`);
  const names = name === "" ? stringColumn(table.column("_measurement"), "measurement") : null;
  const others = table.columns.filter((column) => column !== times && column !== names);
  const tags = others.filter(({ label }) => tagColumns.includes(label)).map((column) => stringColumn(column, "tag"));
  const fields = others.filter((column) => valueColumns.includes(column.label) && !tags.includes(column));
  if (fields.length === 0) throw new FluxError(`none of the value columns ${JSON.stringify(valueColumns).slice(0, 200)} is in the table`);
  return { times, names, tags, fields: fields.sort((a, b) => (a.label < b.label ? -1 : 1)) };
}

function stringColumn(column: FluxColumn | undefined, what: string): FluxColumn {
  if (column === undefined) throw new FluxError('neither "name" nor a column "_measurement" names the measurement');
  if (column.type !== "string") throw new FluxError(`invalid type for ${what} column ${JSON.stringify(column.label)}: ${column.type}`);
  return column;
}

export const MQTT: LibraryPackage = {
  path: "experimental/mqtt",
  name: "mqtt",
  source: `
builtin to : (<-tables: stream[A], broker: string, ?topic: string, ?qos: int, ?retain: bool, ?clientid: string, ?username: string, ?password: string, ?name: string, ?timeout: duration, ?timeColumn: string, ?tagColumns: [string], ?valueColumns: [string]) => stream[B] where A: Record, B: Record
builtin publish : (broker: string, topic: string, message: string, ?qos: int, ?retain: bool, ?clientid: string, ?username: string, ?password: string, ?timeout: duration) => bool
`,
  natives: { to, publish },
};
