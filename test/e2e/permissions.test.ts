// What a token for one database of a real server reaches through the v1-style language: nothing of any other, and of the retention
// policies of its own database, which are databases too, only those that it names. Also JSON bodies made to be hard to refuse.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { FlightClient } from "../support/flight/flight-server.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const CONFIGURE = "/api/v3/configure";
/** Of each, a table, a tag's value and a field that have its name. */
const DATABASES = ["a", "a/rp", "b", "b/rp"];
const markOf = (database: string) => `of_${database.replace("/", "_")}_`;

let server: TestServer;
let flight: FlightClient;
let admin: string;
/** By the database that it may read, write and delete. */
const tokens = new Map<string, string>();

async function call(method: string, path: string, token: string | null, body?: string): Promise<{ status: number; text: string }> {
  const headers = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, text: await response.text() };
}

const ask = (q: string, token: string, db = "a", path = "/query") =>
  call(path === "/query" ? "POST" : "GET", `${path}?${new URLSearchParams({ q, ...(db === "" ? {} : { db }) })}`, token);

const store = async (database: string) => {
  const mark = markOf(database);
  const line = `${mark}t,${mark}k=${mark}v ${mark}f=1 1`;
  const response = await fetch(`${server.url}/api/v3/write_lp?${new URLSearchParams({ db: database, precision: "ns" })}`, {
    ...{ method: "POST", headers: { authorization: `Bearer ${admin}` }, body: line },
  });
  expect(response.status).toBe(204);
};

beforeAll(async () => {
  server = await TestServer.start({ withAuth: true, withFlight: true, flags: ["--edition", "enterprise", "--use-pacha-tree"] });
  flight = new FlightClient(Number(server.flightAddress.split(":").at(-1)));
  admin = (JSON.parse((await call("POST", `${CONFIGURE}/token/admin`, null)).text) as { token: string }).token;
  for (const database of DATABASES) await store(database);
  for (const names of [["a"], ["a", "a/rp"]]) {
    const permission = { resource_type: "db", resource_names: names, actions: ["read", "write", "delete"] };
    const body = JSON.stringify({ token_name: names.join(), permissions: [permission] });
    const { text } = await call("POST", "/api/v3/enterprise/configure/token", admin, body);
    tokens.set(names.join(), (JSON.parse(text) as { token: string }).token);
  }
});
afterAll(async () => {
  flight.close();
  await server.dispose();
});

/** Every statement that could say something of another database than the request's. */
const STATEMENTS = [
  ...["MEASUREMENTS", "SERIES", "TAG KEYS", "FIELD KEYS", "TAG VALUES WITH KEY =~ /./", "MEASUREMENT EXACT CARDINALITY"].flatMap((list) => {
    const [what, ...more] = list.split(" WITH ");
    const rest = more.length === 0 ? "" : ` WITH ${more[0]}`;
    return ["", " ON a", " ON b"].map((on) => `SHOW ${what}${on}${rest}`);
  }),
  ...["SERIES", "TAG KEYS", "FIELD KEYS"].flatMap((what) =>
    ["", " ON a", " ON b"].flatMap((on) =>
      ["/./", "rp././", "b../.*/", "b.rp././", "a.rp././"].map((from) => `SHOW ${what}${on} FROM ${from}`),
    ),
  ),
  ...["", " ON a", " ON b"].flatMap((on) =>
    ["b../.*/", "rp./.*/", "a.rp./.*/", '"b"."rp"./.*/'].map((source) => `SHOW MEASUREMENTS${on} WITH MEASUREMENT =~ ${source}`),
  ),
  "SHOW MEASUREMENTS WITH MEASUREMENT = b..of_b_t",
  ...["SHOW SHARDS", "SHOW SHARD GROUPS", "SHOW DATABASES", "SHOW CONTINUOUS QUERIES", "SHOW SUBSCRIPTIONS", "SHOW DIAGNOSTICS"],
  ...["SHOW STATS", "SHOW RETENTION POLICIES", "SHOW RETENTION POLICIES ON a", "SHOW RETENTION POLICIES ON b", "SHOW QUERIES"],
  ...["SELECT * FROM /./", "SELECT * FROM b../.*/", "SELECT * FROM a.rp./.*/", "SELECT * FROM (SELECT * FROM rp./.*/)"],
  ...["EXPLAIN SELECT * FROM b../.*/", "EXPLAIN ANALYZE SELECT * FROM a.rp./.*/"],
];

const CASES: [names: string, others: string[]][] = [
  ["a", ["a/rp", "b", "b/rp"]],
  ["a,a/rp", ["b", "b/rp"]],
];

describe.each(CASES)("a token for %s", (names, others) => {
  const hidden = [...others.map(markOf), ...(others.includes("a/rp") ? ['"rp"'] : []), '"b"'];
  const expectNothingOf = (text: string) => {
    for (const mark of hidden) expect(text).not.toContain(mark);
  };

  test.each(STATEMENTS)("%s", async (q) => {
    const token = tokens.get(names)!;
    for (const path of ["/query", "/api/v3/query_tsdbql"]) {
      for (const db of ["a", ""]) expectNothingOf((await ask(q, token, db, path)).text);
    }
  });

  test("a token sees its own databases", async () => {
    const { status, text } = await ask("SHOW SERIES", tokens.get(names)!);
    expect(status).toBe(200);
    for (const database of DATABASES.filter((each) => names.split(",").includes(each))) expect(text).toContain(markOf(database));
  });

  test("a token reads its databases alone over Arrow Flight", async () => {
    for (const statement of STATEMENTS) {
      const ticket = { database: "a", sql_query: statement, query_type: "influxql" };
      const authorization = `Bearer ${tokens.get(names)!}`;
      const request = Ticket.encode({ ticket: new TextEncoder().encode(JSON.stringify(ticket)) });
      const end = await flight.call("DoGet", request, { headers: { authorization } });
      const text = end.messages.map((data) => data.toString("latin1")).join("");
      for (const mark of others.map(markOf)) expect(text + end.details, statement).not.toContain(mark);
    }
  });
});

test("telemetry is of the token's own last statement, and of SQL alone", async () => {
  const telemetry = async (token: string) => {
    const { status, text } = await call("GET", "/api/v3/query_sql_telemetry", token);
    return status === 200 ? (JSON.parse(text) as { query_id: string; chunks: { rows_returned: number }[] }) : null;
  };
  const sqlBy = async (token: string, q: string) => {
    const before = (await telemetry(token))?.query_id;
    expect((await ask(q, token, "a", "/api/v3/query_sql")).status).toBe(200);
    // an answer comes before the worker has counted what it cost
    for (;;) {
      const now = await telemetry(token);
      if (now !== null && now.query_id !== before) return now;
    }
  };
  const [one, both] = ["a", "a,a/rp"].map((names) => tokens.get(names)!) as [string, string];
  const ofAdmin = await sqlBy(admin, "SELECT * FROM of_a_t");
  const ofOne = await sqlBy(one, "SELECT * FROM of_a_t WHERE of_a_k = 'absent'");
  const ofBoth = await sqlBy(both, "SELECT 1");
  await ask("SELECT * FROM of_a_t", one);
  expect([ofAdmin, ofOne, ofBoth].map(({ chunks }) => chunks.map((chunk) => chunk.rows_returned))).toEqual([[1], [0], []]);
  expect([await telemetry(admin), await telemetry(one), await telemetry(both)]).toEqual([ofAdmin, ofOne, ofBoth]);
});

test("a statement that deletes in a retention policy needs a token for it", async () => {
  const count = async (database: string) => (await ask(`SELECT count(*) FROM /./`, admin, database)).text;
  const before = await Promise.all(DATABASES.map(count));
  for (const q of [
    "DROP DATABASE a",
    "DROP MEASUREMENT of_a_rp_t",
    "DELETE FROM /./",
    "DROP SERIES FROM /./",
    "DELETE WHERE time < now()",
  ]) {
    expect((await ask(q, tokens.get("a")!)).text, q).toContain("unauthorized to perform requested action with the token");
  }
  expect(await Promise.all(DATABASES.map(count))).toEqual(before);
  const { text } = await ask("DROP MEASUREMENT of_a_rp_t", tokens.get("a,a/rp")!);
  expect(text).toBe('{"results":[{"statement_id":0}]}\n');
  await store("a/rp");
});

test("a statement that writes or reads in another database or retention policy needs a token for it", async () => {
  const token = tokens.get("a")!;
  const written = async () => (await ask('SHOW MEASUREMENTS ON b; SHOW MEASUREMENTS ON "a/rp"', admin)).text;
  const before = await written();
  const refused = [
    ...["b..made", "rp.made", "a.rp.made", "a.RP.made", "b.:MEASUREMENT", '"b"."autogen".:MEASUREMENT', "_internal..made"].flatMap(
      (into) => [
        `SELECT * INTO ${into} FROM of_a_t`,
        `EXPLAIN SELECT * INTO ${into} FROM of_a_t`,
        `SELECT * INTO ${into} FROM (SELECT * FROM of_a_t)`,
      ],
    ),
    ...["b..of_b_t", "rp.of_a_rp_t", "a.rp./.*/"].map((from) => `SELECT * INTO made FROM ${from}`),
    ...[
      "CREATE DATABASE made",
      "CREATE RETENTION POLICY made ON a DURATION 1h REPLICATION 1",
      "ALTER RETENTION POLICY rp ON a DURATION 1h",
    ],
  ];
  for (const q of refused) {
    expect((await ask(q, token)).text, q).toContain("unauthorized to perform requested action with the token");
  }
  expect(await written()).toBe(before);
});

const nested = "[".repeat(100_000) + "]".repeat(100_000);
const BODIES: [what: string, path: string, body: string, status: number, text: string][] = [
  ["a name nested deep", "database", `{"db":${nested}}`, 400, "serde json error: `db`: expected string, got a list"],
  ["a period nested deep", "database", `{"db":"d","retention_period":${nested}}`, 400, "got a list"],
  ["an unknown member nested deep", "database", `{"db":"deep","more":${nested}}`, 200, ""],
  ["a member that comes twice: the last one counts", "database", '{"db":"-","db":"twice"}', 200, ""],
  ["members of the prototype", "database", '{"__proto__":{"db":"d"}}', 400, "missing field `db`"],
  ["a million tags", "table", `{"db":"a","table":"x","tags":["x"${',"x"'.repeat(1_000_000)}],"fields":[]}`, 400, "`tags`"],
  ["as many as are counted", "table", `{"db":"a","table":"x","tags":["x"${',"x"'.repeat(9999)}],"fields":[]}`, 422, "500 columns"],
];

const QUERIES: [member: string, value: string, text: string][] = [
  ["q", nested, "`q` must be a string, a number or a boolean, got a list"],
  ["db", `{"a":${nested}}`, "`db` must be a string, a number or a boolean, got an object"],
  ["params", nested, "error parsing query parameters: exceeded max depth"],
  ["params", `{"x":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`, "error parsing query parameters: exceeded max depth"],
];

test.each(QUERIES)("%s of a query, nested deep", async (member, value, text) => {
  const others = Object.entries({ db: "a", q: "SELECT * FROM t WHERE v > $x" }).filter(([name]) => name !== member);
  const body = `{${others.map(([name, other]) => `"${name}":${JSON.stringify(other)},`).join("")}"${member}":${value}}`;
  const wanted = { "/query": text, "/api/v3/query_tsdbql": "serde json error: recursion limit exceeded" };
  for (const [path, message] of Object.entries(wanted)) {
    const answer = await call("POST", path, admin, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  }
});

test.each(BODIES)("a hostile JSON body: %s", async (_, path, body, status, text) => {
  const answer = await call("POST", `${CONFIGURE}/${path}`, admin, body);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
});
