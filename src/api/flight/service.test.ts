// The RPCs against a backend that answers from a list: what is asked of it, what comes back, who is let in.
import { describe, expect, test } from "bun:test";
import { RecordBatchReader, Table, tableFromIPC, tableToIPC, type Vector, vectorFromArray } from "apache-arrow";
import { prng } from "../../../test/support/prng.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryRequest, QueryService } from "../../model/query/query.ts";
import { type Access, authorized } from "./access.ts";
import { Unimplemented } from "./grpc/status.ts";
import { type Caller, FlightService } from "./service.ts";
import {
  Action,
  ActionResult,
  ActionType,
  Any,
  BasicAuth,
  DESCRIPTOR,
  FlightData,
  FlightDescriptor,
  FlightInfo,
  HandshakeMessage,
  PutResult,
  SchemaResult,
  Ticket,
} from "./wire/flight-messages.ts";
import { encapsulated, type IpcMessage, splitWhole } from "./wire/ipc-messages.ts";
import { ClosePrepared, CreatePrepared, PreparedResult, PutPreparedResult, packAny, unpackAny } from "./wire/sql-messages.ts";

const SQL = "type.googleapis.com/arrow.flight.protocol.sql.";
const NO_BYTES = new Uint8Array(0);

/** Bytes of a message of one text or bytes member. */
function member(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (bytes.length > 127) throw new Error("for short values only");
  return Uint8Array.from([(number << 3) | 2, bytes.length, ...bytes]);
}
const command = (name: string, value: Uint8Array = NO_BYTES) => Any.encode({ typeUrl: SQL + name, value });
const statement = (query: string) => command("CommandStatementQuery", member(1, query));
const descriptor = (bytes: Uint8Array) => FlightDescriptor.encode({ type: DESCRIPTOR.command, command: bytes });
const ticket = (bytes: Uint8Array) => Ticket.encode({ ticket: bytes });

const ANSWER = new Table({ v: vectorFromArray([1.5, 2.5]), host: vectorFromArray(["a", "b"]) });
/** The columns of a table, without a batch. */
const columnsOf = (table: Table) => encapsulated(splitWhole(tableToIPC(table, "stream"))[0]!);
const DESCRIPTION = Buffer.concat([columnsOf(ANSWER), columnsOf(new Table({ $least: vectorFromArray([0.5]) }))]);

interface Asked {
  readonly requests: Omit<QueryRequest, "signal">[];
  readonly checks: [token: string | null, database: string | null][];
}

/** A service that lets in `secret` alone, and its two databases. */
function serviceWith(rows: Readonly<Record<string, unknown[][]>> = {}): { service: FlightService; asked: Asked } {
  const asked: Asked = { requests: [], checks: [] };
  const access: Access = {
    check(token, database) {
      asked.checks.push([token, database]);
      if (token !== "secret") throw new TsdbError("unauthenticated", "the request was not authenticated");
      if (database !== "d") throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
    },
  };
  const queries: QueryService = {
    async query({ signal: _, ...request }) {
      asked.requests.push(request);
      const found = Object.entries(rows).find(([text]) => request.statement.includes(text))?.[1];
      const columns = Object.fromEntries((found?.[0] ?? []).map((_value, i) => [`c${i}`, vectorFromArray(found!.map((row) => row[i]))]));
      const table = found === undefined ? tableToIPC(ANSWER, "stream") : tableToIPC(new Table(columns), "stream");
      const body = request.describe ? DESCRIPTION : table;
      return { contentType: "", body: new Uint8Array(body) };
    },
  };
  return { service: new FlightService(authorized(access, queries)), asked };
}

const caller = (headers: Record<string, string> = { database: "d" }, token: string | null = "secret"): Caller => ({
  token,
  header: (name) => headers[name],
  signal: new AbortController().signal,
});

async function rowsOf(messages: AsyncIterable<IpcMessage> | Iterable<IpcMessage>): Promise<object[]> {
  const parts: Uint8Array[] = [];
  for await (const message of messages) parts.push(encapsulated(message));
  return tableFromIPC(Buffer.concat(parts))
    .toArray()
    .map((row) => ({ ...row.toJSON() }));
}

const ROWS = [
  { v: 1.5, host: "a" },
  { v: 2.5, host: "b" },
];

describe("statements", () => {
  test("a JSON ticket names database, statement and parameters", async () => {
    const { service, asked } = serviceWith();
    const json = JSON.stringify({ database: "d", sql_query: "SELECT $a", params: { a: 1 } });
    expect(await rowsOf(await service.doGet(caller({}), ticket(Buffer.from(json))))).toEqual(ROWS);
    expect(asked.requests).toEqual([{ database: "d", statement: "SELECT $a", params: { a: 1n }, format: "flight", queryType: "sql" }]);
  });

  test("Flight SQL: info, schema and rows", async () => {
    const { service, asked } = serviceWith();
    const asks = descriptor(statement("SELECT 1"));
    const info = FlightInfo.decode(await service.getFlightInfo(caller(), asks));
    expect(RecordBatchReader.from(info.schema).open().schema.names).toEqual(["v", "host"]);
    expect([info.totalRecords, info.totalBytes]).toEqual([-1n, -1n]);
    expect(info.descriptor).toEqual(FlightDescriptor.decode(asks));
    expect(SchemaResult.decode(await service.getSchema(caller(), asks)).schema).toEqual(info.schema);
    // the ticket says all: the call needs no database
    const given = info.endpoints[0]!.ticket!.ticket;
    expect(await rowsOf(await service.doGet(caller({}), ticket(given)))).toEqual(ROWS);
    expect(asked.requests.map(({ statement: text, describe: isDescribed, queryType }) => [text, isDescribed, queryType])).toEqual([
      ["SELECT 1", true, "flightsql"],
      ["SELECT 1", true, "flightsql"],
      ["SELECT 1", undefined, "flightsql"],
    ]);
  });

  test("a command as a ticket takes the call's database", async () => {
    const { service } = serviceWith();
    expect(await rowsOf(await service.doGet(caller(), ticket(statement("SELECT 1"))))).toEqual(ROWS);
  });

  test("a prepared statement, with parameters and without", async () => {
    const { service, asked } = serviceWith();
    const create = packAny(CreatePrepared, { query: "SELECT $least" });
    const [result] = await service.doAction(caller(), Action.encode({ type: "CreatePreparedStatement", body: create }));
    const { handle, datasetSchema, parameterSchema } = unpackAny(PreparedResult, ActionResult.decode(result!).body);
    expect(RecordBatchReader.from(datasetSchema).open().schema.names).toEqual(["v", "host"]);
    expect(RecordBatchReader.from(parameterSchema).open().schema.names).toEqual(["$least"]);
    const bound = await put(service, handle, { least: vectorFromArray([0.5]) });
    for (const prepared of [handle, bound]) {
      const asks = command("CommandPreparedStatementQuery", new Uint8Array([0x0a, ...varint(prepared.length), ...prepared]));
      const { endpoints } = FlightInfo.decode(await service.getFlightInfo(caller(), descriptor(asks)));
      expect(await rowsOf(await service.doGet(caller({}), ticket(endpoints[0]!.ticket!.ticket)))).toEqual(ROWS);
    }
    expect(asked.requests.map(({ params }) => params)).toEqual([{}, {}, {}, { least: 0.5 }, { least: 0.5 }]);
    const close = packAny(ClosePrepared, { handle });
    expect(await service.doAction(caller(), Action.encode({ type: "ClosePreparedStatement", body: close }))).toEqual([]);
  });

  test.each([
    ["with a dollar", { $least: vectorFromArray([0.5]) }, { least: 0.5 }],
    ["by place", { "0": vectorFromArray(["by place"]) }, { least: "by place" }],
    ["large", { least: vectorFromArray([2n ** 62n]) }, { least: 2n ** 62n }],
    ["true", { least: vectorFromArray([true]) }, { least: true }],
    ["no parameters", {}, {}],
  ] as const)("parameters: %s", async (_, columns, params) => {
    const { service, asked } = serviceWith();
    const handle = await put(service, unpackedHandle("SELECT $least"), columns as never);
    const asks = command("CommandPreparedStatementQuery", new Uint8Array([0x0a, ...varint(handle.length), ...handle]));
    await service.doGet(caller(), ticket(asks));
    expect(asked.requests[0]!.params).toEqual(params);
  });

  test.each([
    ["too many rows", { least: vectorFromArray(Array(1001).fill(1)) }, /parameters are at most 1000 rows, got 1001/],
    ["too many", { a: vectorFromArray([1]), b: vectorFromArray([1]) }, /got 2 parameters \(a, b\), want 1 \(\$least\)/],
    ["a list", { least: vectorFromArray([[1]]) }, /parameter least: a value of type list cannot be bound/],
  ])("refused: %s", async (_, columns, message) => {
    const { service } = serviceWith();
    await expect(put(service, unpackedHandle("SELECT $least"), columns as never)).rejects.toThrow(message);
  });
});

describe("catalogs, schemas, tables and server facts", () => {
  const catalogRows = {
    "information_schema.schemata": [["information_schema"], ["iox"], ["system"]],
    "information_schema.tables": [
      ["information_schema", "tables", "VIEW"],
      ["iox", "cpu", "BASE TABLE"],
      ["iox", "Cpu_load", "BASE TABLE"],
      ["system", "queries", "BASE TABLE"],
    ],
    "information_schema.columns": [
      ["iox", "cpu", "host", "YES", "Dictionary(Int32, Utf8)"],
      ["iox", "cpu", "time", "NO", "Timestamp(ns)"],
      ["iox", "cpu", "v", "YES", "Float64"],
      ["system", "queries", "running", "NO", "Boolean"],
    ],
  };
  const ask = async (asks: Uint8Array, headers?: Record<string, string>) => {
    const { service } = serviceWith(catalogRows);
    const info = FlightInfo.decode(await service.getFlightInfo(caller(headers), descriptor(asks)));
    const messages = [...((await service.doGet(caller(headers), ticket(info.endpoints[0]!.ticket!.ticket))) as IpcMessage[])];
    expect(encapsulated(messages[0]!)).toEqual(info.schema as Uint8Array<ArrayBuffer>);
    return rowsOf(messages);
  };
  const names = async (asks: Uint8Array, headers?: Record<string, string>) =>
    (await ask(asks, headers)).map((row) => Object.values(row).slice(1).join("."));

  test("catalogs and types of tables", async () => {
    expect(await ask(command("CommandGetCatalogs"))).toEqual([{ catalog_name: "public" }]);
    expect(await ask(command("CommandGetTableTypes"))).toEqual([{ table_type: "BASE TABLE" }, { table_type: "VIEW" }]);
  });

  test.each([
    ["all", NO_BYTES, ["information_schema", "iox", "system"]],
    ["by a pattern", member(2, "i%"), ["information_schema", "iox"]],
    ["of the catalog", member(1, "public"), ["information_schema", "iox", "system"]],
    ["of another catalog", member(1, "other"), []],
    ["without a catalog", member(1, ""), []],
  ])("schemas: %s", async (_, filter, want) => expect(await names(command("CommandGetDbSchemas", filter))).toEqual(want));

  const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  const [cpu, load] = ["iox.cpu.BASE TABLE", "iox.Cpu_load.BASE TABLE"];
  const [view, queries] = ["information_schema.tables.VIEW", "system.queries.BASE TABLE"];
  test.each([
    ["all", NO_BYTES, [view, cpu, load, queries]],
    ["by schema", member(2, "iox"), [cpu, load]],
    ["by name", member(3, "c%"), [cpu]],
    ["by name, _ is any character", member(3, "_pu"), [cpu]],
    ["by name, \\ takes it literally", member(3, "%\\_%"), [load]],
    ["by type", member(4, "VIEW"), [view]],
    ["by several types", join(member(4, "VIEW"), member(4, "NONE")), [view]],
    ["by everything", join(member(1, "public"), member(2, "s%"), member(3, "q%"), member(4, "BASE TABLE")), [queries]],
    ["of another catalog", member(1, "x"), []],
  ])("tables: %s", async (_, filter, want) => expect(await names(command("CommandGetTables", filter))).toEqual(want));

  test("tables by the name that some tools look for", async () => {
    const headers = { database: "d", "x-influxdata-base-table-type": "TABLE" };
    expect(await names(command("CommandGetTables", member(4, "TABLE")), headers)).toEqual([
      "iox.cpu.TABLE",
      "iox.Cpu_load.TABLE",
      "system.queries.TABLE",
    ]);
    expect(await ask(command("CommandGetTableTypes"), headers)).toEqual([{ table_type: "TABLE" }, { table_type: "VIEW" }]);
    await expect(ask(command("CommandGetTables"), { database: "d", "x-influxdata-base-table-type": "x" })).rejects.toThrow(
      /BASE TABLE or TABLE/,
    );
  });

  test("tables with their columns", async () => {
    const rows = await ask(command("CommandGetTables", join(member(3, "cpu"), new Uint8Array([5 << 3, 1]))));
    const { table_schema: bytes } = rows[0] as { table_schema: Uint8Array };
    const { fields } = RecordBatchReader.from(bytes).open().schema;
    expect(fields.map(({ name, type, nullable, metadata }) => [name, String(type), nullable, metadata.get("iox::column::type")])).toEqual([
      ["host", "Utf8", true, "iox::column_type::tag"],
      ["time", "Timestamp<NANOSECOND>", false, "iox::column_type::timestamp"],
      ["v", "Float64", true, "iox::column_type::field::float"],
    ]);
  });

  test.each(["CommandGetPrimaryKeys", "CommandGetExportedKeys", "CommandGetImportedKeys", "CommandGetCrossReference"])(
    "no keys: %s",
    async (name) => {
      expect(await ask(command(name))).toEqual([]);
    },
  );

  test("the server's facts: all, some, none that are known", async () => {
    const all = await ask(command("CommandGetSqlInfo"));
    expect(all.length).toBeGreaterThan(80);
    expect(all[0]).toEqual({ info_name: 0, value: "InfluxDB IOx" });
    const packed = (...ids: number[]) => command("CommandGetSqlInfo", Uint8Array.from([0x0a, ids.length, ...ids]));
    expect(await ask(packed(3, 0))).toEqual([
      { info_name: 0, value: "InfluxDB IOx" },
      { info_name: 3, value: true },
    ]);
    expect(await ask(packed(99))).toEqual([]);
  });

  test("GetXdbcTypeInfo: all types, or one", async () => {
    const all = (await ask(command("CommandGetXdbcTypeInfo"))) as { type_name: string; data_type: number }[];
    expect(all.map((type) => type.data_type)).toEqual(all.map((type) => type.data_type).sort((a, b) => a - b));
    const one = await ask(command("CommandGetXdbcTypeInfo", new Uint8Array([0x08, 12])));
    expect(one).toMatchObject([{ type_name: "VARCHAR", data_type: 12, literal_prefix: "'", nullable: 1, num_prec_radix: null }]);
  });
});

describe("tokens of calls", () => {
  const calls: [what: string, call: (service: FlightService, who: Caller) => Promise<unknown>][] = [
    ["DoGet of a statement", (service, who) => service.doGet(who, ticket(statement("SELECT 1")))],
    ["DoGet of a list", (service, who) => service.doGet(who, ticket(command("CommandGetCatalogs")))],
    ["GetFlightInfo", (service, who) => service.getFlightInfo(who, descriptor(statement("SELECT 1")))],
    ["GetSchema", (service, who) => service.getSchema(who, descriptor(command("CommandGetSqlInfo")))],
    ["CreatePreparedStatement", (service, who) => service.doAction(who, create("SELECT 1"))],
    ["ClosePreparedStatement", (service, who) => service.doAction(who, close("SELECT 1"))],
    ["DoPut", (service, who) => put(service, unpackedHandle("SELECT 1"), {}, who)],
  ];
  const kindOf = (promise: Promise<unknown>) => promise.then(() => "answered", ({ kind }: TsdbError) => kind); // biome-ignore format: one step

  test.each(calls)("%s", async (_, call) => {
    const { service } = serviceWith();
    expect(await kindOf(call(service, caller()))).toBe("answered");
    expect(await kindOf(call(service, caller({ database: "d" }, null)))).toBe("unauthenticated");
    expect(await kindOf(call(service, caller({ database: "d" }, "wrong")))).toBe("unauthenticated");
    expect(await kindOf(call(service, caller({ database: "other" })))).toBe("unknown_database");
    expect(await kindOf(call(service, caller({})))).toBe("bad_request");
    // every name of the header
    for (const name of ["bucket", "bucket-name", "iox-namespace-name"])
      expect(await kindOf(call(service, caller({ [name]: "d" })))).toBe("answered");
    expect(await kindOf(call(service, caller({ database: "d", bucket: "d" })))).toBe("answered");
    expect(await kindOf(call(service, caller({ database: "d", bucket: "e" })))).toBe("bad_request");
  });

  const unreadable = "SELECT 'open";
  const prepared = command("CommandPreparedStatementQuery", member(1, new Uint8Array([255])));
  test.each<(typeof calls)[number]>([
    ["DoGet", (service, who) => service.doGet(who, ticket(prepared))],
    ["GetFlightInfo", (service, who) => service.getFlightInfo(who, descriptor(prepared))],
    ["GetSchema", (service, who) => service.getSchema(who, descriptor(prepared))],
    ["CreatePreparedStatement", (service, who) => service.doAction(who, create(unreadable))],
    [
      "ClosePreparedStatement",
      (service, who) => {
        const body = packAny(ClosePrepared, { handle: new Uint8Array([255]) });
        return service.doAction(who, Action.encode({ type: "ClosePreparedStatement", body }));
      },
    ],
  ])("neither statement nor handle is read before the token: %s", async (_, call) => {
    const { service } = serviceWith();
    expect(await kindOf(call(service, caller({ database: "d" }, null)))).toBe("unauthenticated");
    expect(await kindOf(call(service, caller()))).toMatch(/^bad_/);
  });

  test.each(["é", "a b", "a\nb", "a\0", "x".repeat(4097), ""])(
    "a handshake with a password that is no token (%#) gives back none",
    (password) => {
      const { service } = serviceWith();
      const hello = HandshakeMessage.encode({ payload: BasicAuth.encode({ username: "u", password }) });
      expect(service.handshake(caller({}, null), hello).token).toBeNull();
      expect(service.handshake(caller({}, password), undefined).token).toBeNull();
    },
  );

  test("a handshake gives back the token, wherever it was", () => {
    const { service } = serviceWith();
    const hello = HandshakeMessage.encode({ protocolVersion: 7n, payload: BasicAuth.encode({ username: "u", password: "secret" }) });
    const { token, reply } = service.handshake(caller({}, null), hello);
    expect(token).toBe("secret");
    expect(HandshakeMessage.decode(reply)).toEqual(HandshakeMessage.decode(hello));
    expect(service.handshake(caller({}, "header"), hello).token).toBe("header");
    expect(service.handshake(caller({}, null), undefined).token).toBeNull();
    expect(service.handshake(caller({}, null), HandshakeMessage.encode({ payload: new Uint8Array([255]) })).token).toBeNull();
    expect(() => service.handshake(caller({}, null), new Uint8Array([255]))).toThrow(TsdbError);
  });
});

describe("commands and calls that are not offered", () => {
  const { service } = serviceWith();
  test.each([
    ["a path", () => service.getFlightInfo(caller(), FlightDescriptor.encode({ type: DESCRIPTOR.path, path: ["x"] }))],
    ["an unknown command", () => service.getFlightInfo(caller(), descriptor(command("CommandStatementSubstraitPlan")))],
    ["an unknown action", () => service.doAction(caller(), Action.encode({ type: "BeginTransaction" }))],
    ["a transaction", () => service.doAction(caller(), create("SELECT 1", new Uint8Array([1])))],
    [
      "an update",
      () => service.doPut(caller(), one(FlightData.encode({ descriptor: FlightDescriptor.decode(descriptor(statement("x"))) }))),
    ],
    [
      "an update of a client that waits for the answer before it ends its messages",
      () => service.doPut(caller(), unended(FlightData.encode({ descriptor: FlightDescriptor.decode(descriptor(statement("x"))) }))),
    ],
  ])("%s", async (_, call) => expect(call()).rejects.toThrow(Unimplemented));

  test("actions are listed", () => {
    expect(service.listActions().map((type) => ActionType.decode(type).type)).toEqual([
      "CreatePreparedStatement",
      "ClosePreparedStatement",
    ]);
  });
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`random and damaged messages are refused, never worse, seed ${SEED}`, async () => {
  const { service } = serviceWith();
  const below = prng(SEED);
  const handle = await put(service, unpackedHandle("SELECT $a"), { a: vectorFromArray(["text"]) });
  const prepared = command("CommandPreparedStatementQuery", new Uint8Array([0x0a, ...varint(handle.length), ...handle]));
  const putData = FlightData.encode({
    descriptor: FlightDescriptor.decode(descriptor(prepared)),
    ...parameterMessages({ a: vectorFromArray(["x"]) })[0]!,
  });
  const good = [ticket(prepared), descriptor(prepared), descriptor(statement("SELECT 1")), create("SELECT $a"), close("SELECT 1"), putData];
  const batch = parameterMessages({ a: vectorFromArray(["x"]) })[1]!;
  for (let round = 0; round < 3000; round++) {
    const from = good[below(good.length)]!;
    const bytes = below(5) === 0 ? Uint8Array.from({ length: below(64) }, () => below(256)) : Uint8Array.from(from);
    for (let change = below(6); change > 0 && bytes.length > 0; change--) bytes[below(bytes.length)] = below(256);
    const damagedBatch = FlightData.encode({ ...batch, header: damage(batch.header, below) });
    const calls = [
      () => service.doGet(caller(), bytes),
      () => service.getFlightInfo(caller(), bytes),
      () => service.getSchema(caller(), bytes),
      () => service.doAction(caller(), bytes),
      () => service.doPut(caller(), all([below(2) === 0 ? bytes : putData, damagedBatch])),
      async () => service.handshake(caller(), bytes),
    ];
    for (const call of calls) {
      const error = await call().then(() => undefined, (caught: unknown) => caught); // biome-ignore format: one step
      const isKnown = error === undefined || error instanceof TsdbError || error instanceof Unimplemented;
      if (!isKnown) throw error;
    }
  }
}, 30_000);

function damage(bytes: Uint8Array, below: (n: number) => number): Uint8Array {
  const damaged = Uint8Array.from(bytes);
  for (let change = 1 + below(4); change > 0; change--) damaged[below(damaged.length)] = below(256);
  return damaged;
}

const create = (query: string, transactionId?: Uint8Array) =>
  Action.encode({ type: "CreatePreparedStatement", body: packAny(CreatePrepared, { query, ...(transactionId && { transactionId }) }) });
const close = (query: string) =>
  Action.encode({ type: "ClosePreparedStatement", body: packAny(ClosePrepared, { handle: unpackedHandle(query) }) });

/** The handle of a short statement. */
function unpackedHandle(query: string): Uint8Array {
  return Any.encode({ typeUrl: "type.googleapis.com/tsdb.flight.PreparedStatement", value: member(1, query) });
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

function parameterMessages(columns: Record<string, Vector>): IpcMessage[] {
  return splitWhole(tableToIPC(new Table(columns), "stream"));
}

/** Binds parameters and gives the new handle. */
async function put(
  service: FlightService,
  handle: Uint8Array,
  columns: Record<string, Vector>,
  who: Caller = caller(),
): Promise<Uint8Array> {
  const asks = command("CommandPreparedStatementQuery", new Uint8Array([0x0a, ...varint(handle.length), ...handle]));
  const messages = parameterMessages(columns).map((message, i) =>
    FlightData.encode({ ...message, ...(i === 0 && { descriptor: { type: DESCRIPTOR.command, command: asks, path: [] } }) }),
  );
  const { appMetadata } = PutResult.decode(await service.doPut(who, all(messages)));
  return PutPreparedResult.decode(appMetadata).handle!;
}

async function* all(messages: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* messages;
}
const one = (message: Uint8Array) => all([message]);

async function* unended(message: Uint8Array): AsyncGenerator<Uint8Array> {
  yield message;
  await new Promise(() => {});
}
