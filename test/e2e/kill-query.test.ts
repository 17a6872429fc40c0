// KILL QUERY of a real server: a statement that runs is ended through another connection, whichever API it came by, and says so in the
// words of 1.x.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { head, RawClient } from "../api/sockets.ts";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

const SERIES = 100;
const ROWS = 100_000;
/** Much longer than a test takes, before the first row: as many sources as there may be. */
const LONG = `SELECT max(x) FROM (SELECT v + v AS x FROM ${Array(1000).fill("m").join(", ")})`;
/** How often each row comes: more than lies in sockets and buffers while nobody reads. */
const TIMES = 20;
const WIDE = `SELECT v, v AS v2, v AS v3 FROM ${Array(TIMES).fill("m").join(", ")}`;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
  await store(server, "d", Array.from({ length: ROWS }, (_, i) => `m,h=${i % SERIES} v=${i}i ${i + 1}`).join("\n"));
});
afterAll(() => server.dispose());

interface Result {
  readonly statement_id: number;
  readonly error?: string;
  readonly series?: { readonly columns: string[]; readonly values: unknown[][] }[];
}

async function v1(q: string): Promise<Result[]> {
  const response = await fetch(`${server.url}/query`, { method: "POST", body: new URLSearchParams({ db: "d", q }) });
  return ((await response.json()) as { results: Result[] }).results;
}

/** The id of the statement that runs and contains `text`, waited for. */
async function idOf(text: string): Promise<number> {
  for (;;) {
    const [list] = (await v1("SHOW QUERIES"))[0]!.series ?? [];
    const row = list?.values.find(([, query, , , status]) => (query as string).includes(text) && status === "running");
    if (row === undefined) await Bun.sleep(2);
    else {
      expect(list!.columns).toEqual(["qid", "query", "database", "duration", "status"]);
      expect(row.slice(2, 3)).toEqual(["d"]);
      return row[0] as number;
    }
  }
}

async function killed(text: string): Promise<number> {
  const id = await idOf(text);
  expect(await v1(`KILL QUERY ${id}`)).toEqual([{ statement_id: 0 }]);
  return id;
}

async function phaseOf(text: string): Promise<string> {
  const rows = await server.sql<{ phase: string; query_text: string }>(
    "d",
    "SELECT phase, query_text FROM system.queries ORDER BY issue_time",
  );
  return rows.findLast(({ query_text }) => query_text.includes(text))!.phase;
}

test("a statement of a request: it is interrupted, those behind it are not executed", async () => {
  const body = new URLSearchParams({ db: "d", q: `SHOW DATABASES; ${LONG}; SHOW DATABASES` });
  const answer = fetch(`${server.url}/query`, { method: "POST", body });
  const id = await killed("v + v");
  const response = await answer;
  expect(response.status).toBe(200);
  const { results } = (await response.json()) as { results: Result[] };
  expect(results.slice(1)).toEqual([
    { statement_id: 1, error: "query interrupted" },
    { statement_id: 2, error: "not executed" },
  ]);
  expect(results[0]).toMatchObject({ statement_id: 0, series: [{ values: [["_internal"], ["d"]] }] });
  expect(await phaseOf("v + v")).toBe("fail");
  // until its worker has let go of it, it is known
  for (;;) {
    const [{ error } = { error: "" }] = await v1(`KILL QUERY ${id}`);
    if (error === `no such query id: ${id}`) break;
    expect(error).toBe("already killed");
    await Bun.sleep(2);
  }
  expect((await v1("SHOW QUERIES"))[0]!.series).toBeUndefined();
});

test("KILL QUERY of the only statement of a request", async () => {
  const answer = v1(LONG);
  await killed("v + v");
  expect(await answer).toEqual([{ statement_id: 0, error: "query interrupted" }]);
});

/** An answer of which nobody reads more than its beginning before `meanwhile` is over. */
async function readAfter(members: Record<string, string>, meanwhile: () => Promise<unknown>): Promise<string> {
  const client = await RawClient.open(Number(new URL(server.url).port));
  client.send(head(`GET /query?${new URLSearchParams({ db: "d", epoch: "ns", ...members })}`, "Connection: close"));
  await client.until("values");
  client.socket.pause();
  await meanwhile();
  client.socket.resume();
  const [, body] = (await client.untilClosed()).split(/\r\n\r\n(.*)/s);
  return dechunked(body!);
}

/** @throws Error unless the last chunk is there */
function dechunked(body: string): string {
  const parts: string[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.slice(at, end), 16);
    if (Number.isNaN(length)) throw new Error(`the answer broke off: ${body.slice(-100)}`);
    if (length === 0) return parts.join("");
    parts.push(body.slice(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

test("an answer that has begun ends as a whole document, with the error in it", async () => {
  const text = await readAfter({ q: WIDE }, () => killed("v AS v2"));
  const { results } = JSON.parse(text) as { results: Result[] };
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ statement_id: 0, error: "query interrupted", series: [{ columns: ["time", "v", "v2", "v3"] }] });
  // a beginning of the rows, each of them whole
  const values = results[0]!.series!.flatMap((series) => series.values);
  expect(values.length).toBeLessThan(TIMES * ROWS);
  const wanted = values.map((_, i) => Math.floor(i / TIMES)).map((v) => [v + 1, v, v, v]);
  expect(values).toEqual(wanted);
});

test("in chunks: the last one has the error", async () => {
  const text = await readAfter({ q: WIDE, chunked: "true", chunk_size: "1000" }, () => killed("v AS v2"));
  const chunks = text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { results: Result[] }).results[0]!);
  expect(chunks.at(-1)).toMatchObject({ statement_id: 0, error: "query interrupted" });
  for (const { error } of chunks.slice(0, -1)) expect(error).toBeUndefined();
});

test("SQL, and the v1-style language by the API of v3", async () => {
  const sql = "SELECT count(*) AS n FROM m a, m b WHERE a.v + b.v = -1";
  const bySql = fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: "d", q: sql, format: "json" })}`);
  await killed("count(*) AS n");
  expect(await (await bySql).text()).toContain("query interrupted");
  expect((await bySql).status).toBeGreaterThanOrEqual(400);
  const byName = fetch(`${server.url}/api/v3/query_influxql`, {
    method: "POST",
    body: JSON.stringify({ db: "d", q: LONG, format: "json" }),
  });
  await killed("v + v");
  expect(await (await byName).text()).toContain("query interrupted");
  expect((await byName).status).toBeGreaterThanOrEqual(400);
});

test("INTO: nothing more is written", async () => {
  const answer = v1(`SELECT max(x) INTO target FROM (SELECT v + v AS x FROM ${Array(1000).fill("m").join(", ")})`);
  await killed("INTO target");
  expect(await answer).toEqual([{ statement_id: 0, error: "query interrupted" }]);
  expect(await v1("SELECT * FROM target")).toEqual([{ statement_id: 0 }]);
});

test("KILL QUERY of an unknown id, and ON a host, which is always this server", async () => {
  for (const id of ["0", "999999", "18446744073709551615"]) {
    expect(await v1(`KILL QUERY ${id}; SHOW DATABASES`)).toEqual([
      { statement_id: 0, error: `no such query id: ${id}` },
      { statement_id: 1, error: "not executed" },
    ]);
  }
  expect(await v1('KILL QUERY 999999 ON "localhost:8088"')).toEqual([{ statement_id: 0, error: "no such query id: 999999" }]);
});
