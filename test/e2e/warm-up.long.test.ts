// What a server asks itself when it has just started: every statement runs, whatever tables and tags are called, in memory and in files,
// and no list of statements shows one of them.
import { expect, test } from "bun:test";
import { usualStatements, warmUp } from "../../src/server/warm-up.ts";
import { TestServer } from "../support/servers/server.ts";

const DONE = /usual statements have run once statements=(\d+)/;
const FLAGS = ["--log-filter", "info,query=debug"];

async function write(server: TestServer, lines: string): Promise<void> {
  const response = await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: lines });
  expect(response.status).toBe(204);
}

test.each([
  ["one sensor with one row", "one,host=a v=1 1"],
  ["names with quotes and spaces", String.raw`a\ "table\',to\ tag=it's\ \"x\" the\ field=1i,s="x" 1700000000000000000`],
  ["many series", Array.from({ length: 2000 }, (_, i) => `cpu,host=h${i} u=${i}u ${1_700_000_000_000_000_000 + i * 1000}`).join("\n")],
])("%s", async (_, lines) => {
  await using server = await TestServer.start({ flags: FLAGS });
  // there is nothing to ask
  expect((await server.untilOutput(DONE))[1]).toBe("0");
  await write(server, lines);
  for (const stop of ["kill", "stop"] as const) {
    const before = server.output.length;
    await server[stop]();
    await server.restart();
    while (!DONE.test(server.output.slice(before))) await Bun.sleep(5);
    // a slow machine comes to few of them
    expect(Number(DONE.exec(server.output.slice(before))![1])).toBeGreaterThan(0);
    expect(server.output).not.toContain("failure=");
    expect(await server.sql("d", "SELECT count(*) AS n FROM system.queries WHERE query_text NOT LIKE '%system.queries%'")).toEqual([
      { n: 0 },
    ]);
  }
});

test("each statement has an answer with the row, whatever table, tag and field are called", async () => {
  await using server = await TestServer.start();
  await write(server, String.raw`a\ "table\',to\ tag=it's\ \"x\" the\ field=1i 1700000000000000000`);
  const rows = { databaseId: 1, tableId: 1, rowCount: 1, minTimeNs: 1_700_000_000_000_000_000n, maxTimeNs: 1_700_000_000_000_000_000n };
  const [table] = await server.sql<{ table_name: string }>(
    "d",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox'",
  );
  const columns = await server.sql<{ measurement: string; key: string }>("d", "SELECT * FROM system.influxdb_schema");
  const name = (text: string) => columns.find(({ key }) => key.includes(text))!.key;
  const tag = name("tag");
  const [value] = await server.sql<{ v: string }>("d", `SELECT "${tag}" AS v FROM "${table!.table_name.replaceAll('"', '""')}"`);
  const subject = { database: "d", table: table!.table_name, tag, field: name("field"), rows };
  const requests = usualStatements(subject, value!.v);
  expect(requests.length).toBe(8);
  for (const { statement, tsdbql } of requests) {
    const path = tsdbql === undefined ? "/api/v3/query_sql?format=json" : "/query?";
    const response = await fetch(`${server.url}${path}&db=d&q=${encodeURIComponent(statement)}`);
    const text = await response.text();
    expect([statement, response.status, text]).toEqual([statement, 200, expect.stringMatching(/"(?:v|n|the field)":1|,1\]/)]);
  }
});

test("it waits for statements of clients, and ends when it is told or nothing gets better", async () => {
  const stop = new AbortController();
  let nowMs = 0;
  const asked: string[] = [];
  const parts = {
    catalog: { tableById: () => undefined, databaseById: () => undefined },
    manifest: { files: () => [] },
    tables: { largest: undefined },
    query: { query: async ({ statement }: { statement: string }) => Promise.reject(new Error(asked.push(statement).toString())) },
    workerCount: 1,
    isBusy: () => true,
    now: () => nowMs,
    sleep: async (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
  expect(await warmUp(parts, stop.signal)).toEqual({ statements: 0, milliseconds: 0 });
  expect(asked).toEqual([]);
  const columns = [
    { id: 1, name: "host", type: 1 },
    { id: 2, name: "v", type: 2 },
  ] as const;
  const block = { databaseId: 1, tableId: 1, rowCount: 1, minTimeNs: 0n, maxTimeNs: 0n, columnIds: [0, 1, 2] };
  const busy = {
    ...parts,
    catalog: {
      tableById: () => ({ id: 1, databaseId: 1, name: "t", columns }),
      databaseById: () => ({ id: 1, namespace: 0, name: "d" }),
    },
    manifest: { files: () => [{ blocks: [block] }] as never },
    query: {
      query: async ({ statement }: { statement: string }) => {
        asked.push(statement);
        return { contentType: "", body: new TextEncoder().encode('[{"v":"a"}]') };
      },
    },
  };
  // the tag's value is read; then a client's statement never ends
  expect(await warmUp(busy, stop.signal)).toEqual({ statements: 0, milliseconds: 0 });
  expect(asked.length).toBe(1);
  expect((await warmUp({ ...busy, isBusy: () => false }, stop.signal)).statements).toBe(8);
  stop.abort();
  expect((await warmUp({ ...busy, isBusy: () => false }, stop.signal)).statements).toBe(0);
});
