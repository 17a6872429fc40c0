// A server that has itself as a source, of both lines.
import { expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok", retentionPeriodSeconds: 7200 };

test("its buckets and its health, as a v2 and as a v1 server", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  const ask = async (method: string, path: string, body?: object) => {
    const init = { method, headers: { authorization: "Token tok" }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(server.bucketsUrl + path, init);
    return { status: response.status, body: await response.json() };
  };
  const { org, bucket } = (await ask("POST", "/api/v2/setup", SETUP)).body;
  const asked = async (source: object) => {
    const { id } = (await ask("POST", "/api/v2/sources", { orgID: org.id, url: server.bucketsUrl, token: "tok", ...source })).body;
    const [health, buckets] = [await ask("GET", `/api/v2/sources/${id}/health`), await ask("GET", `/api/v2/sources/${id}/buckets`)];
    return [health.status, buckets.body.buckets];
  };
  const rules = (everySeconds: number) => [{ type: "expire", everySeconds }];
  const [healthy, buckets] = await asked({ type: "v2" });
  expect(healthy).toBe(200);
  expect(buckets).toContainEqual({ id: bucket.id, orgID: org.id, type: "user", name: "b", retentionRules: rules(7200) });
  expect(buckets).toHaveLength(3);
  const [ponged, databases] = await asked({ type: "v1" });
  expect(ponged).toBe(200);
  expect(databases).toContainEqual({ name: "b/autogen", type: "user", rp: "autogen", retentionRules: rules(7200) });
  // without a token
  expect(await asked({ type: "v2", token: "" })).toEqual([200, undefined]);
});
