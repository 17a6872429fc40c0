// The single executable, as a user gets it: built once, copied to an empty folder, run with the source tree out of reach where the system
// allows to hide it. Everything that is loaded late (DuckDB, Arrow, Parquet, the workers, WebAssembly) is used.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InfluxDBClient } from "@influxdata/influxdb3-client";
import { Aedes } from "aedes";
import { tableFromIPC } from "apache-arrow";
import { buildBinary } from "../src/tools/build.ts";
import { TestServer } from "./support/servers/server.ts";

const ROOT = join(import.meta.dir, "..");

let scratch = "";
let binary = "";

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "tsdb-build-"));
  for (const folder of ["alone", "home", "hidden"]) mkdirSync(join(scratch, folder));
  await buildBinary({ entryPoint: join(ROOT, "src/main.ts"), outFile: join(scratch, "built") });
  binary = join(scratch, "alone", "tsdb");
  copyFileSync(join(scratch, "built"), binary);
  chmodSync(binary, 0o755);
}, 120_000);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A namespace of its own in which an empty folder is mounted over the source tree; needs root and a system that allows it. */
function withoutSourceTree(): string[] | undefined {
  const hide = 'mount --bind "$0" "$1" && test ! -e "$1/package.json"';
  const shell = ["unshare", "-m", "bash", "-c"];
  const tried = Bun.spawnSync([...shell, hide, join(scratch, "hidden"), ROOT], { cwd: ROOT, stderr: "ignore" });
  if (tried.exitCode !== 0) return undefined;
  return [...shell, `mount --bind ${quoted(join(scratch, "hidden"))} ${quoted(ROOT)} && exec "$0" "$@"`];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

test("serves from an empty folder, without the source tree", async () => {
  const prefix = withoutSourceTree();
  if (prefix === undefined) console.log("cannot hide the source tree here (needs root and mount namespaces): it stays in reach");
  await using server = await TestServer.start({
    command: [...(prefix ?? []), binary],
    cwd: join(scratch, "alone"),
    env: { HOME: join(scratch, "home"), PATH: process.env["PATH"] ?? "" },
    withFlight: true,
  });
  const written = await fetch(`${server.url}/api/v3/write_lp?db=d`, {
    ...{ method: "POST", body: "cpu,host=a usage=0.5,n=7i 1700000000000000000\ncpu,host=b usage=1.5 1700000000000000001" },
  });
  expect(written.status, await written.text()).toBe(204);
  expect(await server.sql("d", "SELECT host, avg(usage) AS usage FROM cpu GROUP BY host ORDER BY host")).toEqual([
    { host: "a", usage: 0.5 },
    { host: "b", usage: 1.5 },
  ]);
  const arrow = tableFromIPC(await answerIn(server, "arrow"));
  expect([...arrow.getChild("host")!]).toEqual(["a", "b"]);
  const parquet = await answerIn(server, "parquet");
  expect(new TextDecoder().decode(parquet.subarray(0, 4))).toBe("PAR1");
  expect(await overFlight(server, "SELECT host, usage, n FROM cpu ORDER BY host")).toEqual([
    { host: "a", usage: 0.5, n: 7 },
    { host: "b", usage: 1.5, n: null },
  ]);
  for (const page of ["/health", "/metrics", "/docs", "/openapi.json"]) {
    const response = await fetch(server.url + page);
    expect(`${page} ${response.status}`, await response.text()).toBe(`${page} 200`);
  }

  await server.kill("SIGKILL");
  await server.restart();
  expect(await server.sql("d", "SELECT count(*) AS n FROM cpu")).toEqual([{ n: 2 }]);
  expect(await server.stop()).toBe(0);
  // after the flush of a clean stop the rows come from a file
  await server.restart();
  expect(await server.sql("d", "SELECT count(*) AS n FROM cpu")).toEqual([{ n: 2 }]);
  expect(await server.stop()).toBe(0);

  expect(readdirSync(join(scratch, "alone"))).toEqual(["tsdb"]);
  expect(readdirSync(join(scratch, "home/.cache/tsdb"))).toHaveLength(1);
}, 120_000);

test("runs plugins: on writes, on a schedule, on requests, in a dry run, after a kill", async () => {
  const plugins = join(scratch, "plugins");
  mkdirSync(plugins);
  writeFileSync(
    join(scratch, "count.py"),
    `def process_writes(local, batches, args=None):
    for batch in batches:
        for row in batch["rows"]:
            local.write(LineBuilder("counts").tag("of", batch["table_name"]).int64_field("rows", 1).time_ns(row["time"]))
def process_scheduled_call(local, when, args=None):
    local.info("at", when.isoformat())
def process_request(local, query, headers, body, args=None):
    return local.query("SELECT sum(rows) AS rows FROM counts")
`,
  );
  await using server = await TestServer.start({
    command: [...(withoutSourceTree() ?? []), binary],
    cwd: scratch,
    env: { HOME: join(scratch, "home"), PATH: process.env["PATH"] ?? "" },
    flags: ["--plugin-dir", plugins],
  });
  const command = async (...args: string[]): Promise<string> => {
    const child = Bun.spawn([binary, ...args, "--host", server.url, "--database", "d"], {
      ...{ cwd: scratch, env: { HOME: join(scratch, "home"), PATH: process.env["PATH"] ?? "" }, stdout: "pipe", stderr: "pipe" },
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect(await child.exited, error).toBe(0);
    return out;
  };
  await command("write", "m v=1i 1");
  const specs = { onWrites: "all_tables", onRequests: "request:counts", each: "every:1s" };
  let upload = ["--upload"];
  for (const [name, spec] of Object.entries(specs)) {
    await command("create", "trigger", name, "--trigger-spec", spec, "--path", "count.py", ...upload);
    upload = [];
  }
  // rows count by their times, as a kill may call the plugin with them again
  const counted = async (rows: number) => {
    const end = performance.now() + 60_000;
    for (let found = ""; found !== `[{"rows": ${rows}}]`; await Bun.sleep(20)) {
      expect(performance.now(), `a minute later, instead of ${rows} rows: ${found}`).toBeLessThan(end);
      const answer = await fetch(`${server.url}/api/v3/engine/counts`);
      found = await answer.text();
    }
  };
  await command("write", "m v=1i 2\nm v=1i 3");
  await counted(2);
  const logs = () => server.sql("d", "SELECT log_text FROM system.processing_engine_logs WHERE trigger_name = 'each' LIMIT 1");
  while ((await logs()).length === 0) await Bun.sleep(20);
  expect(await command("test", "wal_plugin", "count.py", "--lp", "x v=1i 1")).toContain("counts,of=x rows=1i");
  await server.kill("SIGKILL");
  await server.restart();
  await command("write", "m v=1i 4");
  await counted(3);
  expect(await server.stop()).toBe(0);
}, 120_000);

test("scripts send to an MQTT broker", async () => {
  const broker = await Aedes.createBroker();
  const seen: string[] = [];
  broker.on("publish", ({ topic, payload, qos }, client) => {
    if (client !== null) seen.push(`${client.id} ${qos} ${topic} ${payload}`);
  });
  const listener = createServer((socket) => void broker.handle(socket));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  await using server = await TestServer.start({
    command: [...(withoutSourceTree() ?? []), binary],
    cwd: scratch,
    env: { HOME: join(scratch, "home"), PATH: process.env["PATH"] ?? "" },
    withBuckets: true,
    flags: ["--flux-allow-private-network"],
  });
  const headers = { authorization: "Token tok", "content-type": "application/json" };
  const send = async (path: string, body: unknown): Promise<string> => {
    const response = await fetch(server.bucketsUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    expect(response.ok, text).toBe(true);
    return text;
  };
  await send("/api/v2/setup", { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" });
  const query = `import "array"
import "experimental/mqtt"
array.from(rows: [{_time: 1970-01-01T00:00:00.000000007Z, _value: 1.5}]) |> mqtt.to(broker: "tcp://localhost:${port}", name: "m", qos: 2)`;
  expect(await send("/api/v2/query?org=o", { query })).toContain(",1970-01-01T00:00:00.000000007Z,1.5");
  expect(seen).toEqual(["flux-mqtt 2 /m m _value=1.5 7\n"]);
  expect(await server.stop()).toBe(0);
  listener.close();
  broker.close();
}, 120_000);

test("a cache that cannot be written is a clear error", async () => {
  const unusable = join(binary, "cache"); // below a file
  const serve = ["serve", "--without-auth", "--http-bind", "127.0.0.1:0", "--data-dir", join(scratch, "data")];
  const child = Bun.spawn(["bash", "-c", 'exec "$0" "$@" 2>&1', binary, ...serve], {
    ...{ cwd: scratch, env: { TSDB_CACHE_DIR: unusable }, stdin: "ignore", stdout: "pipe" },
  });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += new TextDecoder().decode(chunk);
    if (/cannot unpack the SQL engine into \S+: .*; set TSDB_CACHE_DIR to a writable folder/.test(printed)) break;
  }
  child.kill("SIGKILL");
  await child.exited;
  expect(printed).toContain(`cannot unpack the SQL engine into ${unusable}`);
}, 60_000);

test("a bad flag is one line and exit code 2", () => {
  const { exitCode, stderr } = Bun.spawnSync([binary, "serve", "--no-such-flag"], { cwd: scratch, env: {} });
  expect(exitCode).toBe(2);
  expect(stderr.toString().trim().split("\n")).toHaveLength(1);
}, 30_000);

async function answerIn(server: TestServer, format: string): Promise<Uint8Array> {
  const query = new URLSearchParams({ db: "d", q: "SELECT host, usage FROM cpu ORDER BY host", format });
  const response = await fetch(`${server.url}/api/v3/query_sql?${query}`);
  expect(response.status, format).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

/** As the vendor's client library asks, with everything that gRPC loads late. */
async function overFlight(server: TestServer, statement: string): Promise<Record<string, unknown>[]> {
  const client = new InfluxDBClient({ host: `http://${server.flightAddress}`, token: "any", database: "d" });
  try {
    const rows: Record<string, unknown>[] = [];
    for await (const row of client.query(statement, "d")) rows.push(row);
    return rows;
  } finally {
    await client.close();
  }
}
