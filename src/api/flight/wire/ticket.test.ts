// Tickets as the vendor's clients write them, JSON and protobuf, and as they should not.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { TsdbError } from "../../../model/errors.ts";
import { Any, QUERY_TYPE, ReadInfo } from "./flight-messages.ts";
import { packAny, StatementTicket } from "./sql-messages.ts";
import { decodeTicket, statementTicket, ticketFor } from "./ticket.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const json = (members: object) => encode(JSON.stringify(members));

const statement = (members: object) => ({ is: "statement", database: "d", statement: "SELECT 1", language: "sql", params: {}, ...members });

describe("JSON", () => {
  const READ: [ticket: object, want: object][] = [
    [{ database: "d", sql_query: "SELECT 1", query_type: "sql", params: {}, is_debug: false }, {}],
    [{ database: "d", sql_query: "SELECT 1" }, {}],
    [{ namespace_name: "d", sql_query: "SELECT 1" }, {}],
    [{ bucket: "d", sql_query: "SELECT 1" }, {}],
    [{ "bucket-name": "d", sql_query: "SELECT 1" }, {}],
    [{ database: "d", sql_query: "SELECT 1", query_type: null, params: null }, {}],
    [
      { database: "d", sql_query: "SHOW MEASUREMENTS", query_type: "influxql" },
      { statement: "SHOW MEASUREMENTS", language: "influxql" },
    ],
    [
      { database: "d", sql_query: "SELECT 1", params: { a: "x", b: 1.5, c: true, d: null } },
      { params: { a: "x", b: 1.5, c: true, d: null } },
    ],
    [{ database: "d", sql_query: "SELECT 1", something: "else" }, {}],
  ];
  test.each(READ)("%j", (ticket, want) => expect(decodeTicket(json(ticket))).toEqual(statement(want) as never));

  test("integers keep all digits, and blanks before it do not matter", () => {
    const ticket = encode(' \n\t{"database":"d","sql_query":"SELECT 1","params":{"a":9223372036854775807}}');
    expect(decodeTicket(ticket)).toEqual(statement({ params: { a: 9223372036854775807n } }) as never);
  });

  const REFUSED: [ticket: string, message: RegExp][] = [
    ["{", /serde json error/],
    ['{"database":"d"}', /missing field `sql_query`/],
    ['{"sql_query":"SELECT 1"}', /missing field `database`/],
    ['{"database":1,"sql_query":"SELECT 1"}', /`database` must be a string/],
    ['{"database":"d","sql_query":["SELECT 1"]}', /`sql_query` must be a string/],
    ['{"database":{"toString":1,"valueOf":2},"sql_query":"SELECT 1"}', /`database` must be a string, got an object/],
    ['{"database":"d","sql_query":"SELECT 1","query_type":{"toString":1}}', /Unknown query type.*got an object/],
    ['{"database":"d","bucket":"e","sql_query":"SELECT 1"}', /the database is given twice, as database and bucket/],
    ['{"database":"d","sql_query":"SELECT 1","query_type":"flux"}', /Unknown query type. Expected 'sql' or 'influxql', got flux/],
    ['{"database":"d","sql_query":"SELECT 1","params":{"a":{}}}', /parameter `a` must be/],
    ['{"database":"d","sql_query":"SELECT 1","params":[1]}', /`params` must be an object/],
    ['{"database":"d","sql_query":"SELECT 1","is_debug":"yes"}', /`is_debug` must be true or false/],
    [`{"a":${"[".repeat(100_000)}`, /serde json error/],
  ];
  test.each(REFUSED)("%.80s", (ticket, message) => expectRefused(encode(ticket), message));
});

describe("protobuf", () => {
  const info = { database: "d", query: "SELECT 1" };
  const want = statement({});

  test("ReadInfo as an Any, on its own, and in a ticket of Flight SQL", () => {
    expect(decodeTicket(packAny(ReadInfo, info))).toEqual(want as never);
    expect(decodeTicket(ReadInfo.encode(info))).toEqual(want as never);
    expect(decodeTicket(packAny(StatementTicket, { handle: ReadInfo.encode(info) }))).toEqual(want as never);
  });

  test("byte by byte, from influxdata.iox.querier.v1", () => {
    // ReadInfo: database = 1, sql_query = 2, query_type = 3, params = 6; QueryParam: name = 1, int64 = 5
    const bytes = Uint8Array.fromHex("0a0164" + "120853454c4543542031" + "1801" + "32050a01612807");
    expect(decodeTicket(bytes)).toEqual(statement({ params: { a: 7n } }) as never);
  });

  test("parameters of every type", () => {
    const params = [
      { name: "s", string: "" },
      { name: "b", boolean: false },
      { name: "f", float64: 0 },
      { name: "i", int64: -(2n ** 63n) },
      { name: "u", uint64: 2n ** 64n - 1n },
      { name: "n", null: 0 },
      { name: "o" },
    ].map((param) => ({ ...NO_VALUE, ...param }));
    const found = decodeTicket(packAny(ReadInfo, { ...info, params }));
    const values = { s: "", b: false, f: 0, i: -(2n ** 63n), u: 2n ** 64n - 1n, n: null, o: null };
    expect(found).toEqual(statement({ params: values }) as never);
  });

  test("query types of tickets: sql and influxql", () => {
    expect(decodeTicket(statementTicket("d", "influxql", "SHOW DATABASES"))).toEqual(
      statement({ language: "influxql", statement: "SHOW DATABASES" }) as never,
    );
    expect(decodeTicket(packAny(ReadInfo, { ...info, queryType: QUERY_TYPE.sql }))).toEqual(want as never);
  });

  test("commands of Flight SQL, with and without a database", () => {
    const command = Any.encode({ typeUrl: "type.googleapis.com/arrow.flight.protocol.sql.CommandGetCatalogs", value: new Uint8Array(0) });
    expect(decodeTicket(ticketFor("d", command))).toEqual({ is: "command", database: "d", command: { is: "catalogs" } });
    expect(decodeTicket(command)).toEqual({ is: "command", database: null, command: { is: "catalogs" } });
  });

  const unknown = Any.encode({ typeUrl: "type.googleapis.com/x.Y", value: new Uint8Array(0) });
  test.each([
    ["an empty ticket", new Uint8Array(0), /missing field `database`/],
    ["bytes", encode("garbage"), /invalid protobuf/],
    ["no database", packAny(ReadInfo, { query: "SELECT 1" }), /missing field `database`/],
    ["a statement and a command", packAny(ReadInfo, { ...info, flightSqlCommand: unknown }), /has no Flight SQL command/],
    [
      "a command and a statement",
      packAny(ReadInfo, { ...info, queryType: QUERY_TYPE.flightSql, flightSqlCommand: unknown }),
      /has no text/,
    ],
    ["an unknown command", packAny(ReadInfo, { database: "d", queryType: QUERY_TYPE.flightSql, flightSqlCommand: unknown }), /is unknown/],
    ["an unknown language", packAny(ReadInfo, { ...info, queryType: 9 }), /Unknown query type. Expected 0 to 3, got 9/],
    ["a ticket in a ticket", packAny(StatementTicket, { handle: encode("garbage") }), /invalid protobuf/],
  ] as const)("refused: %s", (_, ticket, message) => expectRefused(ticket, message));
});

const NO_VALUE = {
  ...{ null: undefined, boolean: undefined, uint64: undefined, int64: undefined, float64: undefined, string: undefined },
};

function expectRefused(ticket: Uint8Array, message: RegExp): void {
  const decode = () => decodeTicket(ticket);
  expect(decode).toThrow(TsdbError);
  expect(decode).toThrow(/^Invalid ticket. Error: /);
  expect(decode).toThrow(message);
}

const SEED = Number(process.env["SEED"] ?? 1);
test(`good tickets with bytes changed, cut and added are read or refused, seed ${SEED}`, () => {
  const below = prng(SEED);
  const good = [
    json({ database: "d", sql_query: "SELECT 1", params: { a: 1 } }),
    packAny(ReadInfo, { database: "d", query: "SELECT 1", params: [{ ...NO_VALUE, name: "a", string: "b" }] }),
    ticketFor("d", packAny(StatementTicket, { handle: encode("abc") })),
  ];
  for (let round = 0; round < 10_000; round++) {
    const ticket = Uint8Array.from(good[below(good.length)]!);
    for (let change = below(4); change >= 0; change--) ticket[below(ticket.length)] = below(256);
    const cut = ticket.subarray(0, below(3) === 0 ? below(ticket.length) : ticket.length);
    try {
      decodeTicket(cut);
    } catch (error) {
      expect(error).toBeInstanceOf(TsdbError);
      expect((error as TsdbError).kind).toBe("bad_request");
    }
  }
});
