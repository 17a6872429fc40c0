// Statements of one request to /query in turn: results, failures, warnings, INTO, and answers that are long, break or are left.
import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { v1Bytes } from "../../src/encode/v1/encode.ts";
import { type ErrorKind, TsdbError } from "../../src/model/errors.ts";
import type { QueryAnswer, QueryRequest } from "../../src/model/query/query.ts";
import { answer, fakes, outcome, rejected, STORED } from "./fakes.ts";
import { app, definitions, enc, oneRow, RESULT, ROW, SELECT } from "./v1-app.ts";

describe("statements in turn", () => {
  const failing = (text: string, error: Error) => (request: QueryRequest) => {
    if (request.statement === text) throw error;
    return oneRow(request);
  };

  test("a failure is in its result, and what comes after is not executed", async () => {
    const { send, queries, ran } = app(failing("SELECT v FROM x", new TsdbError("bad_query", "no <such> thing")));
    const text = await (await send("POST", `/query?db=d&q=${enc(`${SELECT}; SELECT v FROM x; DROP DATABASE d; SHOW DATABASES`)}`)).text();
    expect(text).toBe(
      `{"results":[${RESULT},{"statement_id":1,"error":"no \\u003csuch\\u003e thing"},` +
        '{"statement_id":2,"error":"not executed"},{"statement_id":3,"error":"not executed"}]}\n',
    );
    expect([queries.length, ran]).toEqual([2, []]);
  });

  test("in chunks each result is a document", async () => {
    const { send } = app(failing("SELECT v FROM x", new TsdbError("bad_query", "no")));
    const text = await (await send("GET", `/query?chunked=true&q=${enc(`${SELECT}; SELECT v FROM x; ${SELECT}`)}`)).text();
    expect(text).toBe(
      `{"results":[${RESULT}]}\n{"results":[{"statement_id":1,"error":"no"}]}\n{"results":[{"statement_id":2,"error":"not executed"}]}\n`,
    );
  });

  test("as CSV an empty line stands between results, and failures leave no text", async () => {
    const { send } = app(failing("SELECT v FROM x", new TsdbError("bad_query", "no")));
    const csv = async (q: string) => (await send("GET", `/query?q=${enc(q)}`, { headers: { accept: "text/csv" } })).text();
    const table = "name,tags,time,v\nm,,1,2\n";
    expect(await csv(`${SELECT}; ${SELECT}`)).toBe(`${table}\n${table}`);
    expect(await csv(`CREATE DATABASE d; ${SELECT}`)).toBe(table);
    expect(await csv(`${SELECT}; SELECT v FROM x; ${SELECT}`)).toBe(table);
  });

  test("statements that change something run on the main thread; by GET with a warning", async () => {
    const { send, queries, ran } = app();
    const q = 'CREATE DATABASE "a"; SHOW DATABASES; CREATE RETENTION POLICY r ON a DURATION 1d REPLICATION 1';
    const post = await outcome(await send("POST", `/query?db=d&q=${enc(q)}`));
    const get = await outcome(await send("GET", `/query?db=d&q=${enc('CREATE DATABASE "a"')}`));
    const warning = (text: string) => ({ level: "warning", text });
    expect(post).toEqual([
      200,
      {
        results: [
          { statement_id: 0 },
          { statement_id: 1, series: [{ name: "databases", columns: ["name"], values: [["d"]] }] },
          { statement_id: 2, messages: [warning("mind the default")] },
        ],
      },
    ]);
    const text = "deprecated use of 'CREATE DATABASE \"a\"' in a read only context, please use a POST request instead";
    expect(get).toEqual([200, { results: [{ statement_id: 0, messages: [warning(text)] }] }]);
    expect([queries, ran]).toEqual([
      [],
      [
        ["create database", "d"],
        ["create retention policy", "d"],
        ["create database", "d"],
      ],
    ]);
  });

  const MESSAGES: [statement: string, error: Error, message: string][] = [
    ["DROP MEASUREMENT m", new Error("unused"), "database not found: d"],
    [SELECT, new TsdbError("unknown_database", "database not found: d/r", { database: "d/r" }), "retention policy not found: r"],
    [SELECT, new TsdbError("unknown_database", "database not found: d", { database: "d" }), "database not found: d"],
    [SELECT, new TsdbError("query_limit", "too long"), "too long"],
    [
      "CREATE USER u WITH PASSWORD 'p'",
      new Error("unused"),
      "CREATE USER is not supported: there are no users, privileges or continuous queries here",
    ],
  ];
  test.each(MESSAGES)("%s: %p → %s", async (statement, error, message) => {
    const { send } = app(failing(SELECT, error));
    expect(await outcome(await send("POST", `/query?db=d&q=${enc(statement)}`))).toEqual([
      200,
      { results: [{ statement_id: 0, error: message }] },
    ]);
  });

  const STATUSES: [kind: ErrorKind, status: number][] = [
    ["overloaded", 503],
    ["unavailable", 503],
    ["corrupt_file", 500],
  ];
  test.each(STATUSES)("a server that cannot answer says so as a whole: %s is %d", async (kind, status) => {
    const { send } = app(failing(SELECT, new TsdbError(kind, "because")));
    expect(await outcome(await send("GET", `/query?q=${enc(SELECT)}`))).toEqual([status, { error: "because" }]);
  });

  test("a bug is reported, and told as little as possible", async () => {
    const bug = new TypeError("undefined is not a function");
    const { send, reports } = app(failing("SELECT v FROM x", bug));
    const [status, body] = await outcome(await send("GET", `/query?q=${enc(`${SELECT}; SELECT v FROM x`)}`));
    expect([status, (body as { results: unknown[] }).results[1]]).toEqual([200, { statement_id: 1, error: "internal error" }]);
    expect(reports).toEqual([{ error: bug, where: "/query" }]);
  });
});

describe("with a limit of rows", () => {
  const limited = (rows: number, q: string, more = "") => {
    const { send, ran, queries } = app(oneRow, rows);
    return { text: send("POST", `/query?db=d&q=${enc(q)}${more}`).then((response) => response.text()), ran, queries };
  };

  test("the document ends with the statement that reaches it, and what is behind it does not run", async () => {
    const { text, ran, queries } = limited(2, `${SELECT}; CREATE DATABASE a; SHOW DATABASES; DROP DATABASE b; ${SELECT}`);
    expect(await text).toBe(
      `{"results":[${RESULT},{"statement_id":1},` +
        '{"statement_id":2,"series":[{"name":"databases","columns":["name"],"values":[["d"]]}]}]}\n',
    );
    expect([ran, queries.length]).toEqual([[["create database", "d"]], 1]);
  });

  test("a failure ends the request as ever, and the rows of INTO are one", async () => {
    const failed = limited(2, "CREATE USER u WITH PASSWORD 'p'; SHOW DATABASES");
    expect(JSON.parse(await failed.text).results.map(({ error }: { error: string }) => error)).toEqual([
      "CREATE USER is not supported: there are no users, privileges or continuous queries here",
      "not executed",
    ]);
    const into = limited(2, `SELECT v INTO x FROM m; ${SELECT}; ${SELECT}`);
    expect(JSON.parse(await into.text).results).toHaveLength(2);
  });

  test("in chunks, and where nobody waits, there is none", async () => {
    expect((await limited(1, `${SELECT}; ${SELECT}`, "&chunked=true").text).split("\n")).toHaveLength(3);
    const { text, ran } = limited(1, "SHOW DATABASES; CREATE DATABASE a", "&async=true");
    expect(await text).toBe("");
    while (ran.length === 0) await Bun.sleep(1);
    expect(ran).toEqual([["create database", "d"]]);
  });
});

describe("INTO", () => {
  test("rows are written as line protocol, and counted", async () => {
    const { send, queries, writes } = app();
    const q = 'SELECT v INTO "other"."weekly"."copy" FROM m';
    expect(await outcome(await send("POST", `/query?db=d&rp=r&q=${enc(q)}`))).toEqual([
      200,
      { results: [{ statement_id: 0, series: [{ name: "result", columns: ["time", "written"], values: [["1970-01-01T00:00:00Z", 1]] }] }] },
    ]);
    expect(queries[0]!.tsdbql!.answer).toEqual({ measurement: "copy" });
    expect(writes).toMatchObject([{ database: "other/weekly", body: "m v=2i 1\n", noSync: false }]);
  });

  test.each([
    ["SELECT v INTO x FROM m", "d/r", "x"],
    // a policy of the request is that of other databases too, as in 1.6.7
    ["SELECT v INTO e..x FROM m", "e/r", "x"],
    ["SELECT v INTO e.autogen.:MEASUREMENT FROM /m/", "e", null],
  ])("%s goes to %s", async (q, database, measurement) => {
    const { send, queries, writes, bodiesHeld } = app();
    await send("POST", `/query?db=d&rp=r&q=${enc(q)}`);
    expect(writes.map((write) => write.database)).toEqual([database]);
    expect(queries[0]!.tsdbql!.answer).toEqual({ measurement });
    expect(bodiesHeld()).toBe(0);
  });

  test("rows that do not fit are an error, as is a name that no database has", async () => {
    const { service } = definitions();
    const { send } = fakes({ query: oneRow, definitions: service, write: () => rejected(2, 1) });
    const error = async (q: string, db = "d") => {
      const [, body] = await outcome(await send("POST", `/query?db=${db}&q=${enc(q)}`));
      return (body as { results: { error: string }[] }).results[0]!.error;
    };
    expect(await error("SELECT v INTO x FROM m")).toBe("partial write: No fields were provided dropped=2");
    expect(await error('SELECT v INTO "a b"..x FROM m')).toStartWith("invalid character in database or rp name");
    expect(await error("SELECT v INTO x FROM m", "")).toBe("database name required");
    expect(STORED.rowCount).toBe(1);
  });
});

describe("long answers", () => {
  /** Rows of a statement in two pieces, then what `end` does. */
  const streamed = (end: (controller: ReadableStreamDefaultController<Uint8Array>) => void) => (request: QueryRequest) => {
    if (request.statement !== "SELECT v FROM long") return oneRow(request);
    const form = request.tsdbql!.answer as { v1: Parameters<typeof v1Bytes>[0] };
    const whole = Buffer.from(v1Bytes(form.v1, [ROW])).toString();
    const cut = whole.indexOf("]]") + 1;
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++;
        if (pulls === 1) controller.enqueue(new TextEncoder().encode(whole.slice(0, cut)));
        else if (end !== whole_) end(controller);
        else {
          controller.enqueue(new TextEncoder().encode(whole.slice(cut)));
          controller.close();
        }
      },
    });
    return { contentType: "x", body, rowCount: () => 1 };
  };
  const whole_ = () => {};
  const breaks = (error: Error) => streamed((controller) => controller.error(error));

  test("pass through, among short ones", async () => {
    const { send } = app(streamed(whole_));
    const text = await (await send("GET", `/query?q=${enc(`${SELECT}; SELECT v FROM long; ${SELECT}`)}`)).text();
    expect(JSON.parse(text).results.map((result: { statement_id: number }) => result.statement_id)).toEqual([0, 1, 2]);
    expect(text).toBe(`{"results":[${[0, 1, 2].map((id) => RESULT.replace("0,", `${id},`)).join(",")}]}\n`);
  });

  test("count towards the limit of rows", async () => {
    const { send, queries } = app(streamed(whole_), 2);
    const text = await (await send("GET", `/query?q=${enc(`SELECT v FROM long; ${SELECT}; ${SELECT}`)}`)).text();
    expect(text).toBe(`{"results":[${RESULT},${RESULT.replace("0,", "1,")}]}\n`);
    expect(queries.map(({ statement }) => statement)).toEqual(["SELECT v FROM long", SELECT]);
  });

  test("that break half way are closed with the error, and nothing runs behind them", async () => {
    const { send, queries } = app(breaks(new TsdbError("query_limit", "out of time")));
    const response = await send("GET", `/query?q=${enc(`SELECT v FROM long; ${SELECT}`)}`);
    expect(await response.json()).toEqual({
      results: [
        { ...JSON.parse(RESULT), error: "out of time" },
        { statement_id: 1, error: "not executed" },
      ],
    });
    expect(queries).toHaveLength(1);
  });

  test("as CSV a statement that breaks half way breaks the connection", async () => {
    const csv = (request: QueryRequest) => {
      let isBegun = false;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (isBegun) return controller.error(new TsdbError("query_limit", "out of time"));
        isBegun = true;
        controller.enqueue(new TextEncoder().encode("name,tags,time,v\n"));
      };
      return request === undefined ? answer("") : { contentType: "x", body: new ReadableStream<Uint8Array>({ pull }) };
    };
    const { send } = app(csv);
    const response = await send("GET", `/query?q=${enc(SELECT)}`, { headers: { accept: "text/csv" } });
    await expect(response.text()).rejects.toThrow("out of time");
  });

  test("end when the client goes away", async () => {
    let cancelled = 0;
    const endless = ({ signal }: QueryRequest): QueryAnswer => {
      signal.addEventListener("abort", () => cancelled++);
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(new Uint8Array(1000));
      return { contentType: "x", body: new ReadableStream<Uint8Array>({ pull }) };
    };
    const { send, services } = app(endless);
    const reader = (await send("GET", `/query?q=${enc(`${SELECT}; ${SELECT}`)}`)).body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(cancelled).toBe(1);
    const page = (await services.metrics.render({ withDatabases: true })).text;
    expect(page).toContain('tsdb_queries_total{outcome="cancelled"} 1');
  });

  test.each(["gzip", "deflate, gzip;q=0.5", "*"])("are compressed for %s", async (coding) => {
    const { send } = app(() => ({ contentType: "x", body: new Uint8Array(5000).fill(120) }));
    const get = (value: string) => send("GET", `/query?q=${enc(SELECT)}`, { headers: { "accept-encoding": value } });
    const response = await get(coding);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await response.arrayBuffer()).toString()).toBe("x".repeat(5000));
    for (const other of ["br", "gzip;q=0", "identity"]) expect((await get(other)).headers.get("content-encoding")).toBeNull();
  });

  test("a stream is compressed too; what is short is not", async () => {
    const { send } = app(streamed(whole_));
    const get = (q: string) => send("GET", `/query?q=${enc(q)}`, { headers: { "accept-encoding": "gzip" } });
    const response = await get("SELECT v FROM long");
    expect(gunzipSync(await response.arrayBuffer()).toString()).toBe(`{"results":[${RESULT}]}\n`);
    expect((await get(SELECT)).headers.get("content-encoding")).toBeNull();
  });
});
