// Names of headers are sent in the letter case of 1.x and 2.x servers: clients that keep headers in a plain map look them up as they are.
import { expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { head, RawClient } from "./sockets.ts";

test("headers have the names that clients look for, letter by letter", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  const asked: [url: string, target: string, names: readonly string[]][] = [
    [server.url, "/ping", ["X-Influxdb-Version", "X-Influxdb-Build", "X-Request-Id", "Request-Id"]],
    [server.url, "/query?db=d&q=SELECT", ["X-Influxdb-Version", "X-Influxdb-Error", "X-Request-Id"]],
    [server.bucketsUrl, "/ping", ["X-Influxdb-Version", "X-Influxdb-Build"]],
    [server.bucketsUrl, "/api/v2/buckets", ["X-Influxdb-Version", "X-Platform-Error-Code"]],
  ];
  for (const [url, target, names] of asked) {
    const client = await RawClient.open(Number(new URL(url).port));
    const answer = await client.send(head(`GET ${target}`)).until("\r\n\r\n");
    const sent = answer.split("\r\n").map((line) => line.split(":")[0]!);
    expect(sent).toEqual(expect.arrayContaining([...names]));
    client.destroy();
  }
});
