// Scripts that read from and write to another server: this one over HTTP, and a server that answers what a test wants.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { Server } from "bun";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const JSON_TYPE = { authorization: "Token tok", "content-type": "application/json" };
const RANGE = "range(start: 2024-03-05T00:00:00Z, stop: 2024-03-05T01:00:00Z)";
const LINES = ["a", "b", 'quoted "x"']
  .flatMap((host, h) => [0, 1, 2, 3].map((i) => `cpu,host=${host.replaceAll(" ", "\\ ")} usage=${h + i}.5,count=${i}i ${at(i)}`))
  .concat(`mem,host=a text="say \\"$\{x}\\", ż" ${at(0)}`)
  .join("\n");

interface Asked {
  readonly path: string;
  readonly token: string | null;
  readonly body: string;
}

let server: TestServer;
let other: Server<unknown>;
let asked: Asked[] = [];
let answer: () => Response | Promise<Response>;

function at(minute: number): string {
  return `${BigInt(Date.UTC(2024, 2, 5, 0, minute)) * 1_000_000n}`;
}

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--flux-allow-private-network", "--v2-default-bucket-retention", "0"] });
  const { org } = (await (await send("/api/v2/setup", SETUP)).json()) as { org: { id: string } };
  expect((await send("/api/v2/buckets", { orgID: org.id, name: "copy", retentionRules: [] })).status).toBe(201);
  const written = await fetch(`${server.bucketsUrl}/api/v2/write?org=o&bucket=b`, { method: "POST", headers: JSON_TYPE, body: LINES });
  expect([written.status, await written.text()]).toEqual([204, ""]);
  other = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      asked.push({ path: pathname + search, token: request.headers.get("authorization"), body: await request.text() });
      return answer();
    },
  });
});
afterEach(() => {
  asked = [];
});
afterAll(async () => {
  await other.stop(true);
  await server.dispose();
});

function send(path: string, body: unknown): Promise<Response> {
  return fetch(server.bucketsUrl + path, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
}

async function query(script: string): Promise<string> {
  const annotations = ["datatype", "group", "default"];
  const response = await send("/api/v2/query?org=o", { query: script, now: "2024-03-05T02:00:00Z", dialect: { annotations } });
  const text = await response.text();
  return response.status === 200 ? text : `${response.status} ${(JSON.parse(text) as { message: string }).message}`;
}

const hostArguments = () => `host: "${server.bucketsUrl}", org: "o", token: "tok"`;

const SAME_HERE_AND_THERE = [
  `from(bucket: "b"HOST) |> ${RANGE}`,
  `from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._measurement == "cpu" and r.host == "quoted \\"x\\"")`,
  `from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._measurement == "cpu" and (r.host == "a" or r.host == "b") and r._value > 1)`,
  `from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._field == "count") |> aggregateWindow(every: 2m, fn: sum)`,
  `from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._field == "usage") |> group(columns: ["host"]) |> mean()`,
  `from(bucket: "b"HOST) |> range(start: -90m) |> filter(fn: (r) => r._measurement == "none")`,
  `a = from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._field == "usage")
   b = from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._field == "count") |> toFloat()
   join(tables: {a: a, b: b}, on: ["_time", "host"]) |> keep(columns: ["_time", "host", "_value_a", "_value_b"])`,
  `rows = from(bucket: "b"HOST) |> ${RANGE} |> filter(fn: (r) => r._field == "usage") |> findColumn(fn: (key) => key.host == "a", column: "_value")
   import_free = from(bucket: "b") |> ${RANGE} |> filter(fn: (r) => r._field == "count") |> map(fn: (r) => ({v: float(v: r._value) + rows[1]}))
   import_free`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b"HOST, start: 2020-01-01T00:00:00Z)`,
  "buckets(HOST)",
];

test.each(SAME_HERE_AND_THERE)("the same over HTTP: %s", async (script) => {
  const here = script.replaceAll(/,? ?HOST/g, "");
  const there = script.replaceAll("(HOST)", `(${hostArguments()})`).replaceAll("HOST", `, ${hostArguments()}`);
  const want = await query(here);
  expect(want).toMatch(script.includes('"none"') ? /^\r\n$/ : /^#datatype/);
  expect(await query(there)).toBe(want);
});

test("to() on another host: the rows are there, and what is refused is told", async () => {
  const copied = await query(
    `from(bucket: "b") |> ${RANGE} |> filter(fn: (r) => r._measurement == "cpu") |> to(bucket: "copy", ${hostArguments()})`,
  );
  expect(copied).toContain("quoted");
  const read = (bucket: string) => query(`from(bucket: "${bucket}") |> ${RANGE} |> filter(fn: (r) => r._measurement == "cpu")`);
  expect(await read("copy")).toBe(await read("b"));
  const refused = await query(
    `import "array"\narray.from(rows: [{_time: 2024-03-05T00:00:00Z, _measurement: "cpu", _field: "usage", _value: "text", host: "a"}]) |> to(bucket: "copy", ${hostArguments()})`,
  );
  expect(refused).toContain(",error,reference\r\n");
  expect(refused).toContain("usage");
  expect(await query(`from(bucket: "b") |> ${RANGE} |> to(bucket: "nope", ${hostArguments()})`)).toContain(`bucket ""nope"" not found`);
});

test("scripts that wait for a silent MQTT broker do not hold up others", async () => {
  const waiting = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    socket.on("error", () => {});
    if (sockets.push(socket) === 4) waiting.resolve();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as { port: number };
  const publish = `mqtt.publish(broker: "tcp://127.0.0.1:${port}", topic: "t", message: "m", timeout: 20s)`;
  const script = `import "experimental/mqtt"\nimport "array"\narray.from(rows: [{v: ${publish}}])`;
  const asked = [1, 2, 3, 4].map(() => query(script));
  await waiting.promise;
  expect(await query('import "array"\narray.from(rows: [{v: 1}])')).toContain(",,0,1\r\n");
  for (const socket of sockets) socket.end();
  for (const text of await Promise.all(asked)) expect(text).toMatch(/^400 .*the broker closed the connection/s);
  silent.close();
});

const csv = (...rows: string[]) =>
  ["#datatype,string,long,long", "#group,false,false,true", "#default,_result,,", ",result,table,a", ...rows, "", ""].join("\r\n");

test("the other server is asked for the series that filters want, with the token and the organization", async () => {
  answer = () => new Response(csv(",,0,7"));
  const host = `http://127.0.0.1:${other.port}`;
  const script = `from(bucketID: "00000000000000aa", host: "${host}/", orgID: "00000000000000bb", token: "secret")
    |> range(start: 2024-03-05T00:00:00Z, stop: 2024-03-05T00:00:01.5Z)
    |> filter(fn: (r) => r._measurement == "m\\\${x}" and (r.a == "1" or r.a == "\\"2"))`;
  await query(script);
  const [{ path, token, body }] = asked as [Asked];
  expect([path, token]).toEqual(["/api/v2/query?orgID=00000000000000bb", "Token secret"]);
  expect((JSON.parse(body) as { query: string }).query).toBe(
    `from(bucketID: "00000000000000aa") |> range(start: 2024-03-05T00:00:00Z, stop: 2024-03-05T00:00:01.5Z) |> filter(fn: (r) => r["_measurement"] == "m\\\${x}") |> filter(fn: (r) => r["a"] == "1" or r["a"] == "\\"2")`,
  );
});

const BAD: [what: string, answer: () => Response, message: string | RegExp][] = [
  ["a refusal as JSON", () => Response.json({ message: "no such org" }, { status: 404 }), "no such org"],
  ["a refusal as text", () => new Response("<html>", { status: 502 }), "status 502"],
  ["an error behind tables", () => new Response(`${csv(",,0,7")}\r\n,error,reference\r\n,"it, broke",\r\n`), "it, broke"],
  ["no CSV", () => new Response("<html>hello</html>"), /metadata|annotation/],
  ["a wrong value", () => new Response(csv(",,0,seven")), /seven/],
  ["a column without annotations", () => new Response(csv().replace(",a\r\n", ",a,a\r\n")), /wrong number of fields/],
  ["an unknown type", () => new Response(csv(",,0,7").replace("long,long", "long,blob")), /blob/],
  ["a redirect that ends nowhere", () => Response.redirect(`http://127.0.0.1:${other.port}/loop`, 307), "redirects"],
];

test.each(BAD)("the other server answers %s", async (_, given, message) => {
  answer = given;
  const text = await query(`buckets(host: "http://127.0.0.1:${other.port}", org: "o", token: "t")`);
  expect(text).toStartWith("400 ");
  expect(text).toMatch(message);
});

test("invalid hosts", async () => {
  for (const host of [
    "",
    "nonsense",
    "ftp://127.0.0.1",
    "http://127.0.0.1:1",
    "http://",
    "file:///etc/passwd",
    "http://no.such.host.invalid",
  ]) {
    expect(await query(`buckets(host: "${host}", org: "o")`)).toStartWith("400 ");
  }
});

test("a client that leaves ends the request of its script", async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  answer = () => {
    arrive();
    return new Response(new ReadableStream({ cancel: () => leave() }));
  };
  const client = new AbortController();
  const body = JSON.stringify({ query: `buckets(host: "http://127.0.0.1:${other.port}", org: "o")` });
  const response = fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers: JSON_TYPE, body, signal: client.signal });
  await arrived;
  client.abort();
  await expect(response).rejects.toThrow();
  await left;
});
