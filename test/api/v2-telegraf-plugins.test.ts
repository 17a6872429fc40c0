// The list of plugins: by type, and with configurations that this server keeps.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { parse } from "smol-toml";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const PLUGINS = "/api/v2/telegraf/plugins";
let server: LightServer;
let orgID: string;
beforeAll(async () => {
  server = await lightServer();
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, setup)).body.org.id as string;
});
afterAll(() => server.stop());

interface Plugin {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly config: string;
}
const listed = async (query = "") => (await ask(server, "GET", PLUGINS + query, "tok")).body;

test("all of them, or those of a type; an unknown type is the client's fault", async () => {
  const all = await listed();
  expect(Object.keys(all)).toEqual(["version", "plugins"]);
  const types = ["input", "output", "processor", "aggregator"];
  const byType = await Promise.all(types.map((type) => listed(`?type=${type}`)));
  expect(byType.map(({ version, os }) => [version, os])).toEqual(types.map(() => [all.version, "linux"]));
  expect(byType.flatMap(({ plugins }) => plugins)).toEqual(all.plugins);
  const named = (all.plugins as Plugin[]).map(({ type, name }) => `${type} ${name}`);
  expect(new Set(named).size).toBe(named.length);
  expect(named).toEqual(
    expect.arrayContaining(["input cpu", "input prometheus", "output influxdb_v2", "processor rename", "aggregator final"]),
  );
  for (const type of ["nope", "inputs", "__proto__", "INPUT"]) {
    const refused = await ask(server, "GET", `${PLUGINS}?type=${type}`, "tok");
    expect([refused.status, refused.body.code]).toEqual([400, "invalid"]);
  }
});

test("each configuration is TOML of its plugin alone, and can be kept", async () => {
  const { plugins } = (await listed()) as { plugins: Plugin[] };
  for (const { type, name, description, config } of plugins) {
    const [first] = (parse(config)[`${type}s`] as Record<string, object[]>)[name]!;
    expect([Object.keys(parse(config)), typeof first, description.endsWith(".")]).toEqual([[`${type}s`], "object", true]);
  }
  const config = plugins.map((plugin) => plugin.config).join("\n");
  const kept = await ask(server, "POST", "/api/v2/telegrafs", "tok", { orgID, name: "all", config });
  expect([kept.status, kept.body.config]).toEqual([201, config]);
});

test("of a list of plugins and a configuration the plugins count", async () => {
  const make = (more: object) => ask(server, "POST", "/api/v2/telegrafs", "tok", { orgID, name: "both", ...more });
  const config = "[[inputs.mem]]";
  const listed = await make({ config, plugins: [{ type: "input", name: "cpu" }] });
  expect(Object.keys(parse(listed.body.config))).toEqual(["agent", "inputs"]);
  expect(parse(listed.body.config)["inputs"]).toHaveProperty("cpu");
  for (const given of [config, ""]) expect(Object.keys(parse((await make({ config: given, plugins: [] })).body.config))).toEqual(["agent"]);
  const refused = await make({ config, plugins: [{ type: "x", name: "y" }] });
  expect([refused.status, refused.body.message]).toEqual([400, "unsupported telegraf plugin type x"]);
  expect((await make({ config, plugins: null })).body.config).toBe(config);
});
