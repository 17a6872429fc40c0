// The cookie of a session: what a client may make of it, and what signing out is about.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let server: Awaited<ReturnType<typeof world>>["server"];
beforeAll(async () => {
  ({ server } = await world());
});
afterAll(() => server.stop());

async function signedIn(): Promise<string> {
  const authorization = `Basic ${btoa("admin:password12")}`;
  const { headers } = await ask(server, "POST", "/api/v2/signin", undefined, undefined, { authorization });
  return /influxdb-oss-session=([^;]+)/.exec(headers.get("set-cookie")!)![1]!;
}

test("signing out is about the cookie alone", async () => {
  const cookie = `influxdb-oss-session=${await signedIn()}`;
  const out = (headers: Record<string, string>) => ask(server, "POST", "/api/v2/signout", undefined, undefined, headers);
  expect((await out({ authorization: `Token ${OPERATOR}` })).status).toBe(401);
  expect((await out({ authorization: "Token nobody's", cookie })).status).toBe(204);
  expect((await out({ cookie })).status).toBe(401);
});

test("a client may put quotes around the key, and send the attributes back", async () => {
  const key = await signedIn();
  const statusOf = async (value: string) => {
    const cookie = `other="x"; influxdb-oss-session=${value}; Path=/api/`;
    return (await ask(server, "GET", "/api/v2/me", undefined, undefined, { cookie })).status;
  };
  expect([await statusOf(key), await statusOf(`"${key}"`)]).toEqual([200, 200]);
  for (const value of [`"${key}`, `${key}"`, '""', '"', `""${key}""`]) expect([value, await statusOf(value)]).toEqual([value, 401]);
});
