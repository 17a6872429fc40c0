// What scripts say of their tasks, when those are due, and how the record is changed.
import { describe, expect, test } from "bun:test";
import { readTaskOptions } from "./options.ts";
import { rewriteTaskOptions } from "./rewrite.ts";

const script = (record: string) => `import "array"\noption task = ${record}\narray.from(rows: [{a: 1}])`;
const read = (record: string) => readTaskOptions(script(record));
const MAR_5_2024 = Date.UTC(2024, 2, 5, 10, 20, 30);

describe("the options of a script, as release 2.8.0 answers", () => {
  // written, shown
  const EVERY = ["1mo1s", "1y1d", "1h1mo", "1h", "90m", "1h30m", "1d", "1w", "1mo", "1y", "1s"];
  test.each(EVERY)("every: %s is shown as it is written", (every) => {
    expect(read(`{name: "a", every: ${every}}`)).toMatchObject({ name: "a", every, cron: null, offset: null, concurrency: 1, retry: 1 });
  });

  const CRONS = ["0 * * * *", "0 0 * * * *", "@hourly", "@daily", "@every 1h30m"];
  test.each(CRONS)("cron: %s", (cron) => {
    expect(read(`{name: "a", cron: "${cron}"}`)).toMatchObject({ every: null, cron });
  });

  test.each([
    ["5m", "5m", 300_000],
    ["-5m", "-5m", -300_000],
    ["0s", null, 0],
    ["2h", "2h", 7_200_000],
    ["1h30m", "1h30m", 5_400_000],
  ])("offset: %s", (written, offset, offsetMs) => {
    expect(read(`{name: "a", every: 1h, offset: ${written}}`)).toMatchObject({ offset, offsetMs });
  });

  test("unknown properties are left alone", () => {
    expect(read(`{name: "a", every: 1h, nope: 1, delay: 5m, concurrency: 5, retry: 3}`)).toMatchObject({ concurrency: 5, retry: 3 });
  });

  test.each([
    [`{name: "a", every: 1500ms}`, "invalid options: every option must be expressible as whole seconds"],
    [`{name: "a", every: 999ms}`, "invalid options: every option must be at least 1 second"],
    [`{name: "a", every: 0s}`, "invalid options: must specify exactly one of either cron or every"],
    [`{name: "a", every: -1h}`, "failed to parse field 'every' in task options"],
    [`{name: "a", every: "1h"}`, "failed to parse field 'every' in task options"],
    [`{name: "a", every: 60}`, "failed to parse field 'every' in task options"],
    [`{name: "a"}`, "missing required option: cron or every"],
    [`{name: "", every: 1h}`, "invalid options: name required"],
    ["{every: 1h}", "missing required option: name"],
    ["{name: 5, every: 1h}", "failed to parse field 'name' in task options"],
    [`{name: "a", every: 1h, cron: "0 * * * *"}`, "cannot use both cron and every in task options"],
    [`{name: "a", cron: ""}`, "invalid options: must specify exactly one of either cron or every"],
    [`{name: "a", every: 1h, offset: 1500ms}`, "invalid options: offset option must be expressible as whole seconds"],
    [`{name: "a", every: 1h, offset: "5m"}`, "failed to parse field 'offset' in task options"],
    [`{name: "a", every: 1h, concurrency: 0}`, "invalid options: concurrency must be at least 1"],
    [`{name: "a", every: 1h, concurrency: 101}`, "invalid options: concurrency exceeded max of 100"],
    [`{name: "a", every: 1h, retry: 0}`, "invalid options: retry must be at least 1"],
    [`{name: "a", every: 1h, retry: -1}`, "failed to parse field 'retry' in task options"],
    [`{name: "a", every: 1h, retry: "x", concurrency: -1}`, "failed to parse field 'concurrency' in task options"],
    [`{name: "a", every: 1h, retry: 11}`, "invalid options: retry exceeded max of 10"],
    ["{}", "missing required option: name"],
    [
      `{name: "", every: 1500ms, retry: 0}`,
      "invalid options: name required, every option must be expressible as whole seconds, retry must be at least 1",
    ],
  ])("%s is refused", (record, message) => {
    expect(() => read(record)).toThrow(new Error(`invalid options: ${message}`));
  });

  test.each([
    ["every: 293y", 'time: invalid duration "2568384h"'],
    ["every: 292y293y1mo", 'time: invalid duration "2568384h"'],
    ["every: 107000d", 'time: invalid duration "2568000h"'],
    ["every: 9223372037s", 'time: invalid duration "9223372037s"'],
    ["every: 292y100000d", "invalid options: every option must be at least 1 second"],
    ["every: 1h, offset: -300y", 'time: invalid duration "-2629704h"'],
    ["every: 1h, offset: 2562048h", 'time: invalid duration "2562048h"'],
  ])("%s: longer than 64 bits of nanoseconds", (record, message) => {
    expect(() => read(`{name: "a", ${record}}`)).toThrow(new Error(`invalid options: ${message}`));
  });

  test.each(["nonsense", "61 * * * *", "* * * *", "@every 0s", "@every x", "@every -1h"])("cron: %s is refused", (cron) => {
    expect(() => read(`{name: "a", cron: "${cron}"}`)).toThrow("invalid options: invalid options: cron invalid: ");
  });

  // what the vendor's parser of patterns says of each
  const READ_ALL = "{1 1152921504606846975 18446744073709551615 18446744073709551615 16777215 2147483647 0 0 4095 0 0 false} 111111111111";
  test.each([
    ["nonsense", "failed to parse cron string 'nonsense' {0 0 0 0 0 0 0 0 0 0 0 false} 111111111111"],
    ["* * * *", "failed to parse cron string '* * * *' {0 0 0 0 0 0 0 0 0 0 0 false} 111111111111"],
    ["? * * * *", "failed to parse cron string '? * * * *' {0 0 0 0 0 0 0 0 0 0 0 false} 111111111111"],
    ["* * * * 5L", `failed to parse cron string '* * * * 5L' ${READ_ALL}`],
    [
      "1,,2 * * * *",
      "failed to parse cron string '1,,2 * * * *' {1 2 18446744073709551615 18446744073709551615 0 0 0 0 0 0 0 false} 111111111111",
    ],
    ["@foo", "failed to parse cron string '@foo' {0 0 0 0 0 0 0 0 0 0 0 false} 111111111111"],
    ["@every 0s", "failed to parse cron string '@every 0s' {0 0 0 0 0 0 0 0 0 0 0 true} 111111111111"],
    ["@every x", "error in parsing at char 6, ' '"],
    ["@hourly x", "error in parsing at char 7, ' '"],
    ["* * * * * * * *", "error in parsing at char 13, ' '"],
    ["60 * * * *", "invalid start minute 60"],
    ["1-99 * * * *", "invalid end minute 1"],
    ["*/60 * * * *", "invalid minute */60"],
    ["* 24 * * *", "invalid start hour 24"],
    ["* * 0 * *", "invalid start month 18446744073709551615"],
    ["* * * 13 *", "invalid start month 13"],
    ...["7", "0,7", "7-7", "7/2", "1,7"].map((days) => [`* * * * ${days}`, "invalid day of week range start must be before end"] as const),
    ["* * * * 6-2", "invalid day of week range start must be before end"],
    ["60 * * * * *", "invalid start second 60"],
    ["0 0 0 1 1 * 1969", "invalid start year 1969"],
  ])("cron: %s: %s", (cron, message) => {
    expect(() => read(`{name: "a", cron: "${cron}"}`)).toThrow(new Error(`invalid options: invalid options: cron invalid: ${message}`));
  });

  test("7 is Sunday as the end of a range, and in tasks that there are", () => {
    const sunday = "2024-03-10T04:00:00.000Z";
    expect(new Date(read(`{name: "a", cron: "0 4 * * 0-7/7"}`).schedule.next(MAR_5_2024)!).toISOString()).toBe(sunday);
    const kept = readTaskOptions(script(`{name: "a", cron: "0 4 * * 7"}`), true);
    expect(new Date(kept.schedule.next(MAR_5_2024)!).toISOString()).toBe(sunday);
  });

  test("a script has one such option", () => {
    const none = "invalid options: no task options defined";
    for (const flux of ["", "nonsense", "task = {name: 1}", `option other = {name: "a", every: 1h}`]) {
      expect(() => readTaskOptions(flux)).toThrow(new Error(none));
    }
    const twice = `option task = {name: "a", every: 1h}\n`.repeat(2);
    expect(() => readTaskOptions(twice)).toThrow(new Error("invalid options: multiple task options defined"));
    expect(() => readTaskOptions(`option task = {name: "a", every: 1h}\nx = (`)).toThrow("invalid options: loc ");
    const rest = "loc 2:1-2:2: invalid statement @2:1-2:2: )";
    expect(() => readTaskOptions(`option task = {name: "a", every: 1h}\n)`)).toThrow(new Error(`invalid options: ${rest}`));
    const broken = `option task = {name: "a", every: 1h}\nx = /[/`;
    expect(() => readTaskOptions(broken)).toThrow("invalid options: loc 2:5-2:8: regex parse error: [");
    expect(readTaskOptions(broken, true)).toMatchObject({ name: "a" });
    expect(() => read("1")).toThrow(new Error('invalid options: task option expected to be object literal, but found "ObjectExpression"'));
    expect(read(`{other with name: "a", every: 1h}`)).toMatchObject({ name: "a", every: "1h" });
    expect(() => read(`{other with name: "a"}`)).toThrow("missing required option: cron or every");
    expect(() => read("{name, every}")).toThrow("failed to parse field 'name'");
  });
});

describe("when a task is due", () => {
  const due = (record: string, after = MAR_5_2024) => {
    const ms = read(`{name: "a", ${record}}`).schedule.next(after);
    return ms === null ? null : new Date(ms).toISOString();
  };
  test.each([
    ["every: 1h", "2024-03-05T11:00:00.000Z"],
    ["every: 7m", new Date((Math.floor(MAR_5_2024 / 420_000) + 1) * 420_000).toISOString()],
    // 1970 began on a Thursday
    ["every: 1w", "2024-03-07T00:00:00.000Z"],
    ["every: 1mo", "2024-04-01T00:00:00.000Z"],
    // 651 months after 1970 are April 2024, and 651 seconds more
    ["every: 1mo1s", "2024-04-01T00:10:51.000Z"],
    // 630 months after 1970 are July 2022, and 630 days more
    ["every: 1mo1d", "2024-03-22T00:00:00.000Z"],
    [`cron: "@every 1mo1s "`, "2024-04-01T00:10:51.000Z"],
    [`cron: "@every 2s900ms"`, "2024-03-05T10:20:32.000Z"],
    ["every: 5y", "2025-01-01T00:00:00.000Z"],
    [`cron: "*/5 * * * *"`, "2024-03-05T10:25:00.000Z"],
    [`cron: "15 30 * * * *"`, "2024-03-05T10:30:15.000Z"],
    [`cron: "@daily"`, "2024-03-06T00:00:00.000Z"],
    [`cron: "@every_minute"`, "2024-03-05T10:21:00.000Z"],
    [`cron: "0 0 0 1 1 * 2026-2030"`, "2026-01-01T00:00:00.000Z"],
    [`cron: " 5/15  *  * mar  TUE "`, "2024-03-05T10:35:00.000Z"],
    [`cron: "0 4 * * 0"`, "2024-03-10T04:00:00.000Z"],
    [`cron: "@every 1h30m"`, "2024-03-05T10:30:00.000Z"],
  ])("%s", (record, wanted) => expect(due(record)).toBe(wanted));

  test("the time itself is not after it", () => {
    expect(due("every: 1h", Date.UTC(2024, 2, 5, 11))).toBe("2024-03-05T12:00:00.000Z");
    expect(due("every: 1mo", Date.UTC(2024, 3, 1))).toBe("2024-05-01T00:00:00.000Z");
    expect(due("every: 1mo", Date.UTC(1969, 11, 31))).toBe("1970-01-01T00:00:00.000Z");
  });

  test("periods past all times are never due, and parts of seconds are refused", () => {
    expect(due("every: 200y", Date.UTC(2250, 1))).toBeNull();
    expect(() => due("every: 1mo500ms")).toThrow("whole seconds");
  });
});

describe("changed options, as release 2.8.0 stores them", () => {
  const formatted = (record: string) => `import "array"\n\noption task = ${record}\n\narray.from(rows: [{a: 1}])\n`;
  const lines = (...properties: string[]) => formatted(`{\n${properties.map((each) => `    ${each},\n`).join("")}}`);
  const start = script(`{\n  name: "t",\n  every:   1h,\n  concurrency: 2, retry: 3}`);
  const rest = ["concurrency: 2", "retry: 3"];

  test.each([
    [{ name: "new name" }, formatted(`{name: "new name", every: 1h, concurrency: 2, retry: 3}`)],
    [{ every: "90m" }, formatted(`{name: "t", every: 90m, concurrency: 2, retry: 3}`)],
    [{ offset: "-30s" }, lines(`name: "t"`, "every: 1h", ...rest, "offset: -30s")],
    [{ cron: "*/5 * * * *", offset: "1m" }, lines(`name: "t"`, `cron: "*/5 * * * *"`, ...rest, "offset: 1m")],
    [{ name: "two\nlines" }, formatted(`{name: "two\nlines", every: 1h, concurrency: 2, retry: 3}`)],
    [{ name: 'quoted "x"' }, formatted(`{name: "quoted \\"x\\"", every: 1h, concurrency: 2, retry: 3}`)],
  ])("%j", (changes, wanted) => expect(rewriteTaskOptions(start, changes)).toBe(wanted));

  test("one line stays one line, and cron gives way to every", () => {
    expect(rewriteTaskOptions(script(`{name: "again", every: 5m}`), { name: "wins?" })).toBe(formatted(`{name: "wins?", every: 5m}`));
    expect(rewriteTaskOptions(script(`{name: "a", cron: "@daily"}`), { every: "24h" })).toBe(formatted(`{name: "a", every: 24h}`));
  });

  test("nothing changed: the script as it was written", () => {
    expect(rewriteTaskOptions(start, {})).toBe(start);
  });

  test("comments stay, also behind a last comma; that on the schedule goes with it", () => {
    const record = `{\n  // first\n  name: "t", // odd\n  every: 1h, // last\n}`;
    expect(rewriteTaskOptions(script(record), { every: "2h" })).toContain("// odd");
    const changed = rewriteTaskOptions(script(record), { offset: "5m", cron: "@hourly" });
    expect(changed).toContain("// first");
    expect(changed).toContain("// last");
    expect(changed).not.toContain("// odd");
    expect(readTaskOptions(changed)).toMatchObject({ name: "t", every: null, cron: "@hourly", offset: "5m" });
  });

  test.each(['"', "\\", "$", "a\nb", "\t", "\r", "Ä 🜁", '"}\noption task = {name: "b"'])("the name %j is one text", (name) => {
    expect(readTaskOptions(rewriteTaskOptions(start, { name })).name).toBe(name);
  });

  test.each([{ every: "x" }, { offset: "5m, name: 1" }, { every: "1h}\nx = 1" }, { offset: "" }, { every: "5 m" }])(
    "%j is refused",
    (changes) => {
      expect(() => rewriteTaskOptions(start, changes)).toThrow("invalid duration");
    },
  );

  test.each([`a \${b} c`, `\${`, `a \${b`, `\${"x"}`, `\\\${x}`, `\${1}`])(
    "%j is an expression, and neither a name nor a pattern",
    (text) => {
      for (const changes of [{ name: text }, { cron: text }]) expect(() => rewriteTaskOptions(start, changes)).toThrow("invalid options: ");
    },
  );

  test("what would be no task is refused", () => {
    expect(() => rewriteTaskOptions(start, { every: "1500ms" })).toThrow("every option must be expressible as whole seconds");
    expect(() => rewriteTaskOptions(start, { cron: "x" })).toThrow("cron invalid");
    expect(() => rewriteTaskOptions(start, { every: "1h", cron: "@daily" })).toThrow("cannot specify both every and cron");
    expect(() => rewriteTaskOptions("nonsense", { name: "a" })).toThrow("no task options defined");
  });
});
