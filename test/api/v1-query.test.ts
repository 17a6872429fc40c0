// GET and POST /query: what of a request reaches the query path, in all the ways in which v1 clients send it, and what hostile requests are
// told.
import { describe, expect, test } from "bun:test";
import { fakes, outcome } from "./fakes.ts";
import { app, enc, oneRow, RESULT, SELECT } from "./v1-app.ts";

const FORM = "application/x-www-form-urlencoded";

describe("every way to send a statement", () => {
  const part = (name: string, value: string, file = "") =>
    `--B\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  const multipart = { "content-type": "multipart/form-data; boundary=B" };
  const json = (value: unknown) => JSON.stringify(value);
  const WAYS: [what: string, method: string, query: string, body?: string | undefined, headers?: Record<string, string>][] = [
    ["the query string", "GET", `?db=d&rp=r&epoch=ms&q=${enc(SELECT)}`],
    ["blanks as plus", "GET", "?db=d&rp=r&epoch=ms&q=SELECT+v+FROM+m"],
    ["POST without a body", "POST", `?db=d&rp=r&epoch=ms&q=${enc(SELECT)}`, "", {}],
    [
      "POST without a body that is said to be gzip",
      "POST",
      `?db=d&rp=r&epoch=ms&q=${enc(SELECT)}`,
      undefined,
      { "content-encoding": "gzip" },
    ],
    ["a form", "POST", "", `db=d&rp=r&epoch=ms&q=${enc(SELECT)}`, { "content-type": FORM }],
    [
      "a form goes before the query string",
      "POST",
      "?db=x&q=x",
      `db=d&rp=r&epoch=ms&q=${enc(SELECT)}`,
      { "content-type": `${FORM}; charset=utf-8` },
    ],
    ["form and query string", "POST", "?db=d&rp=r", `epoch=ms&q=${enc(SELECT)}`, { "content-type": FORM }],
    ["JSON", "POST", "", json({ db: "d", rp: "r", epoch: "ms", q: SELECT, more: [1] }), { "content-type": "application/json" }],
    [
      "JSON of a vendor",
      "POST",
      "?rp=r",
      json({ db: "d", epoch: "ms", q: SELECT, pretty: null }),
      { "content-type": "application/x+json" },
    ],
    ["multipart", "POST", "?db=d", `${part("rp", "r")}${part("epoch", "ms")}${part("q", SELECT)}--B--\r\n`, multipart],
    ["a file in multipart", "POST", "?db=d&rp=r&epoch=ms", `${part("q", SELECT, '; filename="q.txt"')}--B--\r\n`, multipart],
    ["the body alone", "POST", "?db=d&rp=r&epoch=ms", SELECT, { "content-type": "application/vnd.influxql" }],
    ["the body alone, our type", "POST", "?db=d&rp=r&epoch=ms", ` ${SELECT}\n`, { "content-type": "application/vnd.tsdbql" }],
    ["the body alone, no type", "POST", "?db=d&rp=r&epoch=ms", SELECT, { "content-type": "" }],
    ["a body of another format", "POST", `?db=d&rp=r&epoch=ms&q=${enc(SELECT)}`, "<x/>", { "content-type": "text/xml" }],
    ["a name twice: the first counts", "GET", `?db=d&db=x&rp=r&epoch=ms&q=${enc(SELECT)}&q=x`],
  ];
  test.each(WAYS)("%s", async (_what, method, path, body, headers) => {
    const { send, queries } = app();
    const response = await send(method, `/query${path}`, method === "GET" || body === "" ? {} : { headers: headers!, body: body! });
    expect(await outcome(response)).toEqual([
      200,
      { results: [{ statement_id: 0, series: [{ name: "m", columns: ["time", "v"], values: [[0, 2]] }] }] },
    ]);
    expect(queries).toHaveLength(1);
    expect(queries[0]).toMatchObject({
      ...{ database: "d", statement: SELECT, queryType: "influxql" },
      tsdbql: { retentionPolicy: "r", params: null, answer: { v1: { form: "json", epochNs: 1e6, chunkRows: null } } },
    });
  });
});

const OPTIONS: [query: string, accept: string | null, want: object][] = [
  ["", null, { form: "json", epochNs: null, isPretty: false, chunkRows: null }],
  ["&epoch=", null, { epochNs: null }],
  ...(["ns", "u", "%C2%B5", "%CE%BC", "ms", "s", "m", "h", "d", "w"] as const).map((unit, i): [string, null, object] => [
    `&epoch=${unit}`,
    null,
    { epochNs: [1, 1e3, 1e3, 1e3, 1e6, 1e9, 6e10, 3.6e12, 8.64e13, 6.048e14][i]! },
  ]),
  // as 1.x: what it does not know is nanoseconds
  ["&epoch=us", null, { epochNs: 1 }],
  ["&epoch=%00", null, { epochNs: 1 }],
  ["&pretty=true", null, { isPretty: true }],
  ["&pretty=1", null, { isPretty: false }],
  ["&chunked=true", null, { chunkRows: 10_000 }],
  ["&chunked=true&chunk_size=7", null, { chunkRows: 7 }],
  ["&chunk_size=7", null, { chunkRows: null }],
  ["&chunked=1&chunk_size=7", null, { chunkRows: null }],
  ...["0", "-1", "abc", "1e3", "", "99999999999999999999"].map((size): [string, null, object] => [
    `&chunked=true&chunk_size=${size}`,
    null,
    { chunkRows: 10_000 },
  ]),
  ["", "*/*", { form: "json" }],
  ["", "image/png", { form: "json" }],
  ["", "text/csv", { form: "csv" }],
  ["", "application/csv;q=0.5, application/json", { form: "csv" }],
  ["", "text/html, application/json", { form: "json" }],
  ["", "Application/X-MsgPack", { form: "msgpack" }],
];

test.each(OPTIONS)("options %p with Accept %p", async (query, accept, want) => {
  const { send, queries } = app();
  await send("GET", `/query?db=d&q=${enc(SELECT)}${query}`, { headers: accept === null ? {} : { accept } });
  expect(queries[0]!.tsdbql!.answer).toMatchObject({ v1: want });
});

test.each([
  ["json", "application/json", `{"results":[${RESULT}]}\n`],
  ["csv", "application/csv", "name,tags,time,v\nm,,1,2\n"],
])("an answer as %s, with the headers that v1 clients look for", async (form, type, text) => {
  const { send } = app();
  const response = await send("GET", `/query?db=d&q=${enc(SELECT)}`, {
    headers: { accept: `text/x, application/${form}`, "x-request-id": "id-7" },
  });
  expect(response.headers.get("content-type")).toBe(type);
  expect(response.headers.get("x-influxdb-version")).toBe("3.9.0");
  expect(response.headers.get("x-tsdb-version")).toBe("v3.9.0");
  expect([response.headers.get("request-id"), response.headers.get("x-request-id")]).toEqual(["id-7", "id-7"]);
  expect(await response.text()).toBe(text);
});

test("an id that would not fit a header is not taken", async () => {
  const { send } = app();
  for (const id of ["a b", "x".repeat(129), "é"]) {
    const response = await send("GET", `/query?db=d&q=${enc(SELECT)}`, { headers: { "x-request-id": id } });
    expect(response.headers.get("request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

describe("bind parameters", () => {
  test.each([
    ['{"h":"a","n":3.0,"big":9007199254740993}', '{"h":"a","n":3.0,"big":9007199254740993}'],
    [{ h: "a" }, '{"h":"a"}'],
  ])("%j as text, and in a JSON body as they were written", async (params, want) => {
    const { send, queries } = app();
    const text = typeof params === "string" ? params : JSON.stringify(params);
    const q = "SELECT v FROM m WHERE host = $h";
    await send("GET", `/query?db=d&q=${enc(q)}&params=${enc(text)}`);
    await send("POST", "/query", { headers: { "content-type": "application/json" }, body: `{"db":"d","q":"${q}","params":${text}}` });
    expect(queries.map(({ tsdbql }) => tsdbql!.params)).toEqual([want, want]);
  });
});

const REFUSED: [method: string, query: string, body: string | Uint8Array | null, type: string, status: number, error: string][] = [
  ["GET", "", null, "", 400, 'missing required parameter "q"'],
  ["GET", "?q=", null, "", 400, 'missing required parameter "q"'],
  ["GET", "?q=%20%0a", null, "", 400, 'missing required parameter "q"'],
  ["GET", "?q=%zz", null, "", 400, 'invalid percent-encoding in the query string near "%zz"'],
  ["GET", "?q=%ff%fe", null, "", 400, 'invalid percent-encoding in the query string near "%ff%fe"'],
  ["POST", "", "q=%e", FORM, 400, 'invalid percent-encoding in the form near "%e"'],
  ["POST", "", new Uint8Array([0x71, 0x3d, 0xff]), FORM, 400, "body content is not valid utf8"],
  ["POST", "", new Uint8Array([0xff]), "", 400, "body content is not valid utf8"],
  ["POST", "", "{", "application/json", 400, "the JSON body cannot be read: JSON Parse error: Expected '}'"],
  ["POST", "", "[]", "application/json", 400, "the JSON body must be an object with the member `q`"],
  ["POST", "", "null", "application/json", 400, "the JSON body must be an object with the member `q`"],
  ["POST", "", '{"q":["x"]}', "application/json", 400, "`q` must be a string, a number or a boolean, got a list"],
  ["POST", "", '{"__proto__":{"q":"x"}}', "application/json", 400, 'missing required parameter "q"'],
  ["POST", "", "--X\r\nnothing", "multipart/form-data; boundary=B", 400, "the multipart form cannot be read"],
  ["POST", "", "--B\r\n\r\n", "multipart/form-data", 400, "the multipart form cannot be read"],
  ["POST", "", `q=${"x".repeat(5000)}`, FORM, 413, "max request size (4000 bytes) exceeded"],
  ["GET", `?q=${enc("SELECT v FROM m; selec")}`, null, "", 400, "error parsing query: found selec, expected SELECT, DELETE, SHOW"],
  ["GET", `?q=${enc(SELECT)}&params={`, null, "", 400, "error parsing query parameters: "],
  ["GET", `?q=${enc(SELECT)}&params=[1]`, null, "", 400, "error parsing query parameters: json: cannot unmarshal array into Go value"],
  ["GET", `?q=${enc("SELECT v FROM m WHERE h = $h")}&params={}`, null, "", 400, "error parsing query: missing parameter: h"],
  ["PUT", `?q=${enc(SELECT)}`, null, "", 405, "method not allowed"],
  ["DELETE", `?q=${enc(SELECT)}`, null, "", 405, "method not allowed"],
];

test.each(REFUSED)("%s %s %j of type %j: %d %s", async (method, query, body, type, status, error) => {
  const { send, queries, reports } = app();
  const response = await send(method, `/query${query}`, {
    headers: { "content-type": type },
    ...(body === null ? {} : { body: body as BodyInit }),
  });
  const [got, answered] = await outcome(response);
  expect(got).toBe(status);
  expect((answered as { error: string }).error).toStartWith(error);
  expect(response.headers.get("x-influxdb-error")).toStartWith(error.slice(0, 20));
  expect([queries, reports]).toEqual([[], []]);
});

test.each([["x"], ["é"]])("what is wrong with a long text of %s is cut to what fits a header", async (character) => {
  const response = await app().send("GET", `/query?q=${enc(character.repeat(2000))}`);
  expect((await outcome(response))[0]).toBe(400);
  expect(response.headers.get("x-influxdb-error")).toMatch(/^error parsing query: found [\x20-\x7e]{1,1000}$/);
});

test("a refusal has the form that was asked for", async () => {
  const { send } = app();
  const refusal = async (query: string, accept: string) => (await send("GET", `/query?q=selec${query}`, { headers: { accept } })).text();
  const words =
    "error parsing query: found selec, expected SELECT, DELETE, SHOW, CREATE, DROP, EXPLAIN, GRANT, REVOKE, ALTER, SET, KILL at line 1, char 1";
  expect(await refusal("", "text/csv")).toBe(`error\n"${words}"\n`);
  expect(await refusal("&pretty=true", "*/*")).toBe(`{\n    "error": "${words}"\n}\n`);
});

test("semicolons alone are no statement", async () => {
  const { send } = app();
  expect(await outcome(await send("GET", "/query?q=;;"))).toEqual([200, {}]);
});

test("async=true answers at once, and the statements run", async () => {
  const asked = Promise.withResolvers<void>();
  const { send, queries } = app((request) => {
    asked.resolve();
    return oneRow(request);
  });
  const response = await send("POST", `/query?async=true&q=${enc(SELECT)}`);
  expect([response.status, await response.text()]).toEqual([204, ""]);
  await asked.promise;
  expect(queries).toHaveLength(1);
});

test("a request to /query before the log is replayed is 503", async () => {
  const { send, queries } = fakes({ status: () => ({ state: "replaying" }) });
  expect(await outcome(await send("GET", `/query?q=${enc(SELECT)}`))).toEqual([503, { error: "the server is not ready: replaying" }]);
  expect(queries).toEqual([]);
});
