// What the schemas of Flight's answers say, and their rows, in every state of the rows: clients make points, series and frames of them by
// the types, kinds and metadata alone.
import { beforeAll, describe, expect, test } from "bun:test";
import type { Table } from "apache-arrow";
import { FlightData } from "../../src/api/flight/wire/flight-messages.ts";
import { encapsulated } from "../../src/api/flight/wire/ipc-messages.ts";
import { FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import { answered, IN_DB, infoOf, portOf, statementCommand, tableOf } from "../support/flight/flight-sql.ts";
import type { RowState, RowStep } from "../support/rows/row-states.ts";
import { inEachState } from "../support/rows/served-rows.ts";
import type { TestServer } from "../support/servers/server.ts";

const STEPS: readonly RowStep[] = [
  {
    database: "d",
    lines: 'cpu,host=a,region=eu v=1.5,n=3i,u=4u,s="x",ok=true 1000\ncpu,host=b v=2.5,n=4i 2000\ncpu,host=b,region=us v=3.5 3000\ndisk,host=a used=7u 1000',
  },
]; // biome-ignore format: a body

const KIND = {
  tag: "Utf8 iox::column_type::tag",
  time: "Timestamp<NANOSECOND> iox::column_type::timestamp, no NULLs",
  measurement: "Utf8 iox::column_type::tag, no NULLs",
  float: "Float64 iox::column_type::field::float",
  integer: "Int64 iox::column_type::field::integer",
  unsigned: "Uint64 iox::column_type::field::uinteger",
  string: "Utf8 iox::column_type::field::string",
  boolean: "Bool iox::column_type::field::boolean",
} as const;
const OTHERS = { n: KIND.integer, u: KIND.unsigned, s: KIND.string, ok: KIND.boolean };
const OTHERS_BY_NAME = { n: KIND.integer, ok: KIND.boolean, s: KIND.string, u: KIND.unsigned };
const HEAD = { "iox::measurement": KIND.measurement, time: KIND.time };

interface Case {
  readonly q: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Tags of the group: key, column, whether it was selected. */
  readonly keys: readonly (readonly [key: string, at: number, isSelected: boolean])[] | null;
  readonly rows: readonly (readonly unknown[])[];
}

const CASES: readonly (Case & { readonly language: "sql" | "influxql" })[] = [
  {
    ...{ language: "sql", q: "SELECT host, region, time, v, n, u, s, ok FROM cpu ORDER BY time LIMIT 1", keys: null },
    columns: { host: KIND.tag, region: KIND.tag, time: KIND.time, v: KIND.float, ...OTHERS },
    rows: [["a", "eu", 1000, 1.5, 3n, 4n, "x", true]],
  },
  {
    ...{ language: "sql", q: "SELECT host, region FROM cpu ORDER BY time", columns: { host: KIND.tag, region: KIND.tag }, keys: null },
    rows: [["a", "eu"], ["b", null], ["b", "us"]],
  },
  {
    ...{ language: "sql", q: "SELECT upper(host) AS h, count(*) AS c FROM cpu GROUP BY host ORDER BY host", keys: null },
    ...{ columns: { h: "Utf8 undefined", c: "Int64 undefined" }, rows: [["A", 1n], ["B", 2n]] },
  },
  {
    ...{ language: "influxql", q: "SELECT * FROM cpu", keys: [] },
    columns: { ...HEAD, ...OTHERS, host: KIND.tag, region: KIND.tag, v: KIND.float },
    rows: [
      ["cpu", 1000, "a", 3n, true, "eu", "x", 4n, 1.5],
      ["cpu", 2000, "b", 4n, null, null, null, null, 2.5],
      ["cpu", 3000, "b", null, null, "us", null, null, 3.5],
    ],
  },
  {
    ...{ language: "influxql", q: "SELECT v FROM cpu GROUP BY host, region", keys: [["host", 2, false], ["region", 3, false]] },
    columns: { ...HEAD, host: KIND.tag, region: KIND.tag, v: KIND.float },
    rows: [["cpu", 1000, "a", "eu", 1.5], ["cpu", 3000, "b", "us", 3.5], ["cpu", 2000, "b", null, 2.5]],
  },
  {
    // a tag that is selected and grouped by has one column, where it was selected
    ...{ language: "influxql", q: "SELECT v, host FROM cpu GROUP BY host, region", keys: [["host", 4, true], ["region", 2, false]] },
    columns: { ...HEAD, region: KIND.tag, v: KIND.float, host: KIND.tag },
    rows: [["cpu", 1000, "eu", 1.5, "a"], ["cpu", 3000, "us", 3.5, "b"], ["cpu", 2000, null, 2.5, "b"]],
  },
  {
    ...{ language: "influxql", q: "SELECT mean(v) AS m, count(s), max(n) FROM cpu GROUP BY host", keys: [["host", 2, false]] },
    columns: { ...HEAD, host: KIND.tag, m: KIND.float, count: KIND.integer, max: KIND.integer },
    rows: [["cpu", 0, "a", 1.5, 1n, 3n], ["cpu", 0, "b", 3, 0n, 4n]],
  },
  {
    ...{ language: "influxql", q: "SELECT host AS h, v FROM cpu WHERE region = 'us'", keys: [] },
    ...{ columns: { ...HEAD, h: KIND.tag, v: KIND.float }, rows: [["cpu", 3000, "b", 3.5]] },
  },
  {
    ...{ language: "influxql", q: "SELECT last(v) + 1 AS x FROM cpu", keys: [], columns: { ...HEAD, x: KIND.float } },
    rows: [["cpu", 3000, 4.5]],
  },
  {
    ...{ language: "influxql", q: "SHOW RETENTION POLICIES", keys: null, rows: [["d", "autogen", "0s"]] },
    columns: { "iox::database": "Utf8 undefined", name: "Utf8 undefined", duration: "Utf8 undefined" },
  },
  // without rows the columns are those that rows would have
  {
    ...{ language: "influxql", q: "SELECT v, n, host FROM cpu WHERE v > 100", keys: [], rows: [] },
    columns: { ...HEAD, v: KIND.float, n: KIND.integer, host: KIND.tag },
  },
  {
    ...{ language: "influxql", q: "SELECT * FROM cpu WHERE time > 5000 GROUP BY region, host", rows: [] },
    ...{ columns: { ...HEAD, host: KIND.tag, region: KIND.tag, ...OTHERS_BY_NAME, v: KIND.float }, keys: [["host", 2, false], ["region", 3, false]] },
  },
  {
    ...{ language: "influxql", q: "SELECT mean(n) AS m, count(s), last(u) FROM cpu WHERE time > 5000 GROUP BY host", keys: [["host", 2, false]] },
    ...{ columns: { ...HEAD, host: KIND.tag, m: KIND.float, count: KIND.integer, last: KIND.unsigned }, rows: [] },
  },
  {
    ...{ language: "influxql", q: "SELECT x FROM (SELECT max(n) AS x FROM cpu WHERE host = 'z')", keys: [], rows: [] },
    columns: { ...HEAD, x: KIND.integer },
  },
  // nothing says which they would be
  { language: "influxql", q: "SELECT v FROM nothing", keys: [], columns: HEAD, rows: [] },
  { language: "influxql", q: "SELECT nothing FROM cpu", keys: [], columns: HEAD, rows: [] },
  {
    ...{ language: "influxql", q: "SHOW TAG VALUES FROM nothing WITH KEY = host", keys: [], rows: [] },
    columns: { "iox::measurement": KIND.measurement, key: KIND.string, value: KIND.string },
  },
  {
    ...{ language: "influxql", q: "SHOW FIELD KEY CARDINALITY FROM nothing", keys: [], rows: [] },
    columns: { "iox::measurement": KIND.measurement, count: KIND.integer },
  },
  {
    ...{ language: "influxql", q: "SHOW MEASUREMENTS", keys: [] },
    ...{ columns: { "iox::measurement": KIND.measurement, name: KIND.string }, rows: [["measurements", "cpu"], ["measurements", "disk"]] },
  },
  {
    ...{ language: "influxql", q: "SHOW TAG VALUES FROM cpu WITH KEY = host", keys: [] },
    columns: { "iox::measurement": KIND.measurement, key: KIND.string, value: KIND.string },
    rows: [["cpu", "host", "a"], ["cpu", "host", "b"]],
  },
]; // biome-ignore format: what belongs together, in a line

function found(q: string, table: Table): Case {
  const { fields, metadata } = table.schema;
  const group = metadata.get("iox::influxql::group_key::metadata");
  const key = group === undefined ? undefined : JSON.parse(group);
  const keys =
    key?.tag_key_columns.map((one: Record<string, unknown>) => [one["tag_key"], one["column_index"], one["is_projected"]]) ?? null;
  if (key !== undefined) expect(key).toEqual({ measurement_column_index: 0, tag_key_columns: expect.any(Array) });
  const kind = (field: (typeof fields)[number]) =>
    `${field.type} ${field.metadata.get("iox::column::type")}${field.nullable ? "" : ", no NULLs"}`;
  // this library's times are in milliseconds
  const isTime = fields.map(({ type }) => String(type).startsWith("Timestamp"));
  const rows = table.toArray().map((row) => [...row].map(([, value], i) => (isTime[i] ? Math.round(value * 1e6) : value)));
  return { q, columns: Object.fromEntries(fields.map((field) => [field.name, kind(field)])), keys, rows };
}

/** The schema that GetFlightInfo has for the statement. */
async function promised(client: FlightClient, q: string, language: string): Promise<Uint8Array> {
  const headers = { ...IN_DB.headers, "x-influxdata-query-language": language };
  return (await infoOf(client, statementCommand(q), { headers })).schema;
}

async function askAll(server: TestServer): Promise<Case[]> {
  const client = new FlightClient(portOf(server));
  const answers: Case[] = [];
  for (const { language, q } of CASES) {
    const messages = await answered(client.call("DoGet", ticketMessage(q, "d", language)));
    const [schema] = messages;
    answers.push(found(q, tableOf(messages)));
    expect(await promised(client, q, language)).toEqual(encapsulated(FlightData.decode(schema!)));
  }
  client.close();
  return answers;
}

/** Tests of Flight schemas over rows in each of these states. */
export function flightSchemaSuite(states: readonly RowState[]): void {
  let answers: ReadonlyMap<RowState, readonly Case[]>;
  beforeAll(async () => {
    answers = await inEachState(states, STEPS, askAll, { withFlight: true });
  }, 120_000);

  describe.each(states)("%s", (state) => {
    test.each(CASES.map(({ language, ...one }, i) => [`${language}: ${one.q}`, one, i] as const))("%s", (_, expected, i) => {
      expect(answers.get(state)![i]!).toEqual(expected);
    });
  });
}
