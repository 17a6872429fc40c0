// Hostile requests to the routes of scripts: what comes back is an error of the client's, and the one query worker goes on answering.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const AUTH = { authorization: "Token tok" };
const JSON_TYPE = { ...AUTH, "content-type": "application/json" };
const GOOD = 'import "array"\narray.from(rows: [{a: 1}])';
const GOOD_ANSWER = ",result,table,a\r\n,_result,0,1\r\n\r\n";
const MIB = 1 << 20;

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--query-workers", "1", "--v2-query-concurrency", "2"] });
  await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(SETUP) });
});
afterEach(async () => {
  const { status, text } = await post("query?org=o", JSON.stringify({ query: GOOD }));
  expect([status, text]).toEqual([200, GOOD_ANSWER]);
});
afterAll(() => server.dispose());

async function post(path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const init = { method: "POST", headers: { ...JSON_TYPE, ...headers }, body };
  const response = await fetch(`${server.bucketsUrl}/api/v2/${path}`, init);
  return { status: response.status, text: await response.text() };
}

const nested = (open: string, inner: string, close: string, depth: number) => open.repeat(depth) + inner + close.repeat(depth);
const NODE = '{"type":"UnaryExpression","operator":"-","argument":';
const deepTree = (depth: number) =>
  `{"type":"Package","package":"main","files":[{"type":"File","imports":null,"body":[{"type":"ExpressionStatement","expression":${nested(NODE, '{"type":"IntegerLiteral","value":"1"}', "}", depth)}}]}]}`;
const statement = (expression: unknown) => ({
  type: "Package",
  files: [{ type: "File", imports: null, body: [{ type: "ExpressionStatement", expression }] }],
});

const BAD_BODIES: readonly string[] = [
  "",
  " ",
  "null",
  "[]",
  "5",
  '"text"',
  "{",
  '{"query"',
  '{"query":}',
  `{"query":"x"}{"query":"y"}`,
  '{"query":5}',
  '{"query":["x"]}',
  '{"query":"x","type":"sql"}',
  '{"query":"x","type":7}',
  '{"query":"x","now":"yesterday"}',
  '{"query":"x","now":12}',
  '{"query":"x","dialect":"csv"}',
  '{"query":"x","dialect":{"header":"yes"}}',
  '{"query":"x","dialect":{"delimiter":";;"}}',
  '{"query":"x","dialect":{"delimiter":"ż"}}',
  '{"query":"x","dialect":{"annotations":"all"}}',
  '{"query":"x","dialect":{"annotations":[5]}}',
  '{"query":"x","dialect":{"annotations":["__proto__"]}}',
  '{"query":"x","extern":5}',
  '{"query":"x","extern":[]}',
  '{"query":"x","extern":{"type":"File"}}',
  '{"query":"x","extern":{"type":"File","imports":5,"body":[]}}',
  '{"query":"x","extern":{"type":"File","imports":[],"body":[{"type":"__proto__"}]}}',
  '{"query":"x","extern":{"type":"Package","files":7}}',
  '{"ast":5}',
  '{"ast":{}}',
  '{"ast":{"type":"Package","files":[null]}}',
  '{"__proto__":{"query":"buckets()"}}',
  '{"constructor":{"prototype":{"query":"buckets()"}}}',
  nested("[", "", "]", 100_000),
  `{"query":"x","extern":${nested('{"a":', "1", "}", 100_000)}}`,
  `{"ast":${deepTree(50_000)}}`,
  `{"ast":${deepTree(1000)}}`,
  JSON.stringify({ ast: statement({ type: "CallExpression", callee: { type: "Identifier", name: "buckets" }, arguments: 5 }) }),
  JSON.stringify({ ast: statement({ type: "Identifier", name: { toString: 1 } }) }),
  JSON.stringify({ ast: statement({ type: "IntegerLiteral", value: "9".repeat(100_000) }) }),
  JSON.stringify({ ast: statement({ type: "DurationLiteral", values: [{ magnitude: 1e300, unit: "y" }] }) }),
  JSON.stringify({ ast: statement({ type: "RegexpLiteral", value: "(".repeat(10_000) }) }),
  JSON.stringify({ ast: statement({ type: "DateTimeLiteral", value: "never" }) }),
  JSON.stringify({ query: nested("(", "1", ")", 5_000) }),
  JSON.stringify({ query: nested("[", "1", "]", 5_000) }),
  JSON.stringify({ query: `x = ${nested("{a: ", "1", "}", 5_000)}` }),
  JSON.stringify({ query: "1 + ".repeat(20_000) }),
  JSON.stringify({ query: `x = ${"{a: ".repeat(50_000)}` }),
  JSON.stringify({ query: "f = (f) => f(f: f)\nf(f: f)" }),
  JSON.stringify({ query: '"'.repeat(100_001) }),
  JSON.stringify({ query: "\u0000\ud800" }),
];

test("bodies that are broken, of other types, or nested deep", async () => {
  for (const body of BAD_BODIES) {
    const { status, text } = await post("query?org=o", body);
    expect([body.slice(0, 100), status, Object.keys(JSON.parse(text))]).toEqual([body.slice(0, 100), 400, ["code", "message"]]);
    expect(text.length).toBeLessThan(100_000);
    for (const tool of body.length > 10_000 ? ["analyze"] : ["ast", "analyze"]) {
      const { status: inspected } = await post(`query/${tool}`, body);
      expect([tool, body.slice(0, 100), inspected]).toEqual([tool, body.slice(0, 100), inspected < 300 ? 200 : 400]);
    }
  }
  for (const bytes of [new Uint8Array([0xff, 0xfe]), new Uint8Array(1000)]) {
    expect((await post("query?org=o", bytes)).status).toBe(400);
    expect((await post("query?org=o", bytes, { "content-type": "application/vnd.flux" })).status).toBe(400);
  }
}, 60_000);

test("a body of twice the limit is refused, plain, packed, or of unknown length", async () => {
  const large = JSON.stringify({ query: `// ${"x".repeat(8 * MIB)}\n${GOOD}` });
  for (const path of ["query?org=o", "query/ast", "query/analyze"]) {
    expect((await post(path, large)).status).toBe(413);
    expect((await post(path, gzipSync(large), { "content-encoding": "gzip" })).status).toBe(413);
    const pieces = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let i = 0; i < 8; i++) controller.enqueue(new Uint8Array(MIB).fill(32));
        controller.close();
      },
    });
    expect((await post(path, pieces)).status).toBe(413);
    expect((await post(path, gzipSync(large).subarray(0, 200), { "content-encoding": "gzip" })).status).toBe(400);
  }
  // what fits, does
  const fits = JSON.stringify({ query: `// ${"x".repeat(3 * MIB)}\n${GOOD}` });
  expect(await post("query?org=o", gzipSync(fits), { "content-encoding": "gzip" })).toEqual({ status: 200, text: GOOD_ANSWER });
});

test("an answer in gzip holds the bytes of the plain one, be it in one piece or in many", async () => {
  const rows = (count: number) =>
    `import "generate"\ngenerate.from(count: ${count}, fn: (n) => n * n, start: 2024-03-05T10:00:00Z, stop: 2024-03-05T11:00:00Z)`;
  for (const query of [rows(3), rows(300), rows(20_000), "nope()"]) {
    const ask = async (encoding: string) => {
      const headers = { ...JSON_TYPE, "accept-encoding": encoding };
      const init = { method: "POST", headers, body: JSON.stringify({ query }), decompress: false };
      const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, init);
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, isPacked: response.headers.get("content-encoding") === "gzip", bytes };
    };
    const [plain, packed] = [await ask("identity"), await ask("gzip")];
    expect([plain.isPacked, packed.status]).toEqual([false, plain.status]);
    // a short one is sent as it is
    expect(packed.isPacked).toBe(plain.bytes.length > 4096);
    const unpacked = packed.isPacked ? gunzipSync(packed.bytes) : packed.bytes;
    expect(Buffer.from(unpacked).equals(Buffer.from(plain.bytes))).toBe(true);
  }
});

/** Sends bytes, and gives what came until the other side closed or `until` was there. */
async function raw(bytes: string, { until = "", end = false } = {}): Promise<string> {
  const { hostname, port } = new URL(server.bucketsUrl);
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
    if (until !== "" && text.includes(until)) resolve(text);
  });
  socket.on("close", () => resolve(text));
  socket.on("error", () => resolve(text));
  socket.write(bytes);
  if (end) socket.end();
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

const HEAD = "POST /api/v2/query?org=o HTTP/1.1\r\nHost: x\r\nAuthorization: Token tok\r\nContent-Type: application/json\r\n";
const BODY = JSON.stringify({ query: GOOD });

test("raw sockets: lengths that contradict each other, unfinished bodies", async () => {
  const contradicting = [
    `${HEAD}Content-Length: ${BODY.length}\r\nContent-Length: 5\r\n\r\n${BODY}`,
    `${HEAD}Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`,
    `${HEAD}Content-Length: -1\r\n\r\n${BODY}`,
    `${HEAD}Content-Length: 0x10\r\n\r\n${BODY}`,
    `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n${BODY}\r\n0\r\n\r\n`,
  ];
  for (const bytes of contradicting) expect(await raw(bytes, { until: "\r\n\r\n", end: true })).not.toContain("_result");
  // a body that ends early runs nothing
  expect(await raw(`${HEAD}Content-Length: ${BODY.length + 10}\r\n\r\n${BODY}`, { end: true })).not.toContain("_result");
});

const ENDLESS = `import "generate"
generate.from(count: 9000000, fn: (n) => n * n, start: 2020-01-01T00:00:00Z, stop: 2021-01-01T00:00:00Z)
  |> map(fn: (r) => ({r with text: "value \${string(v: r._value)}"}))`;

/** Begins a request by hand: nothing of the answer is read unless a listener wants it. */
function begun(script: string): Socket {
  const { hostname, port } = new URL(server.bucketsUrl);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify({ query: script });
  socket.on("error", () => {});
  socket.write(`${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return socket;
}

test("clients that leave, before and within an answer, free the worker and its permits", async () => {
  // two run at a time: if one of these stayed, the next request would wait for ever
  for (let i = 0; i < 6; i++) {
    const client = new AbortController();
    const body = JSON.stringify({ query: ENDLESS });
    const asked = fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers: JSON_TYPE, body, signal: client.signal });
    asked.catch(() => {});
    if (i % 2 === 0) await Promise.race([asked, Bun.sleep(20)]);
    client.abort();
    const socket = begun(ENDLESS);
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.destroy();
    expect((await post("query?org=o", JSON.stringify({ query: GOOD }))).text).toBe(GOOD_ANSWER);
  }
}, 60_000);

test("a client that does not read holds up nobody else", async () => {
  const stalled = begun(
    'import "generate"\ngenerate.from(count: 900000, fn: (n) => n, start: 2020-01-01T00:00:00Z, stop: 2021-01-01T00:00:00Z)',
  );
  await new Promise((resolve) => stalled.once("connect", resolve));
  try {
    for (let i = 0; i < 20; i++) expect((await post("query?org=o", JSON.stringify({ query: GOOD }))).text).toBe(GOOD_ANSWER);
  } finally {
    stalled.destroy();
  }
}, 60_000);
