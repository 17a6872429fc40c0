// Parameters that only careful clients send: the answers are those of a server of release 2.8.0 to the same requests.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
let server: LightServer;
let orgID: string;
beforeAll(async () => {
  server = await lightServer();
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, SETUP)).body.org.id;
});
afterAll(() => server.stop());

const send = (method: string, path: string, body?: unknown) => ask(server, method, path, "tok", body);
const LAST = "9223372036854775807";

test.each([
  ["limit=0000000000000000", 400, "limit must be between 1 and 100"],
  [`limit=${LAST}`, 400, "limit must be between 1 and 100"],
  ["limit=0x5", 400, "limit is invalid"],
  ["limit=9223372036854775808", 400, "limit is invalid"],
  ["limit=0000000000000005", 200, undefined],
  [`offset=${LAST}`, 200, undefined],
  [`offset=-${LAST}`, 200, undefined],
  ["offset=-9223372036854775809", 400, "offset is invalid"],
])("a page of %s", async (query, wanted, message) => {
  const { status, body } = await send("GET", `/api/v2/dashboards?${query}`);
  expect([status, body.message]).toEqual([wanted, message]);
});

test("links have offsets of all digits", async () => {
  const { body } = await send("GET", `/api/v2/buckets?offset=${LAST}`);
  const link = (offset: string) => `/api/v2/buckets?descending=false&limit=20&offset=${offset}`;
  expect(body).toEqual({ buckets: [], links: { prev: link("9223372036854775787"), self: link(LAST) } });
});

test.each([
  ["99999999999999999", "failed to decode request: limit must be between 1 and 500"],
  ["0000000000000005", undefined],
])("tasks up to a limit of %s", async (limit, message) => {
  expect((await send("GET", `/api/v2/tasks?limit=${limit}`)).body.message).toBe(message);
});

test.each(["buckets", "checks", "notificationEndpoints", "notificationRules"])("links of %s have ids in lower case", async (what) => {
  const { body } = await send("GET", `/api/v2/${what}?limit=1&orgID=${orgID.toUpperCase()}`);
  expect(body.links.self).toBe(`/api/v2/${what}?descending=false&limit=1&offset=0&orgID=${orgID}`);
});

test("links of dashboards have ids as often as they were given", async () => {
  const { body: made } = await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells: [{ x: 1, properties: { type: "own" } }] });
  const { body } = await send("GET", `/api/v2/dashboards?id=${made.id}&id=${made.id}`);
  expect(body.links.self).toBe(`/api/v2/dashboards?descending=false&id=${made.id}&id=${made.id}&limit=20&offset=0`);
  const shows = async (query: string) => (await send("GET", `/api/v2/dashboards/${made.id}?${query}`)).body.cells[0].properties?.type;
  expect([await shows("include=x&include=properties"), await shows("include=properties&include=x")]).toEqual([undefined, "own"]);
});

test.each(["org=%zz", "org=%", "org=o;x=1", "limit=%2"])("%s is as absent", async (query) => {
  const { status, body } = await send("GET", `/api/v2/buckets?${query}`);
  expect([status, body.links.self]).toEqual([200, "/api/v2/buckets?descending=false&limit=20&offset=0"]);
});

test("a variable that is replaced needs arguments before a name", async () => {
  const values = { type: "constant", values: ["a"] };
  const { body: made } = await send("POST", "/api/v2/variables", { orgID, name: "v", arguments: values });
  const told = async (body: object) => (await send("PUT", `/api/v2/variables/${made.id}`, { orgID, ...body })).body.message;
  expect(await told({ name: "and" })).toBe("invalid arguments type");
  expect(await told({ name: "and", arguments: values })).toBe('"and" is a protected variable name');
  expect((await send("POST", "/api/v2/variables", { orgID, name: "and" })).body.message).toBe('"and" is a protected variable name');
});

// RFC 3339: years have four digits; a zone's offset may lead beyond them
test.each([
  ["9999-12-31T23:59:59-00:01", 400],
  ["0000-01-01T00:00:59+00:01", 400],
  ["9999-12-31T18:59:59-05:00", 201],
  ["0000-01-01T05:00:00+05:00", 201],
])("a run of a task for %s", async (scheduledFor, wanted) => {
  const flux = 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])';
  const { id } = (await send("POST", "/api/v2/tasks", { orgID, flux })).body;
  const { status, body } = await send("POST", `/api/v2/tasks/${id}/runs`, { scheduledFor });
  const shown = scheduledFor.startsWith("9") ? "9999-12-31T23:59:59Z" : "0000-01-01T00:00:00Z";
  expect([status, body.scheduledFor]).toEqual([wanted, wanted === 201 ? shown : undefined]);
});
