// The log: levels by part, a line an entry, and values that cannot pretend to be more than a value.
import { expect, test } from "bun:test";
import { type LogFormat, parseLogFilter } from "./log-filter.ts";
import { createLogs } from "./logger.ts";

test.each([
  ["info", "info", {}],
  ["WARN", "warn", {}],
  [" off , wal = trace ", "off", { wal: "trace" }],
  ["wal=debug", "info", { wal: "debug" }],
  ["debug,a=off,b-c=error", "debug", { a: "off", "b-c": "error" }],
  ["info,iox_query::query_log=warn", "info", { "iox_query::query_log": "warn" }],
])("filter %j", (text, level, parts) => {
  const filter = parseLogFilter(text)!;
  expect([filter.level, Object.fromEntries(filter.parts)]).toEqual([level, parts]);
});

test.each(["", "loud", "info,", "wal=", "=info", "wal=debug=info", "wal debug"])("filter %j is refused", (text) => {
  expect(parseLogFilter(text)).toBeNull();
});

function collect(filter: string, format: LogFormat) {
  const lines: string[] = [];
  return { lines, logs: createLogs({ filter: parseLogFilter(filter)!, format, write: (line) => lines.push(line) }) };
}

test("levels of the log filter hold by part", () => {
  const { lines, logs } = collect("warn,wal=debug,http=off", "json");
  for (const part of ["wal", "http", "query"]) {
    logs(part).trace("trace");
    logs(part).debug("debug");
    logs(part).info("info");
    logs(part).error("error");
  }
  expect(lines.map((line) => JSON.parse(line)).map(({ part, level }) => `${part} ${level}`)).toEqual([
    "wal debug",
    "wal info",
    "wal error",
    "query error",
  ]);
});

test("a JSON log entry has time, level, part, message and fields", () => {
  const { lines, logs } = collect("info", "json");
  logs("wal").info("replayed", { rows: 12, file: "a b" });
  const { time, ...entry } = JSON.parse(lines[0]!);
  expect(entry).toEqual({ level: "info", part: "wal", msg: "replayed", rows: 12, file: "a b" });
  expect(new Date(time).toISOString()).toBe(time);
  expect(lines[0]).toEndWith("}\n");
});

test("a line of logfmt: values with spaces are quoted, nothing imitates another pair or line", () => {
  const { lines, logs } = collect("info", "logfmt");
  logs("wal").info("replayed", { rows: 12, file: "a b", "x y=1": null });
  expect(lines[0]).toMatch(/^level=info msg=replayed rows=12 file="a b" x_y_1=null part=wal ts=\d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
  logs("wal").error('two\nlines level=info "', { err: new Error("a\nb") });
  expect(lines[1]).toStartWith('level=error msg="two\\nlines level=info \\"" err="Error: a\\nb\\n');
  expect(lines[1]!.match(/\n/g)).toHaveLength(1);
});

test("log lines show control characters in messages, values and stacks", () => {
  const { lines, logs } = collect("info", "full");
  const evil = "\u001b]52;\u0007\u009b2J\u202e";
  logs("http").error(evil, { bare: "\u009b2J\u202e", quoted: `a ${evil}`, [evil]: 1, err: new Error(evil) });
  expect(lines[0]).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  expect(lines[0]!.match(/\\x9b2J\\u202e/g)).toHaveLength(5);
});

test("a log line shows fields, quotes them, and escapes control characters", () => {
  const { lines, logs } = collect("info", "full");
  logs("wal").info("replayed", { rows: 12, file: "a", quoted: 'x" level="error', empty: "", list: [1] });
  logs("http").error("failed\nfake line\u001b[31m", { err: new Error("boom") });
  const [first, second] = lines.map((line) => line.replace(/^\S+ /, ""));
  expect(first).toBe(' INFO wal: replayed rows=12 file=a quoted="x\\" level=\\"error" empty="" list=[1]\n');
  expect(second).toStartWith("ERROR http: failed\\nfake line\\u001b[31m\n    Error: boom\n        at ");
  expect(
    second!
      .trimEnd()
      .split("\n")
      .slice(1)
      .every((line) => line.startsWith("    ")),
  ).toBe(true);
});
