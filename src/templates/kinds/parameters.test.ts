// Parameters of scripts: values of the request, and what they may not do.
import { describe, expect, test } from "bun:test";
import { parseFile } from "../../flux/parse/parser.ts";
import type { Issue } from "../issue.ts";
import { type EnvReference, type EnvValue, SpecReader } from "../spec-reader.ts";
import { readScript, withOption, withoutOption } from "./parameters.ts";

const QUERY = `option params = {bucket: "b", start: -1h30m, n: 1, f: 1.5, ok: true, t: 2020-01-01T00:00:00Z, other: now(), mo: 1mo}
buckets()`;

function read(query: string, env: Readonly<Record<string, EnvValue>> = {}, params: readonly object[] = []) {
  const issues: Issue[] = [];
  const references: EnvReference[] = [];
  const values = new Map(Object.entries(env).map(([key, value]) => [`p.params.${key}`, value]));
  const reading = { kind: "Task", metaName: "t", index: 0, env: values, issues, references, secretKeys: [], secretEnvKeys: [] };
  const { text } = readScript(new SpecReader(reading, { query, params }), "p", ["params"]);
  const { init } = (
    parseFile(text).body[0] as unknown as { assignment: { init: { properties: { key: { name: string }; value: unknown }[] } } }
  ).assignment;
  const at = ({ from, to }: { from: number; to: number }) => text.slice(from, to);
  const members = Object.fromEntries(
    init.properties.map(({ key, value }) => [key.name, at((value as { location: { from: number; to: number } }).location)]),
  );
  return { text, members, issues, references };
}

test("values of the script, of the template, of the request", () => {
  expect(read(QUERY).members).toEqual({
    ...{ bucket: '"b"', start: "-1h30m", n: "1", f: "1.5", ok: "true", t: "2020-01-01T00:00:00Z", other: "now()", mo: "1mo" },
  });
  const params = [
    { key: "bucket", default: "foo", type: "string" },
    { key: "start", default: "-24h", type: "duration" },
    { key: "n", default: 5, type: "int" },
    { key: "more", default: false, type: "bool" },
  ];
  const { members, references } = read(QUERY, { n: 7, f: 2 }, params);
  expect(members).toMatchObject({ bucket: '"foo"', start: "-24h", n: "7", f: "2.0", more: "false" });
  const found = references.map(({ resourceField, valueType, value, defaultValue }) => [resourceField, valueType, value, defaultValue]);
  expect(found).toContainEqual(["spec.params.start", "duration", null, "-24h"]);
  expect(found).toContainEqual(["spec.params.n", "integer", 7, 5]);
});

describe("a value never becomes code", () => {
  test.each(['x"}\nbuckets() //', "\u0024{1 + 1}", "\\", '"', "\n\r\t", "$\u0024{a}", "é\0"])("%j is one text", (bucket) => {
    const { text, issues } = read(QUERY, { bucket });
    expect(issues).toEqual([]);
    const [option] = parseFile(text).body as unknown as {
      assignment: { init: { properties: { value: { type: string; value: string } }[] } };
    }[];
    expect(option!.assignment.init.properties[0]!.value).toMatchObject({ type: "StringLiteral", value: bucket });
    expect(parseFile(text).body).toHaveLength(2);
  });

  // as on the vendor's server, a value of another type stands for the zero
  test.each([
    ["n", "1, x: 2", "0"],
    ["n", 1.5, "1"],
    ["n", "99999999999999999999", "0"],
    ["n", "7", "7"],
    ["f", "1e5", "0.0"],
    ["f", "now()", "0.0"],
    ["f", 3, "3.0"],
    ["t", "now()", "now()"],
    ["t", "2020", "now()"],
    ["start", "1h} f()", "0m"],
    ["start", "-2h", "-2h"],
    ["start", 1.5, "0m"],
    ["ok", "yes", "false"],
    ["ok", true, "true"],
  ])("%s = %j is %s", (key, value, literal) => {
    const { issues, members } = read(QUERY, { [key]: value });
    expect(issues).toEqual([]);
    expect(members[key]).toBe(literal);
  });
});

// recorded on the vendor's server
test("literals with a sign, truth values and calls have no type; keys in quotes are no references", () => {
  const { references } = read(
    'option params = {a: -1h, b: true, c: now(), d: [1, 2], e: 2020-01-01T00:00:00Z, f: 1h30m, "g": 1}\nbuckets()',
  );
  expect(references.map(({ resourceField, valueType, defaultValue }) => [resourceField, valueType, defaultValue])).toEqual([
    ["spec.params.a", "", "-1h0m0s"],
    ["spec.params.b", "", null],
    ["spec.params.c", "", "now()"],
    ["spec.params.d", "", null],
    ["spec.params.e", "time", "2020-01-01T00:00:00Z"],
    ["spec.params.f", "duration", 5_400_000_000_000],
  ]);
});

test("durations of texts stay as they are written, those of other values have a text that can be read", () => {
  const params = [
    { key: "a", default: "90m", type: "duration" },
    { key: "b", default: "soon", type: "duration" },
  ];
  expect(read("option params = {a: 1h, b: 1h, c: 1h1ms1us, d: 90m}\nbuckets()", {}, params).members).toEqual({
    ...{ a: "90m", b: "0m", c: "1h1ms1us", d: "1h30m0s" },
  });
});

test("scripts that cannot be read stay as they are", () => {
  const deep = `option params = {a: ${"(".repeat(100_000)}`;
  for (const query of [deep, "option params = {a: ", "option params = 5", 'option params = {o with a: "b"}']) {
    const reading = {
      kind: "Task",
      metaName: "t",
      index: 0,
      env: new Map(),
      issues: [],
      references: [],
      secretKeys: [],
      secretEnvKeys: [],
    };
    expect(readScript(new SpecReader(reading, { query }), "p", ["params"]).text).toBe(query.trim());
  }
});

// recorded on the vendor's server: the lines around the record stay in an export
test("the record of a task stands behind the imports, and is taken out again", () => {
  const option = 'option task = { name: "a", every: 1h }';
  for (const [query, whole, exported] of [
    ["buckets()", `${option}\nbuckets()`, "buckets()"],
    ['import "csv"\n\nbuckets()', `import "csv"\n\n${option}\n\n\nbuckets()`, 'import "csv"\n\n\n\n\nbuckets()'],
    ['import "csv" // trail\nbuckets()', `import "csv"\n\n${option}\n // trail\nbuckets()`, 'import "csv"\n\n\n // trail\nbuckets()'],
    [
      '// head\nimport "csv"\n// after\nbuckets()',
      `// head\nimport "csv"\n\n${option}\n\n// after\nbuckets()`,
      '// head\nimport "csv"\n\n\n\n// after\nbuckets()',
    ],
    [
      'package main\nimport "csv"\nbuckets()',
      `package main\nimport "csv"\n\n${option}\n\nbuckets()`,
      'package main\nimport "csv"\n\n\n\nbuckets()',
    ],
    ["// a\nbuckets()", `${option}\n// a\nbuckets()`, "// a\nbuckets()"],
  ] as const) {
    expect(withOption(query, option)).toBe(whole);
    expect(withoutOption(whole, "task")).toBe(exported);
  }
});
