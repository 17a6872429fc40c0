// Arrow Flight by the Arrow project's own client, when this machine's Python has it: another implementation of gRPC, of protocol buffers
// and of Arrow than the rest of these tests use.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { store } from "../e2e/client.ts";
import { pythonWith } from "../support/plugins/python.ts";
import { TestServer } from "../support/servers/server.ts";

const SCRIPT = join(import.meta.dir, "flight_sql.py");

test("pyarrow.flight reads tables, schemas and errors", async () => {
  const python = pythonWith("pyarrow.flight");
  if (python === null) {
    console.log("python3 has no pyarrow.flight here: its client was not tried");
    return;
  }
  await using server = await TestServer.start({ withFlight: true });
  await store(server, "d", "cpu,host=a,region=eu v=1.5,n=3i,b=true 1000000000\ncpu,host=b v=2.5,n=4i 2000000001");
  await store(server, "d", Array.from({ length: 50_000 }, (_, i) => `big,host=h${i % 100} v=${i}i ${i + 1}`).join("\n"));
  const port = server.flightAddress.split(":").at(-1)!;
  const child = Bun.spawn([python, SCRIPT, port], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, output, errors] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`${errors}\n${server.output}`);
  const { version, errors: refused, ...found } = JSON.parse(output);
  console.log(`pyarrow ${version}`);
  const tag = "string";
  const [a, b] = [{ v: 1.5 }, { v: 2.5 }];
  expect(found).toEqual({
    types: { b: "bool", host: tag, n: "int64", region: tag, time: "timestamp[ns]", v: "double" },
    kinds: {
      b: "iox::column_type::field::boolean",
      host: "iox::column_type::tag",
      n: "iox::column_type::field::integer",
      region: "iox::column_type::tag",
      time: "iox::column_type::timestamp",
      v: "iox::column_type::field::float",
    },
    rows: [
      { b: true, host: "a", n: 3, region: "eu", time: 1_000_000_000, v: 1.5 },
      { b: null, host: "b", n: 4, region: null, time: 2_000_000_001, v: 2.5 },
    ],
    statement: [{ c: 2, m: 2.5 }],
    big: [{ c: 50_000 }],
    bigRows: 50_000,
    sqlInfo: [
      { info_name: 0, value: "InfluxDB IOx" },
      { info_name: 3, value: true },
    ],
    sqlInfoKinds: 6,
    conversions: 11,
    catalogs: [{ catalog_name: "public" }],
    schemas: ["information_schema", "iox", "system"],
    tableTypes: ["BASE TABLE", "VIEW"],
    typeNames: ["BOOLEAN", "BIGINT", "BIGINT UNSIGNED", "INTEGER", "FLOAT", "DOUBLE", "INTERVAL", "VARCHAR", "TIMESTAMP"],
    keys: [0, 0, 0, 0],
    tables: ["cpu"],
    tableSchema: { b: "bool", host: tag, n: "int64", region: tag, time: "timestamp[ns]", v: "double" },
    dataset: { host: tag },
    parameters: { $h: "string", $least: "double", $from: "timestamp[ns]" },
    bound: [[a], [a], [a], [a], [b], [b], [b], [a]],
    actions: ["CreatePreparedStatement", "ClosePreparedStatement"],
    closed: [],
    token: ["authorization", "Bearer secret"],
  });
  const texts: [what: string, kind: string, message: RegExp][] = [
    ["table", "ArrowInvalid", /table 'public.iox.nothing' not found/],
    ["database", "ArrowKeyError", /Database 'nowhere' not found/],
    ["header", "ArrowInvalid", /no 'database' header in request/],
    ["ticket", "ArrowInvalid", /Invalid ticket/],
    ["influxql", "ArrowInvalid", /only statements that read the ticket's database/],
    ["action", "ArrowNotImplementedError", /the action "Nothing" is unknown/],
    ["path", "ArrowNotImplementedError", /must be a command of Flight SQL/],
    ["flights", "ArrowNotImplementedError", /ListFlights/],
    ["timeout", "FlightTimedOutError", /Deadline Exceeded/i],
    ["listOfParameters", "ArrowInvalid", /a value of type list cannot be bound/],
  ];
  expect(Object.keys(refused)).toEqual(texts.map(([what]) => what));
  for (const [what, kind, message] of texts) {
    expect([what, refused[what][0]]).toEqual([what, kind]);
    expect(refused[what][1]).toMatch(message);
  }
}, 60_000);
