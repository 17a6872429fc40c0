// Scripts of checks and rules beside the recorded ones (test/vectors/v2/): hostile texts, and what the formatter has to keep.
import { describe, expect, test } from "bun:test";
import { syntaxProblems } from "../../flux/parse/check.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ThresholdSettings } from "../check.ts";
import type { RuleSettings } from "../rule.ts";
import { checkScript } from "./check-script.ts";
import { customScript } from "./custom-check.ts";
import { periodText, readPeriod, widened } from "./period.ts";
import { ruleScript } from "./rule-script.ts";

const QUERY = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")';

function threshold(changes: Partial<ThresholdSettings> & { readonly text?: string; readonly name?: string } = {}): string {
  const { text = QUERY, name = "n", ...rest } = changes;
  const query = { text, editMode: "", name: "", builderConfig: {} };
  const settings = { type: "threshold", query, statusMessageTemplate: "m", cron: "", every: "1m", offset: null, tags: null } as const;
  return checkScript({ id: "000000000000000a", name, settings: { ...settings, thresholds: [], ...rest } });
}

const RULE: RuleSettings = {
  ...{ type: "slack", every: "1m", offset: null, sleepUntil: null, runbookLink: "", tagRules: [], limit: null },
  statusRules: [{ currentLevel: "CRIT", previousLevel: null }],
  ...{ channel: "c", messageTemplate: "m", parseMode: "", disableWebPagePreview: false },
};

function rule(changes: Partial<RuleSettings> = {}, name = "n"): string {
  const endpoint = { id: "000000000000000c", name: "e", settings: { type: "slack", url: "http://h", tokenKey: "k" } } as const;
  return ruleScript({ id: "000000000000000b", name, settings: { ...RULE, ...changes } }, endpoint);
}

/** How many statements the script has. */
function statements(script: string): number {
  const file = parseFile(script);
  expect(syntaxProblems(file)).toEqual([]);
  return file.body.length;
}

describe("no text of a user becomes a statement", () => {
  const HOSTILE = ['"', '"\nbuckets()\n"', "\\", '\\"', "$" + "{1 + 1}", "$", "$$" + "{", "\u0000", "//", "é\u2028", '"}', "a\nb"];

  test.each(HOSTILE)("a name %j", (name) => {
    expect(statements(threshold({ name }))).toBe(statements(threshold()));
    const task = parseFile(threshold({ name })).body.find((each) => each.type === "OptionStatement");
    const init = (task as unknown as { assignment: { init: { properties: { value: { type: string; value: string } }[] } } }).assignment
      .init;
    // the literal's value is the name
    expect(init.properties[0]!.value).toMatchObject({ type: "StringLiteral", value: name });
    expect(statements(rule({ channel: name }, name))).toBe(statements(rule()));
  });

  test.each(HOSTILE)("a tag %j", (text) => {
    expect(statements(threshold({ tags: [{ key: text, value: text }] }))).toBe(statements(threshold()));
    expect(statements(rule({ tagRules: [{ key: text, value: text, operator: "equal" }] }))).toBe(statements(rule()));
  });

  test.each(HOSTILE)("a message %j", (text) => {
    let made: string[];
    try {
      made = [threshold({ statusMessageTemplate: text }), rule({ messageTemplate: text })];
    } catch (error) {
      expect((error as Error).message).toMatch(/^loc|not one string/);
      return;
    }
    expect(made.map(statements)).toEqual([statements(threshold()), statements(rule())]);
  });

  test.each(["$" + '{"', "$" + "{r.", "$" + "{1}}\n" + "$" + "{"])("an unfinished message %j", (text) => {
    expect(() => threshold({ statusMessageTemplate: text })).toThrow();
    expect(() => rule({ messageTemplate: text })).toThrow();
  });
});

describe("the query of a check", () => {
  test.each([
    // [query, what becomes of it]
    ["range(start: -1h) |> range(stop: now(), start: -5m)", "range(start: -1m) |> range(start: -1m)"],
    ["range(stop: now())", "range()"],
    ["range(start: -1h) |> aggregateWindow(fn: mean, every: v.windowPeriod)", "aggregateWindow(fn: mean, every: 1m, createEmpty: false)"],
    ["range(start: -1h) |> aggregateWindow()", "aggregateWindow()"],
    ["range(start: -1h) |> window(every: 5m, period: 10m)", "window(every: 1m, period: 10m)"],
    ['range("start": -1h)', "range(start: -1m)"],
    ["range(start: -1h) |> map(fn: (r) => ({start: r._time, every: 1}))", "({start: -1m, every: 1m})"],
    ["range(start: -1h) |> map(fn: (r) => ({toString: 1, constructor: r.valueOf}))", "({toString: 1, constructor: r.valueOf})"],
    ['range(start: -1h) |> last() |> yield(name: "start")', "last()"],
  ])("%s", (query, changed) => {
    const script = threshold({ text: `from(bucket: "b") |> filter(fn: (r) => r._field == "f") |> ${query}` });
    expect(script.replaceAll(/\s+/g, " ")).toContain(changed);
    expect(script).not.toContain("yield");
  });

  test("comments before it, in it and behind it stay", () => {
    const script = threshold({ text: `// one\nimport "math"\n// two\n${QUERY}\n  // three\n  |> last()\n// four\n// five` });
    expect(script.match(/\/\/ \w+/g)).toEqual(["// one", "// two", "// three", "// four", "// five"]);
    expect(script.endsWith(")// four\n// five\n")).toBe(true);
  });

  test("syntax errors are told with their places", () => {
    expect(() => threshold({ text: "from(" })).toThrow("loc 1:1-1:6: expected RPAREN, got EOF\n");
  });
});

test("a custom script keeps what is not its id", () => {
  const text = 'option task = {name: "n", every: 1m, offset: 0s}\ncheck = {tags: {}, _check_name: "n", _type: "custom"} // c';
  expect(customScript(text, { id: "0a", name: "n" })).toBe(
    'option task = {name: "n", every: 1m, offset: 0s}\n\ncheck = {tags: {}, _check_name: "n", _type: "custom", _check_id: "0a"}// c\n',
  );
});

test.each([
  ["1h", "2h"],
  ["1h30m", "2h30m"],
  ["90s", "180s"],
  ["500ms", "1000ms"],
  ["1mo", "2mo"],
])("%s widened is %s", (text, wider) => {
  expect(periodText(widened(readPeriod(text)))).toBe(wider);
});

test.each<[text: string, message: string]>([
  ["x", "invalid duration x"],
  ["-1m", "invalid duration -1m"],
  ["1", "duration is missing a unit: "],
  ["1m 1s", "invalid duration  1s"],
  ["1-1m", "duration is missing a unit: -1m"],
  ["1m1", "duration is missing a unit: "],
  ["9999999999999999999s", "invalid duration 9999999999999999999s"],
  ["1m".repeat(17), `invalid duration ${"1m".repeat(17)}`],
])("%j is no period", (text, message) => {
  expect(() => readPeriod(text)).toThrow(new TsdbError("bad_request", message));
});
