// Telegraf's output for the v2 line, unmodified: it writes what it collects about the machine, and says what it is refused.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { installed, isInstalled } from "./native-programs.ts";

setDefaultTimeout(60_000);

const hasTelegraf = isInstalled("telegraf");
const TOKEN = "operator-token";

if (hasTelegraf) {
  let folder: string;
  let server: TestServer;
  let orgID: string;

  const send = async (path: string, body: unknown, type = "application/json") => {
    const headers = { authorization: `Token ${TOKEN}`, "content-type": type };
    const init = { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await fetch(`${server.bucketsUrl}${path}`, init);
    const text = await response.text();
    expect([response.ok, response.ok ? "" : text]).toEqual([true, ""]);
    return text;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tsdb-telegraf-"));
    server = await TestServer.start({ withBuckets: true });
    const made = await send("/api/v2/setup", { username: "admin", password: "password12", org: "o", bucket: "b", token: TOKEN });
    orgID = (JSON.parse(made) as { org: { id: string } }).org.id;
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true });
  });

  /** The TOML that collects about the machine and writes to the bucket. */
  function configuration(output: Readonly<Record<string, string>>): string {
    const settings = { token: TOKEN, organization: "o", bucket: "b", ...output };
    const members = Object.entries(settings).map(([name, value]) => `  ${name} = ${JSON.stringify(value)}\n`);
    return `[agent]\n  hostname = "here"\n[[inputs.cpu]]\n  percpu = false\n  collect_cpu_time = true\n[[inputs.mem]]
[[outputs.influxdb_v2]]\n  urls = ["${server.bucketsUrl}"]\n${members.join("")}`;
  }

  /** Collects and writes once: what it says, and how it ends. */
  async function collect(output: Readonly<Record<string, string>>): Promise<{ readonly code: number; readonly said: string }> {
    const file = join(folder, "telegraf.conf");
    await Bun.write(file, configuration(output));
    return runWith(file);
  }

  /** The same with a configuration at a path or URL. */
  async function runWith(place: string): Promise<{ readonly code: number; readonly said: string }> {
    const env = { ...process.env, INFLUX_TOKEN: TOKEN };
    const child = Bun.spawn([installed("telegraf", "telegraf"), place], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [code, printed, errors] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code, said: printed + errors };
  }

  /** Values of one field, with the tags that its series has. Telegraf rounds times to seconds, also up: they may be after now. */
  async function values(measurement: string, field: string, bucket = "b"): Promise<string[]> {
    const script = `from(bucket: "${bucket}") |> range(start: -1h, stop: 1m) |> filter(fn: (r) => r._measurement == "${measurement}" and r._field == "${field}")
      |> group() |> keep(columns: ["host", "cpu", "_value"])`;
    const csv = await send("/api/v2/query?org=o", script, "application/vnd.flux");
    return csv
      .split("\r\n")
      .slice(1)
      .filter((line) => line !== "");
  }

  test("measurements of the machine are written, read back and deleted", async () => {
    expect(await collect({ content_encoding: "gzip" })).toMatchObject({ code: 0 });
    expect(await values("mem", "total")).toEqual([expect.stringMatching(/^,_result,0,\d+,here$/)]);
    expect(await values("cpu", "time_user")).toEqual([expect.stringMatching(/^,_result,0,[\d.]+,cpu-total,here$/)]);
    const stop = new Date(Date.now() + 60_000).toISOString();
    await send("/api/v2/delete?org=o&bucket=b", { start: "2020-01-01T00:00:00Z", stop, predicate: '_measurement="mem"' });
    expect(await values("mem", "total")).toEqual([]);
    expect(await values("cpu", "time_user")).toHaveLength(1);
  });

  test("it reads its configuration from the server", async () => {
    const body = { orgID, name: "of here", config: configuration({ bucket: "agents", token: "$INFLUX_TOKEN" }) };
    await send("/api/v2/buckets", { orgID, name: "agents" });
    const kept = JSON.parse(await send("/api/v2/telegrafs", body)) as { id: string; metadata: object };
    expect(kept.metadata).toEqual({ buckets: ["agents"] });
    expect(await runWith(`${server.bucketsUrl}/api/v2/telegrafs/${kept.id}`)).toMatchObject({ code: 0 });
    expect(await values("mem", "total", "agents")).toEqual([expect.stringMatching(/^,_result,0,\d+,here$/)]);
  });

  test("without a valid token, without the permission, and without a bucket", async () => {
    const permissions = [{ action: "read", resource: { type: "buckets", orgID } }];
    const reader = JSON.parse(await send("/api/v2/authorizations", { orgID, permissions })) as { token: string };
    const refused = async (output: Readonly<Record<string, string>>) => {
      const { code, said } = await collect(output);
      return [code, /failed to write metrics to .*/.exec(said)?.[0]];
    };
    expect(await refused({ token: "nobody" })).toEqual([
      2,
      "failed to write metrics to b (401 Unauthorized): unauthorized: unauthorized access",
    ]);
    const forbidden = "failed to write metrics to b (403 Forbidden): forbidden: insufficient permissions for write";
    expect(await refused({ token: reader.token })).toEqual([2, forbidden]);
    const dropped = 'failed to write metrics to nowhere (will be dropped: 404 Not Found): not found: bucket "nowhere" not found';
    expect(await refused({ bucket: "nowhere" })).toEqual([0, dropped]);
  });
} else {
  test("Telegraf is not installed", () => expect(hasTelegraf).toBe(false));
}
