// The plugins of examples/plugins on a real server with real triggers; the webhook is a server of this test.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const FOLDER = join(import.meta.dir, "../../examples/plugins");
const SECOND_NS = 1_000_000_000n;

if (pluginPython() !== null) {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: ["--plugin-dir", FOLDER] });
    await write("room,name=hall temp=20 1");
  });
  afterAll(() => server.dispose());

  async function write(lines: string): Promise<void> {
    const { status } = await fetch(`${server.url}/api/v3/write_lp?db=d&precision=ns`, { method: "POST", body: lines });
    expect(status).toBe(204);
  }

  async function trigger(name: string, plugin: string, specification: string, args: Record<string, string>): Promise<void> {
    const body = {
      ...{ db: "d", plugin_filename: plugin, trigger_name: name, trigger_specification: specification, trigger_arguments: args },
      ...{ trigger_settings: { run_async: false, error_behavior: "log" }, disabled: false },
    };
    const headers = { "content-type": "application/json" };
    const path = "/api/v3/configure/processing_engine_trigger";
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  }

  async function rows(q: string): Promise<Record<string, unknown>[]> {
    const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: "d", q, format: "json" })}`);
    return response.status === 200 ? ((await response.json()) as Record<string, unknown>[]) : [];
  }

  /** The rows, as soon as there are so many. */
  async function untilRows(q: string, count: number): Promise<Record<string, unknown>[]> {
    for (;;) {
      const found = await rows(q);
      if (found.length >= count) return found;
      await Bun.sleep(20);
    }
  }

  test("the downsampler writes the mean of the bucket that has ended", async () => {
    const end = (BigInt(Date.now()) / 1000n) * SECOND_NS;
    // of every second until well after the trigger's first run
    const lines = Array.from(
      { length: 80 },
      (_, i) => `cpu,host=a usage=${i % 2 === 0 ? 1 : 3} ${end + BigInt(i - 40) * (SECOND_NS / 2n)}`,
    );
    await write(lines.join("\n"));
    await trigger("down", "downsampler.py", "every:1s", { source: "cpu", target: "cpu_mean", field: "usage", tag: "host", bucket: "1" });
    const [first] = await untilRows('SELECT host, usage, "count" FROM cpu_mean ORDER BY time', 1);
    expect(first).toEqual({ host: "a", usage: 2, count: 2 });
  });

  test("the alert is posted when the limit is crossed, and when it is left", async () => {
    const posted: unknown[] = [];
    const done = Promise.withResolvers<void>();
    using webhook = Bun.serve({
      ...{ hostname: "127.0.0.1", port: 0 },
      fetch: async (request) => {
        posted.push(await request.json());
        if (posted.length === 2) done.resolve();
        return new Response("ok");
      },
    });
    await trigger("alert", "threshold_alert.py", "table:room", { field: "temp", tag: "name", limit: "30", url: `${webhook.url}alert` });
    await write("room,name=hall temp=29 10\nroom,name=hall temp=31 11\nroom,name=hall temp=32 12\nroom,name=hall temp=25 13");
    await done.promise;
    const alert = { table: "room", name: "hall", limit: 30 };
    expect(posted).toEqual([
      { ...alert, temp: 31, state: "high" },
      { ...alert, temp: 25, state: "ok" },
    ]);
  });

  test("values far from the mean are marked", async () => {
    await trigger("odd", "zscore.py", "table:sensor", { field: "v", tag: "id", limit: "3" });
    const steady = Array.from({ length: 20 }, (_, i) => `sensor,id=x v=${i % 2 === 0 ? 9 : 11} ${i + 1}`);
    await write(`${steady.join("\n")}\nsensor,id=x v=50 100\nsensor,id=x v=10 101`);
    // mean 10, standard deviation 1
    expect(await untilRows('SELECT "table", id, value, z FROM anomalies', 1)).toEqual([{ table: "sensor", id: "x", value: 50, z: 40 }]);
  });

  test("the JSON API reads and writes", async () => {
    await trigger("api", "json_api.py", "request:rooms", { table: "flat" });
    const url = `${server.url}/api/v3/engine/rooms`;
    const headers = { "content-type": "application/json" };
    const post = (body: unknown) => fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const stored = await post({ name: "hall", temp: 21.5 });
    expect([stored.status, await stored.json()]).toEqual([201, { stored: { name: "hall", temp: 21.5 } }]);
    const read = (await (await fetch(`${url}?limit=5`)).json()) as { rows: object[] };
    expect(read.rows).toEqual([{ name: "hall", temp: 21.5, time: expect.any(Number) }]);
    expect((await fetch(`${url}?limit=x`)).status).toBe(400);
    for (const bad of [{ name: "hall" }, { name: "a\nb", temp: 1 }, []]) expect((await post(bad)).status).toBe(400);
  });

  test("metrics of the machine come by themselves", async () => {
    await trigger("system", "system_metrics.py", "every:1s", { disk: "/" });
    const [load] = await untilRows("SELECT load1, processors FROM system_load", 1);
    expect(load!["processors"]).toBeGreaterThan(0);
    const [disk] = await untilRows("SELECT total, used, free FROM system_disk", 1);
    expect(Number(disk!["used"])).toBeLessThanOrEqual(Number(disk!["total"]));
  });
}
