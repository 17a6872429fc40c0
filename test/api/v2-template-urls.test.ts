// Templates that a stack names by URL are read with each apply; nothing is asked for a sender without the rights.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LightServer, lightServerOf } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

let server: LightServer;
let orgID: string;
let served = "";
let asked: string[] = [];
const source = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    asked.push(new URL(url).pathname);
    return new Response(served);
  },
});
const url = `http://127.0.0.1:${source.port}/t.yml`;

beforeAll(async () => {
  server = await lightServerOf();
  const setup = { username: "admin", password: "password12", org: "o", bucket: "bucket", token: "tok" };
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, setup)).body.org.id;
});
afterAll(async () => {
  await source.stop(true);
  await server.stop();
});

const label = (name: string) => `apiVersion: influxdata.com/v2alpha1\nkind: Label\nmetadata: {name: ${name}}\nspec: {name: the ${name}}\n`;
const apply = (body: object, token = "tok") => ask(server, "POST", "/api/v2/templates/apply", token, { orgID, ...body });
const names = async () => {
  const { labels } = (await ask(server, "GET", `/api/v2/labels?orgID=${orgID}`, "tok")).body;
  return labels.map(({ name }: { name: string }) => name).sort();
};

test("the URLs of a stack, together with what the request has", async () => {
  const { id: stackID } = (await ask(server, "POST", "/api/v2/stacks", "tok", { orgID, name: "s", urls: [url] })).body;
  served = `${label("one")}---\n${label("two")}`;
  asked = [];
  const first = await apply({ stackID });
  expect([first.status, first.body.sources, asked]).toEqual([201, [url], ["/t.yml"]]);
  expect(await names()).toEqual(["the one", "the two"]);
  served = label("one");
  const own = { apiVersion: "influxdata.com/v2alpha1", kind: "Label", metadata: { name: "three" }, spec: { name: "the three" } };
  expect((await apply({ stackID, template: { contents: [own] }, remotes: [{ url }] })).status).toBe(201);
  expect(asked).toEqual(["/t.yml", "/t.yml"]);
  expect(await names()).toEqual(["the one", "the three"]);
  await ask(server, "DELETE", `/api/v2/stacks/${stackID}?orgID=${orgID}`, "tok");
});

test("no URL is asked for those who may not read the organization", async () => {
  const permissions = [{ action: "write", resource: { type: "labels", orgID } }];
  const { token } = (await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID, permissions })).body;
  const { id: stackID } = (await ask(server, "POST", "/api/v2/stacks", "tok", { orgID, name: "s", urls: [url] })).body;
  asked = [];
  expect((await apply({ remotes: [{ url }] }, token)).status).toBe(403);
  expect((await apply({ stackID }, token)).status).toBe(403);
  expect(asked).toEqual([]);
});

test.each([
  ["http://a b", 400, 'provided url["http://a b"] is invalid'],
  ["a.jsonnet", 422, 'stack template from url["a.jsonnet"] had an issue: invalid encoding provided'],
])("a stack with the address %s", async (address, status, message) => {
  const made = await ask(server, "POST", "/api/v2/stacks", "tok", { orgID, name: "s", urls: [address] });
  expect([made.status, made.body.message]).toEqual([status, message]);
});

test("addresses that a stack gets later are looked at", async () => {
  const { id } = (await ask(server, "POST", "/api/v2/stacks", "tok", { orgID, name: "s" })).body;
  const changed = async (change: object) => {
    const { status, body } = await ask(server, "PATCH", `/api/v2/stacks/${id}`, "tok", change);
    return [status, body.message];
  };
  const fault = (of: string, reason = "") => `stack template from url["${of}"] had an issue${reason}`;
  expect(await changed({ templateURLs: ["%zz"] })).toEqual([400, fault("%zz")]);
  expect(await changed({ urls: ["x.jsonnet"] })).toEqual([422, fault("x.jsonnet", ": invalid encoding provided")]);
  expect(await changed({ urls: ["http://a b"] })).toEqual([200, undefined]);
});
