// The buckets of an agent, and the TOML that bodies of old clients stand for.
import { expect, test } from "bun:test";
import { bucketsOf, configOf } from "./telegraf-config.ts";

const output = (bucket: string) => `[[outputs.influxdb_v2]]\n  bucket = "${bucket}"\n`;

test.each([
  ["", []],
  ["# nothing\n[agent]\n", []],
  [output("a"), ["a"]],
  [output("a") + output("b") + output("a"), ["a", "b"]],
  ['[outputs.influxdb_v2]\nbucket = "table"\n', ["table"]],
  ['[[outputs.influxdb_v2]]\nurls = ["x"]\n', []],
  ['[[outputs.file]]\nbucket = "other"\n[[inputs.cpu]]\nbucket = "other"\n', []],
  ['outputs = "text"\n', []],
  ["[[outputs.influxdb_v2]]\nbucket = 1\n", []],
])("the buckets of %j", (config, buckets) => {
  expect(bucketsOf(config)).toEqual(buckets);
});

test.each([
  ["[agent", /^the configuration is not TOML: /],
  ["[a]\n[a]\n", /^the configuration is not TOML: /],
  [`a = ${"[".repeat(500_000)}`, /^the configuration is not TOML: /],
  [`a = ${"{b=".repeat(250_000)}`, /^the configuration is not TOML: /],
  [`a = 1\n${"b.".repeat(500_000)}b = 1`, /line 2 has more than 2000 dots$/],
])("%.20s is refused", (config, message) => {
  expect(() => bucketsOf(config)).toThrow(message);
});

test("bodies of old clients are the TOML that their settings say", () => {
  const settings = { urls: ["http://a:8086"], token: 'quo"ted', bucket: "b" };
  const config = configOf(5000, [
    { name: "cpu", type: "input", comment: "two\nlines", config: {} },
    { name: "mem", type: "input", comment: "", config: "[[inputs.mem]]\n" },
    { name: "influxdb_v2", type: "output", comment: "", config: settings },
  ]);
  expect(Bun.TOML.parse(config)).toEqual({
    agent: { interval: "5s" },
    inputs: { cpu: [{}], mem: [{}] },
    outputs: { influxdb_v2: [settings] },
  });
  expect(config).toContain("# two\n# lines\n");
  expect(bucketsOf(config)).toEqual(["b"]);
});

test("plugins that are not valid are refused", () => {
  const plugin = { name: "cpu", type: "input", comment: "", config: {} };
  expect(() => configOf(undefined, [{ ...plugin, type: "other" }])).toThrow("unsupported telegraf plugin type other");
  expect(() => configOf(undefined, [{ ...plugin, type: "constructor" }])).toThrow("unsupported telegraf plugin type constructor");
  expect(() => configOf(undefined, [{ ...plugin, config: "no toml" }])).toThrow("the configuration is not TOML");
  expect(() => configOf(undefined, [{ ...plugin, config: { list: [null] } }])).toThrow(
    "the settings of the plugin cpu have no form in TOML",
  );
});
