// The parts that work on text alone: names, tokens, intervals, times, the first words of a statement.
import { describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { durationText } from "../encode/cells/clock-text.ts";
import { compareTexts } from "../model/rows/text-order.ts";
import { EncodedText } from "./parse/encoded-text.ts";
import { parseInterval, scaledUnit } from "./parse/interval.ts";
import { decodeNames, encodeName, ident, stringLiteral } from "./parse/names.ts";
import { parseStatement } from "./parse/statement.ts";
import { addInterval, clampI64, dateOf, daysOf, parseTimeText } from "./parse/time-text.ts";
import { tokenize } from "./parse/tokens.ts";

describe("names", () => {
  test("encoding is injective without regard to case, and is undone", () => {
    const names = ["a", "A", "aB", "Ab", "AB", "ab", "\u{E000}a", "\u{E000}A", "\u{E000}\u{E000}", "Ä", "ä", "", "a.b", 'q"x'];
    const encoded = names.map(encodeName);
    expect(new Set(encoded.map((name) => name.toLowerCase())).size).toBe(names.length - 1); // Ä and ä: DuckDB folds ASCII alone
    expect(encoded.map(decodeNames)).toEqual(names);
  });

  test("random names are encoded without capitals and decoded again", () => {
    const below = prng(11);
    const alphabet = [..."aAbB\u{E000}zZ_"];
    for (let round = 0; round < 2000; round++) {
      const name = Array.from({ length: below(8) }, () => alphabet[below(alphabet.length)]).join("");
      expect(decodeNames(encodeName(name))).toBe(name);
      expect(encodeName(name)).not.toMatch(/[A-Z]/);
    }
  });

  test("the order of names is that of their bytes, seed 12", () => {
    const below = prng(12);
    const alphabet = ["", "a", "A", "b", "_", "ä", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "\u{1F3D4}", "\u{10FFFF}"];
    for (let round = 0; round < 3000; round++) {
      const [a, b] = [0, 1].map(() => Array.from({ length: below(4) }, () => alphabet[below(alphabet.length)]).join(""));
      expect(Math.sign(compareTexts(a!, b!))).toBe(Buffer.compare(Buffer.from(a!), Buffer.from(b!)));
    }
  });

  test("ident and stringLiteral double quotes", () => {
    expect([ident('a"b'), stringLiteral("it's")]).toEqual(['"a""b"', "'it''s'"]);
  });
});

describe("tokens", () => {
  const ENCODED: [sql: string, encoded: string][] = [
    ["SELECT Foo FROM Bar", "select foo from bar"],
    ['SELECT "Foo" FROM "bar"', 'select "\u{E000}foo" from "bar"'],
    ["SELECT 'Foo', E'A\\'B', $$Foo$$, $x$ $$ Foo $x$", "select 'Foo', 'A''B', $$Foo$$, $x$ $$ Foo $x$"],
    ['SELECT "a""B"', 'select "a""\u{E000}b"'],
    ["SELECT/* X */1--Y\n+2", "select 1\n+2"],
    ["SELECT 1E5, .5, 1_000, $Name, a.B", "select 1E5, .5, 1_000, $Name, a.b"],
    ["SELECT x'AB'", "select x'AB'"],
    ["Ünicode", "Ünicode"],
  ];
  test.each(ENCODED)("%s", (sql, encoded) => expect(new EncodedText(sql, tokenize(sql)).sql).toBe(encoded));

  test.each(["SELECT 1\0 garbage", "\0SELECT 1", "SELECT 1\0"])("NUL outside of quotes and comments is refused: %j", (sql) => {
    expect(() => tokenize(sql)).toThrow(`SQL error: unexpected \\0 at position ${sql.indexOf("\0") + 1}`);
  });

  test("positions lead back to the statement", () => {
    const sql = 'SELECT "Käse"\n  FROM  "Tisch" WHERE x';
    const text = new EncodedText(sql, tokenize(sql));
    const offset = Buffer.byteLength(text.sql.slice(0, text.sql.indexOf("where")));
    expect(text.placeOf(text.tokenAt(offset))).toEqual({ line: 2, column: 17, position: sql.indexOf("WHERE") });
  });
});

describe("intervals", () => {
  const S = 1_000_000_000n;
  const CASES: [text: string, months: number, days: number, ns: bigint][] = [
    ["1 hour", 0, 0, 3600n * S],
    ["1h", 0, 0, 3600n * S],
    ["90 min", 0, 0, 5400n * S],
    ["1.5 hours", 0, 0, 5400n * S],
    ["-1 day", 0, -1, 0n],
    ["1 day ago", 0, -1, 0n],
    ["2 weeks 3 days", 0, 17, 0n],
    ["1 year 2 months", 14, 0, 0n],
    ["1.5 months", 1, 15, 0n],
    ["0.5 days", 0, 0, 43_200n * S],
    ["100 nanoseconds", 0, 0, 100n],
    ["1 us 1 ms 1 s", 0, 0, 1_001_001_000n],
    ["5", 0, 0, 5n * S],
    ["01:02:03.004", 0, 0, 3723n * S + 4_000_000n],
    ["1 day -00:00:01", 0, 1, -S],
    ["1 century", 1200, 0, 0n],
    ["0.000000001 s", 0, 0, 1n],
  ];
  test.each(CASES)("%s", (text, months, days, ns) => expect(parseInterval(text)).toEqual({ months, days, ns }));
  test.each(["", "hour", "1 fortnight", "1 hour x", "--1 day", "1:2:3:4"])("%j is none", (text) => expect(parseInterval(text)).toBeNull());
  test("scaledUnit of a unit without a number", () => expect(scaledUnit("3", "quarter")).toEqual({ months: 9, days: 0, ns: 0n }));
});

describe("times", () => {
  test("days and dates are inverse, and agree with the host's calendar", () => {
    for (let days = -200_000; days <= 200_000; days += 97) {
      const { year, month, day } = dateOf(days);
      expect(daysOf(year, month, day)).toBe(days);
      const date = new Date(days * 86_400_000);
      expect([year, month, day]).toEqual([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
    }
  });

  const BAD = [
    "2024-13-01",
    "2024-02-30",
    "2023-02-29",
    "2024-01-01T25:00",
    "2024-01-01T24:00:01",
    "2024-01-01T00:60",
    "24-01-01",
    "2024-01",
    "x",
    "",
  ];
  test.each(BAD)("%j is none", (text) => expect(parseTimeText(text)).toBeNull());
  test.each(["2262-04-11T23:47:16.854775808Z", "1677-09-21T00:12:43.145224191Z", "9999-12-31"])("%s is out of range", (text) => {
    expect(parseTimeText(text)).toBe("range");
  });

  test("times in seconds or milliseconds with Z are those of the general form", () => {
    const below = prng(3);
    const two = (value: number) => String(value).padStart(2, "0");
    for (let i = 0; i < 2000; i++) {
      const clock = `${two(below(25))}:${two(below(61))}:${two(below(62))}`;
      const text = `${1899 + below(202)}-${two(below(14))}-${two(below(33))}T${clock}${["", ".5", ".007", ".1234567"][below(4)]}`;
      expect([text, parseTimeText(`${text}Z`)]).toEqual([text, parseTimeText(`${text}+00:00`)]);
      expect(parseTimeText(`${text}Z`, "Europe/Berlin")).toEqual(parseTimeText(`${text}+00:00`));
    }
    expect(parseTimeText("2020-02-28T23:59:59.999Z")).toBe(1_582_934_399_999_000_000n);
  });

  test("adding months keeps to the month's end", () => {
    const time = (text: string): bigint => parseTimeText(text) as bigint;
    expect(addInterval(time("2024-01-31"), { months: 1, days: 0, ns: 0n })).toBe(time("2024-02-29"));
    expect(addInterval(time("2024-02-29"), { months: -12, days: 1, ns: 1n })).toBe(time("2023-03-01T00:00:00.000000001"));
    expect(addInterval(time("1969-12-31T23:00:00"), { months: 2, days: 0, ns: 0n })).toBe(time("1970-02-28T23:00:00"));
    expect(clampI64(2n ** 70n)).toBe(2n ** 63n - 1n);
  });

  const DURATIONS: [ns: bigint, text: string][] = [
    [0n, "P0D"],
    [32_689_000n, "PT0.032689S"],
    [-1n, "-PT0.000000001S"],
    [90_000n * 1_000_000_000n, "PT90000S"],
    [-(2n ** 63n), "-PT9223372036.854775808S"],
  ];
  test.each(DURATIONS)("%d is %s", (ns, text) => expect(durationText(ns, "ns")).toBe(text));
});

describe("first words", () => {
  const KINDS: [sql: string, kind: string][] = [
    ["select 1", "query"],
    ["(select 1)", "query"],
    ["WITH x AS (SELECT 1) SELECT * FROM x;;", "query"],
    ["nonsense", "query"],
    ["EXPLAIN select 1", "explain"],
    ["explain analyze verbose select 1", "explain"],
    ["describe select 1", "describe"],
    ["SHOW TABLES", "show"],
    ['show columns from public.iox."Cpu"', "show"],
    ["DESC cpu", "show"],
  ];
  test.each(KINDS)("%s", (sql, kind) => expect(parseStatement(sql).kind).toBe(kind as never));

  test("the table of SHOW COLUMNS keeps its case in quotes only", () => {
    const tables = ["show columns from Cpu", 'show columns from "Cpu"', "describe iox.cpu", "DESCRIBE TABLE information_schema.tables"].map(
      (sql) => {
        const statement = parseStatement(sql);
        return statement.kind === "show" ? `${statement.table?.schema}.${statement.table?.table}` : "";
      },
    );
    expect(tables).toEqual(["iox.cpu", "iox.Cpu", "iox.cpu", "information_schema.tables"]);
  });
});
