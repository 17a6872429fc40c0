// Replication between two server processes: every row arrives as written, whichever interface wrote it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BucketServer, type ShownReplication, TOKEN, until, untilEqual } from "./replication-world.ts";

let from: BucketServer;
let to: BucketServer;
let id = "";

const shown = () => from.json<ShownReplication>("GET", `/api/v2/replications/${id}`);

beforeAll(async () => {
  [from, to] = [await BucketServer.start(), await BucketServer.start()];
  await from.write("before,t=a v=1 1");
  id = await from.replicateTo(to);
});
afterAll(async () => {
  await Promise.all([from?.server.dispose(), to?.server.dispose()]);
});

test("rows of all interfaces arrive as written; rows of before do not", async () => {
  await from.write(
    [
      String.raw`a\ b\,c,t\=1=x\ y\,\=z,t2=ü\\q f=1.5,i=-9223372036854775808i,u=18446744073709551615u,b=t,s="a\"b\\c d,e=f" 1700000000000000000`,
      String.raw`back\\\,slash\=\\\\x,k\\\,e\\\\y=v\\\=\\\\x f\\\ \\d="a\\\\" 7`,
      "numbers f=-0,g=1e-300,h=0.1,i=123456789012345680000,j=5e-324,k=1.7976931348623157e308 2",
      'numbers s="line 1\nline 2",f=1,e="" 3',
      "numbers f=2 3",
      'mark,t=\uFEFFv s="\uFEFFx" 8',
      "many,a=1 x=1 4\nmany,b=1 y=2i 4\nmany x=3,y=4i 5\nmany,a=2,b=3 x=5 -6",
    ].join("\n"),
  );
  await from.ask("POST", "/write?db=b&precision=s", "v1,host=a v=1 1700000001");
  const v3 = await fetch(`${from.server.url}/api/v3/write_lp?db=b&precision=second`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
    body: "v3,host=a v=1i 1700000002",
  });
  expect(v3.status).toBe(204);
  await from.script(
    'import "array"\narray.from(rows: [{_time: 2023-11-14T22:13:23Z, _measurement: "flux", _field: "v", _value: 1.25, host: "a b"}]) |> to(bucket: "b", org: "o")',
  );
  const arrived = async () => (await to.rows()).includes("flux");
  await until(arrived);
  expect(await to.rows()).not.toContain("before");
  await to.write("before,t=a v=1 1");
  await untilEqual(from, to);
  expect(await shown()).toMatchObject({ latestResponseCode: 204, latestErrorMessage: "" });
  await until(async () => (await shown()).remainingBytesToBeSynced === 0);
  expect((await shown()).currentQueueSizeBytes).toBe(8);
});

test("metrics count what was queued and sent", async () => {
  await from.write("counted v=1 1");
  await untilEqual(from, to);
  await until(async () => (await shown()).remainingBytesToBeSynced === 0);
  const text = await from.ask("GET", "/metrics");
  const value = (name: string) => Number(new RegExp(`^${name}\\{replicationID="${id}"\\} (\\d+)`, "m").exec(text)?.[1]);
  expect(value("replications_queue_total_points_queued")).toBeGreaterThan(0);
  expect(value("replications_queue_remote_write_bytes_sent")).toBeGreaterThan(0);
  expect(value("replications_queue_current_bytes_queued")).toBe(0);
  // it goes up and down
  expect(text).toContain("# TYPE replications_queue_current_bytes_queued gauge\n");
  expect(text).toContain("influxdb_replications_total 1");
});

test("no answer has the token, and a deleted replication leaves no queue", async () => {
  const all = await from.ask("GET", `/api/v2/remotes?orgID=${from.orgID}`);
  expect(all).toContain("remoteURL");
  expect(all).not.toContain(TOKEN);
  const folder = join(from.server.dataDir, "node0/replications", id);
  expect(existsSync(folder)).toBe(true);
  await from.ask("DELETE", `/api/v2/replications/${id}`);
  await until(async () => !existsSync(folder));
});
