// The cookie of a session: what a client may make of it, what signing out is about, and passwords that change meanwhile.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { PasswordHasher } from "../../src/metadata/access/passwords.ts";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let server: Awaited<ReturnType<typeof world>>["server"];
let userID: string;
beforeAll(async () => {
  const made = await world();
  server = made.server;
  userID = made.world.userID;
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

describe("a password that is changed while the old one is checked", () => {
  const basic = (password: string) => ({ authorization: `Basic ${btoa(`admin:${password}`)}` });
  const signIn = (password: string) => ask(server, "POST", "/api/v2/signin", undefined, undefined, basic(password));
  const set = (password: string) => ask(server, "POST", `/api/v2/users/${userID}/password`, OPERATOR, { password });

  /** What `run` answers when the password becomes another one after it was found right. */
  async function whileChanging(run: () => ReturnType<typeof ask>): Promise<number> {
    const { verify } = PasswordHasher.prototype;
    using _spy = spyOn(PasswordHasher.prototype, "verify").mockImplementation(async function (this: PasswordHasher, ...given) {
      const matches = await verify.apply(this, given);
      expect((await set("the new one")).status).toBe(204);
      return matches;
    });
    return (await run()).status;
  }

  test("starts no session", async () => {
    expect(await whileChanging(() => signIn("password12"))).toBe(401);
    expect((await signIn("the new one")).status).toBe(204);
    expect((await set("password12")).status).toBe(204);
  });

  test("is not changed by who knows the old one", async () => {
    const cookie = `influxdb-oss-session=${await signedIn()}`;
    const headers = { ...basic("password12"), cookie };
    const change = () => ask(server, "PUT", "/api/v2/me/password", undefined, { password: "a third one" }, headers);
    expect(await whileChanging(change)).toBe(403);
    expect([(await signIn("a third one")).status, (await signIn("the new one")).status]).toEqual([401, 204]);
    expect((await set("password12")).status).toBe(204);
  });
});
