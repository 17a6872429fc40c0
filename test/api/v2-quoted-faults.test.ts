// What release 2.8.0 says of names and ids in quotes, of users, and of scripts with a byte order mark; and a filter that it does not have.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BodyReader } from "../../src/api/request/body.ts";
import { readQueryBody } from "../../src/api/v2/query-body.ts";
import { lightServer } from "../vectors/v2/light-server.ts";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let made: Awaited<ReturnType<typeof world>>;
beforeAll(async () => {
  made = await world();
});
afterAll(() => made.server.stop());

const JSON_TYPE = { "content-type": "application/json" };
const get = (path: string) => ask(made.server, "GET", path, OPERATOR);
const post = (path: string, body: object) => ask(made.server, "POST", path, OPERATOR, JSON.stringify(body), JSON_TYPE);

test("mappings: what is in quotes is escaped", async () => {
  const wanted = (what: string, text: string) => `invalid ${what} "${text}": id must have a length of 16 bytes`;
  const { orgID } = made.world;
  const mapping = { orgID, bucketID: made.world.bucketID, database: "d", retention_policy: "r" };
  expect((await post("/api/v2/dbrps", { ...mapping, bucketID: 'a"b\n' })).body.message).toBe(wanted("bucket ID", 'a\\"b\\n'));
  expect((await post("/api/v2/dbrps", { ...mapping, orgID: "\u200bü" })).body.message).toBe(wanted("org ID", "\\u200bü"));
  expect((await get(`/api/v2/dbrps?orgID=${orgID}&id=${encodeURIComponent('a"b')}`)).body.message).toBe(wanted("DBRP ID", 'a\\"b'));
  const named = await get(`/api/v2/dbrps?org=${encodeURIComponent('no"pe\\\t')}`);
  expect([named.status, named.body.message]).toEqual([404, 'invalid org "no\\"pe\\\\\\t": organization not found']);
});

test("of a user's name and status that are both wrong the name is told", async () => {
  const nameless = await post("/api/v2/users", { status: "x" });
  expect([nameless.status, nameless.body]).toEqual([400, { code: "empty value", message: "key required" }]);
  const { name } = (await get("/api/v2/me")).body;
  const again = await post("/api/v2/users", { name, status: "x" });
  expect([again.status, again.body.message]).toEqual([422, `user with name ${name} already exists`]);
});

test("a list of endpoints of a user has those of all users", async () => {
  const hook = { orgID: made.world.orgID, name: "any user's", type: "slack", status: "active", url: "http://localhost/" };
  const { id } = (await post("/api/v2/notificationEndpoints", hook)).body;
  const listed = await get("/api/v2/notificationEndpoints?user=0123456789abcdef&limit=100");
  expect(listed.body.notificationEndpoints.map((each: { id: string }) => each.id)).toContain(id);
});

test("a script that is sent as such may not be empty, and a byte order mark is one of its characters", async () => {
  const type = { "content-type": "application/vnd.flux" };
  const empty = await ask(made.server, "POST", `/api/v2/query?orgID=${made.world.orgID}`, OPERATOR, "", type);
  expect([empty.status, empty.body.message]).toEqual([400, "failed to decode request body: request body requires either query or AST"]);
  const request = new Request("http://localhost/", { method: "POST", headers: type, body: "\ufeffbuckets()" });
  const { text } = await readQueryBody(request, new BodyReader(1000, () => 0), 0);
  // not a statement, as the reference says: `invalid statement: \ufeff`
  expect(text).toBe("\ufeffbuckets()");
});

test("annotations of a dialect: null is the empty text, and the first wrong one is told", async () => {
  const refused = async (annotations: unknown) => {
    const { status, body } = await post("/api/v2/query?org=o", { query: "buckets()", dialect: { annotations } });
    return [status, body.message.replace(/^failed to decode request body: /, "").replace(/^.*json: /, "")];
  };
  expect(await refused(["group", null])).toEqual([400, "unknown dialect annotation type: "]);
  const number = "cannot unmarshal number into Go struct field QueryDialect.dialect.annotations of type string";
  expect(await refused([null, 5, true])).toEqual([400, number]);
});

test("how long the server is up has hours, minutes and seconds", async () => {
  let nowMs = 1_700_000_000_000;
  const server = await lightServer({ clockMs: () => nowMs });
  const up = async (afterMs: number) => {
    nowMs = 1_700_000_000_000 + afterMs;
    return (await ask(server, "GET", "/ready")).body.up;
  };
  expect([await up(0), await up(20), await up(1_500)]).toEqual(["0s", "20ms", "1.5s"]);
  expect([await up(92_400), await up(3_600_000)]).toEqual(["1m32.4s", "1h0m0s"]);
  await server.stop();
});
