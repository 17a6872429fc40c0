// Answers of 400 MB for readers that stop reading, and statements that are silent for longer than connections may be.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually, head, RawClient, settled } from "../api/sockets.ts";
import { TestServer } from "../support/servers/server.ts";
import { metric, residentBytes, scalar, store, untilAtRest, untilMetric } from "./client.ts";

setDefaultTimeout(120_000);

const MIB = 1 << 20;
/** 4,000 x 4,000 rows of some 14 bytes: more than 200 MB of CSV. */
const LARGE = "SELECT a.v AS a, b.v AS b FROM t a CROSS JOIN t b";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await store(server, "db", Array.from({ length: 4000 }, (_, i) => `t,h=h${i % 50} v=${i},s="text of row ${i}" ${i}`).join("\n"));
});
afterAll(() => server.dispose());

const others = async () => {
  expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(4000);
  await store(server, "db", "other v=1 1");
};

test("a reader that stops reading costs bounded memory, others go on, and it gets the rest when it reads again", async () => {
  const port = Number(new URL(server.url).port);
  const client = await RawClient.open(port);
  let bytes = 0;
  client.socket.removeAllListeners("data");
  client.socket.on("data", (data) => {
    bytes += String(data).length;
  });
  const before = await residentBytes(server);
  // more than 400 MB: the runtime puts up with garbage of 100 to 200 MB
  const twice = `${LARGE} CROSS JOIN (VALUES (1), (2)) c(x)`;
  client.send(head(`GET /api/v3/query_sql?db=db&format=csv&q=${encodeURIComponent(twice)}`, "Connection: close"));
  await eventually(() => bytes > MIB);
  client.socket.pause();
  await settled(() => bytes);
  const stalled = bytes;
  // it would go on if nothing held it up
  await untilAtRest(server);
  for (let i = 0; i < 20; i++) await others();
  expect(stalled).toBeLessThan(100 * MIB);
  expect(await metric(server, "tsdb_queries_running")).toBe(1);
  let peak = await residentBytes(server);
  client.socket.resume();
  while (!client.closed) {
    peak = Math.max(peak, await residentBytes(server));
    await Bun.sleep(20);
  }
  // head + "a,b" + rows, each chunk with its frame
  expect(bytes).toBeGreaterThan(400_000_000);
  expect(peak - before).toBeLessThan(320 * MIB);
  await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
});

test("a query that is silent for longer than the idle limit is answered", async () => {
  // the limit of Bun's own server is ten seconds
  const startedMs = performance.now();
  const rows = server.sql("db", "SELECT count(*) AS n FROM t a, t b WHERE a.s || b.s ~ '^(x+x+)+y$'");
  let others_ = 0;
  while (others_ < 10) {
    await others();
    others_++;
  }
  expect(await rows).toEqual([{ n: 0 }]);
  expect(performance.now()).toBeGreaterThan(startedMs);
});
