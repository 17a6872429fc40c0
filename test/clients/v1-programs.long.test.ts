// v1 programs that are no packages of npm, unmodified, against a real server: the command-line shell, the Python and the Ruby client, as
// Debian has them (influxdb-client, python3-influxdb, ruby-influxdb), when this machine has them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
}, 60_000);
afterAll(() => server.dispose());

async function run(command: readonly string[]): Promise<{ code: number; output: string; errors: string }> {
  const env = { ...process.env, HOME: "/nonexistent" };
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  const [code, output, errors] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code, output, errors };
}

test("the command-line shell", async () => {
  const program = Bun.which("influx");
  if (program === null) {
    console.log("there is no `influx` here (Debian's influxdb-client): the shell was not tried");
    return;
  }
  const { port } = new URL(server.url);
  const shell = async (execute: string, ...more: string[]) => {
    const { code, output, errors } = await run([program, "-host", "127.0.0.1", "-port", port, "-execute", execute, ...more]);
    return { code, text: `${output}${errors}`.trim() };
  };
  const ok = async (execute: string, ...more: string[]) => {
    const { code, text } = await shell(execute, ...more);
    if (code !== 0) throw new Error(`${execute}: ${text}\n${server.output}`);
    return text;
  };
  expect(await ok("CREATE DATABASE sh")).toBe("");
  expect((await ok("SHOW DATABASES")).split("\n")).toContain("sh");
  expect(await ok('INSERT INTO autogen cpu,host=a v=1.5,n=3i,s="x y" 1700000000000000000', "-database", "sh")).not.toContain("ERR");
  expect(await ok("INSERT cpu,host=b v=2.5 1700000001000000000", "-database", "sh")).not.toContain("ERR");
  const inDatabase = ["-database", "sh"];
  expect((await ok("SELECT * FROM cpu", ...inDatabase)).split("\n").map((line) => line.trim().split(/\s+/))).toEqual([
    ["name:", "cpu"],
    ["time", "host", "n", "s", "v"],
    ["----", "----", "-", "-", "-"],
    ["1700000000000000000", "a", "3", "x", "y", "1.5"],
    ["1700000001000000000", "b", "2.5"],
  ]);
  expect(await ok("SELECT v FROM cpu", ...inDatabase, "-precision", "rfc3339", "-format", "csv")).toBe(
    "name,time,v\ncpu,2023-11-14T22:13:20Z,1.5\ncpu,2023-11-14T22:13:21Z,2.5",
  );
  expect(JSON.parse(await ok("SELECT max(v) FROM cpu GROUP BY host", ...inDatabase, "-format", "json", "-precision", "s"))).toEqual({
    // it asks for chunks, and shows each as a result
    results: [
      { series: [{ name: "cpu", tags: { host: "a" }, columns: ["time", "max"], values: [[1700000000, 1.5]] }] },
      { series: [{ name: "cpu", tags: { host: "b" }, columns: ["time", "max"], values: [[1700000001, 2.5]] }] },
    ],
  });
  expect(
    (await ok("SHOW FIELD KEYS", ...inDatabase))
      .split("\n")
      .slice(-3)
      .map((line) => line.split(/\s+/)),
  ).toEqual([
    ["n", "integer"],
    ["s", "string"],
    ["v", "float"],
  ]);
  expect(await ok("SHOW RETENTION POLICIES", ...inDatabase)).toContain("autogen");
  const refused = await shell("SELEC", ...inDatabase);
  expect(refused.code).not.toBe(0);
  expect(refused.text).toContain("error parsing query: found SELEC, expected SELECT, DELETE, SHOW");
  const unknown = await shell("SELECT v FROM cpu", "-database", "nowhere");
  expect(unknown.code).not.toBe(0);
  expect(unknown.text).toContain("database not found: nowhere");
  await ok("DELETE FROM cpu WHERE host = 'a'", ...inDatabase);
  expect(await ok("SELECT v FROM cpu", ...inDatabase, "-format", "csv")).toBe("name,time,v\ncpu,1700000001000000000,2.5");
  await ok("DROP DATABASE sh");
  expect((await ok("SHOW DATABASES")).split("\n")).not.toContain("sh");
}, 60_000);

/** The Python that has the client: Debian's packages belong to Debian's Python. */
function pythonWith(module: string): string | null {
  const found = ["python3", "/usr/bin/python3"].find((python) => {
    try {
      return Bun.spawnSync([python, "-c", `import ${module}`], { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
    } catch {
      return false;
    }
  });
  return found ?? null;
}

test("the Python client", async () => {
  const python = pythonWith("influxdb");
  if (python === null) {
    console.log("there is no Python package `influxdb` here (Debian's python3-influxdb): it was not tried");
    return;
  }
  const { code, output, errors } = await run([python, join(import.meta.dir, "v1-query.py"), new URL(server.url).port]);
  if (code !== 0) throw new Error(`${errors}\n${server.output}`);
  const { version, ping, errors: refused, databases, ...found } = JSON.parse(output);
  console.log(`influxdb ${version} of ${python}`);
  expect(ping).toMatch(/^3\./);
  expect(databases).toEqual(expect.arrayContaining(["_internal", "py"]));
  const first = "2023-11-14T22:13:20Z";
  const second = "2023-11-14T22:13:21.250000Z";
  const policy = { shardGroupDuration: "168h0m0s", replicaN: 1, default: true };
  expect(found).toEqual({
    policies: [
      { name: "autogen", duration: "0s", ...policy },
      { name: "weekly", duration: "336h0m0s", ...policy, shardGroupDuration: "24h0m0s", default: false },
    ],
    written: true,
    rows: [
      { time: first, b: true, host: "a, b", n: 3, s: 'x"y', v: 1.5 },
      { time: second, b: null, host: "c", n: -70000, s: null, v: 2.5 },
    ],
    epoch: [
      { time: 1700000000000, v: 1.5 },
      { time: 1700000001250, v: 2.5 },
    ],
    groups: [
      [{ host: "a, b" }, [{ time: first, max: 1.5 }]],
      [{ host: "c" }, [{ time: second, max: 2.5 }]],
    ],
    bound: [{ time: second, n: -70000 }],
    several: [[{ time: "2023-11-14T22:13:22Z", free: 10 ** 15 }], [{ time: "1970-01-01T00:00:00Z", count: 2 }]],
    measurements: ["cpu", "mem"],
    series: ["cpu,host=a\\,\\ b", "cpu,host=c", "mem,host=c"],
    policy: [9],
    chunks: 2,
    json: [
      { time: first, n: 3 },
      { time: "2023-11-14T22:13:21.25Z", n: -70000 },
    ],
    zipped: [1.5],
    left: [{ time: first, v: 1.5 }],
    dropped: ["cpu"],
    gone: expect.not.arrayContaining(["py"]),
  });
  expect(refused).toEqual({
    parse: expect.stringContaining("400: "),
    database: "database not found: nowhere",
    statement: "database not found: nowhere",
  });
  expect(refused.parse).toContain("error parsing query: found SELEC, expected SELECT, DELETE, SHOW");
}, 60_000);

test("the Ruby client", async () => {
  const ruby = Bun.which("ruby");
  if (ruby === null || (await run([ruby, "-e", 'require "influxdb"'])).code !== 0) {
    console.log("there is no Ruby with `influxdb` here (Debian's ruby-influxdb): it was not tried");
    return;
  }
  const { code, output, errors } = await run([ruby, join(import.meta.dir, "v1-query.rb"), new URL(server.url).port]);
  if (code !== 0) throw new Error(`${errors}\n${server.output}`);
  const { library, version, gone, databases, parse, unknown, line, ...found } = JSON.parse(output);
  console.log(`influxdb ${library} of ${ruby}`);
  expect(version).toMatch(/^3\./);
  expect([databases, gone]).toEqual([expect.arrayContaining([{ name: "rb" }]), expect.not.arrayContaining([{ name: "rb" }])]);
  const start = 1.7e18;
  const points = (name: string, ...values: object[]) => [{ name, tags: null, values }];
  expect(found).toEqual({
    ping: "200",
    rows: points("cpu", { time: "2023-11-14T22:13:20Z", b: true, host: "a, b", n: 3, s: 'x "y" \\', v: 1.5 })[0],
    bound: points("cpu", { time: start, v: 3 }),
    groups: [
      ["cpu", { host: "a, b" }, [{ time: start, max: 1.5 }]],
      ["cpu", { host: "h2" }, [{ time: start, max: 2 }]],
      ["cpu", { host: "h3" }, [{ time: start, max: 3 }]],
    ],
    chunks: [2, 1],
    raw: [{ name: "cpu", columns: ["time", "v"], values: [["2023-11-14T22:13:20Z", 1.5]] }],
    series: ["async", "cpu", "kept"],
    fields: {
      async: { i: ["integer"] },
      cpu: { b: ["boolean"], n: ["integer"], s: ["string"], v: ["float"] },
    },
    policies: [
      ["autogen", "0s", true],
      ["week", "0s", false],
    ],
    policy: points("kept", { time: start, v: 9 }),
    async: points("async", { time: 0, count: 300, sum: 44850 }),
    left: ["async", "kept"],
  });
  expect(parse).toContain("error parsing query: found SELEC, expected SELECT, DELETE, SHOW");
  expect(unknown).toBe("InfluxDB::QueryError: database not found: nowhere");
  expect(line).toStartWith('InfluxDB::Error: {"error":"write of line protocol failed","data":[{');
}, 60_000);
