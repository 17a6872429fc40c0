// What a server asks itself when it has just started: every statement runs, whatever tables and tags are called, in memory and in files,
// and no list of statements shows one of them.
import { expect, test } from "bun:test";
import { usualScripts } from "../../src/server/warm/warm-scripts.ts";
import { usualStatements, warmUp } from "../../src/server/warm/warm-up.ts";
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

const HEADERS = { authorization: "Token tok", "content-type": "application/json" };

/** With an organization, a bucket and a row of odd names. */
async function withOddRow(): Promise<{ server: TestServer; orgID: string; bucketID: string }> {
  const server = await TestServer.start({ withBuckets: true, flags: ["--log-filter", "info,tasks=debug"] });
  const send = (path: string, body: string, headers = HEADERS) => fetch(server.bucketsUrl + path, { method: "POST", headers, body });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const made = (await (await send("/api/v2/setup", JSON.stringify(setup))).json()) as { org: { id: string }; bucket: { id: string } };
  const row = String.raw`a\ "table${"$"}{x}\',\ tag=it's\ \"x\" the\ field=1i ${Date.now()}000000`;
  expect((await send("/api/v2/write?org=o&bucket=b", row)).status).toBe(204);
  return { server, orgID: made.org.id, bucketID: made.bucket.id };
}

async function csv(server: TestServer, script: string): Promise<string> {
  const headers = { ...HEADERS, "content-type": "application/vnd.flux" };
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body: script });
  expect(response.status).toBe(200);
  return response.text();
}

test("usual scripts have an answer with the row, whatever table, tag and field are called", async () => {
  const { server, bucketID } = await withOddRow();
  await using _ = server;
  const all = await csv(server, `from(bucket: "b") |> range(start: -1h) |> drop(columns: ["_start", "_stop", "_time", "_value"])`);
  const [head, row] = all.split("\r\n").map((line) => line.split(",").map((cell) => cell.replace(/^"|"$/g, "").replaceAll('""', '"')));
  const at = (name: string) => row![head!.indexOf(name)]!;
  const tag = head!.at(-1)!;
  const rows = { databaseId: 1, tableId: 1, rowCount: 1, minTimeNs: 0n, maxTimeNs: 0n };
  const subject = { database: "b", table: at("_measurement"), tag, field: at("_field"), rows };
  expect(subject.table).toMatch(/\$\{x\}/);
  for (const script of usualScripts(subject, { bucketId: bucketID, value: at(tag), spanNs: 3_600_000_000_000n })) {
    expect(await csv(server, script)).toContain("means");
  }
});

test("once there are many tasks usual scripts run, and leave nothing behind", async () => {
  const { server, orgID } = await withOddRow();
  await using _ = server;
  const count = `from(bucket: "b") |> range(start: 0) |> group() |> count(column: "_field") |> keep(columns: ["_field"])`;
  const before = await csv(server, count);
  for (let i = 0; i < 32; i++) {
    const flux = `option task = {name: "t${i}", every: 100h}\nfrom(bucket: "b") |> range(start: -1m)`;
    const response = await fetch(`${server.bucketsUrl}/api/v2/tasks`, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify({ orgID, flux }),
    });
    expect(response.status).toBe(201);
  }
  const [line, runs] = await server.untilOutput(/usual scripts have run runs=(\d+).*/);
  expect([Number(runs) > 0, line!.includes("failure")]).toEqual([true, false]);
  expect(await csv(server, count)).toBe(before);
  expect(await csv(server, `import "influxdata/influxdb/schema"\nschema.measurements(bucket: "b")`)).not.toContain("means");
  expect(await csv(server, `from(bucket: "_tasks") |> range(start: 0)`)).toBe("\r\n");
});
