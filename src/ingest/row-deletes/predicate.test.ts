// Predicates of requests to delete rows: what they select, by SQL's rules of three values, and what is refused.
import { expect, test } from "bun:test";
import type { TsdbError } from "../../model/errors.ts";
import { finish } from "../../model/steps.ts";
import { parsePredicate } from "./parse-predicate.ts";
import { isLike, likePattern, matchingLists, type TagSet, truthOf, valueLists } from "./predicate.ts";

const ALL = { minNs: -1000n, maxNs: 9_000_000_000_000_000_000n };
const NOW_NS = 1_700_000_000_000_000_000n;
const DAY_NS = 86_400_000_000_000n;
const parse = (text: string) => parsePredicate(text, ALL, NOW_NS);

/** Series by their tags: a room, a floor, both, none. */
const SERIES: Readonly<Record<string, TagSet>> = {
  k1: new Map([
    ["room", "kitchen"],
    ["floor", "1"],
  ]),
  k2: new Map([
    ["room", "kitchen"],
    ["floor", "2"],
  ]),
  b: new Map([["room", "bath"]]),
  f: new Map([["floor", "1"]]),
  none: new Map(),
};
const ROOMS = "k1 k2 b";

// worked out by hand from SQL's rules: a comparison with NULL is neither true nor false, and NOT leaves it so
const SELECTED: [predicate: string, series: string][] = [
  ["", "k1 k2 b f none"],
  ["  \n", "k1 k2 b f none"],
  ["true", "k1 k2 b f none"],
  ["false", ""],
  ["NOT false", "k1 k2 b f none"],
  ["room = 'kitchen'", "k1 k2"],
  ["'kitchen' = room", "k1 k2"],
  ["room = E'kit\\x63hen'", "k1 k2"],
  ["ROOM = 'kitchen'", "k1 k2"],
  [`"room" = 'kitchen'`, "k1 k2"],
  ["room <> 'kitchen'", "b"],
  ["room != 'kitchen'", "b"],
  ["NOT room = 'kitchen'", "b"],
  ["NOT (room = 'kitchen' AND floor = '1')", "k2 b"],
  ["NOT (room = 'kitchen' OR floor = '1')", ""],
  ["room = 'kitchen' AND floor = '1'", "k1"],
  ["room = 'kitchen' OR floor = '1'", "k1 k2 f"],
  ["room = 'bath' OR room = 'kitchen' AND floor = '2'", "k2 b"],
  ["(room = 'bath' OR room = 'kitchen') AND floor = '2'", "k2"],
  ["room IN ('bath', 'hall')", "b"],
  ["room NOT IN ('bath', 'hall')", "k1 k2"],
  ["room IS NULL", "f none"],
  ["room IS NOT NULL", ROOMS],
  ["NOT room IS NULL", ROOMS],
  ["room IS NULL AND floor IS NULL", "none"],
  ["room LIKE '%tch%'", "k1 k2"],
  ["room LIKE 'b__h'", "b"],
  ["room NOT LIKE 'k%'", "b"],
  ["room ILIKE 'BATH'", "b"],
  ["room BETWEEN 'a' AND 'c'", "b"],
  ["room NOT BETWEEN 'a' AND 'c'", "k1 k2"],
  ["room > 'bath'", "k1 k2"],
  ["room >= 'bath'", ROOMS],
  ["room < 'kitchen'", "b"],
  ["'kitchen' > room", "b"],
  ["room <= 'kitchen'", ROOMS],
  ["room ~ '^k.*n$'", "k1 k2"],
  ["room !~ 'k'", "b"],
  ["room ~* 'KITCHEN'", "k1 k2"],
  ["room !~* 'KITCHEN'", "b"],
  ["room = 'kit''chen'", ""],
  ["room = '' OR floor = '2' -- the end", "k2"],
  ["time IS NOT NULL AND floor = '2'", "k2"],
  ["time IS NULL", ""],
];

test.each(SELECTED)("%j selects %s", (text, wanted) => {
  const { condition, range } = parse(text);
  const found = Object.keys(SERIES).filter((name) => truthOf(condition, SERIES[name]!) === true);
  expect(found.join(" ")).toBe(wanted);
  expect(range).toEqual(ALL);
  // the same by lists of values
  const fits = (lists: readonly { tag: string; values: readonly (string | null)[] }[], tags: TagSet) =>
    lists.every(({ tag, values }) => values.includes(tags.get(tag) ?? null));
  const lists = finish(matchingLists(condition, Object.values(SERIES)));
  expect(
    Object.keys(SERIES)
      .filter((name) => lists.some((all) => fits(all, SERIES[name]!)))
      .join(" "),
  ).toBe(wanted);
  const plain = valueLists(condition);
  if (plain !== null)
    expect(
      Object.keys(SERIES)
        .filter((name) => fits(plain, SERIES[name]!))
        .join(" "),
    ).toBe(wanted);
});

test("conditions that name all values need no look at the rows", () => {
  const lists = (text: string) => valueLists(parse(text).condition);
  expect(lists("room = 'a' AND floor IN ('1', '2')")).toEqual([
    { tag: "room", values: ["a"] },
    { tag: "floor", values: ["1", "2"] },
  ]);
  expect(lists("room = 'a' AND (room IN ('a', 'b') AND true)")).toEqual([{ tag: "room", values: ["a"] }]);
  expect(lists("room = 'a' AND room = 'b'")).toEqual([{ tag: "room", values: [] }]);
  expect(lists("room IS NULL")).toEqual([{ tag: "room", values: [null] }]);
  for (const text of ["room != 'a'", "room = 'a' OR room = 'b'", "room LIKE 'a'", "room IS NOT NULL", "false"])
    expect(lists(text)).toBeNull();
});

test("texts are looked up together, and long work pauses", () => {
  const stepsOf = (text: string, values: readonly string[]) => {
    const steps = matchingLists(
      parse(text).condition,
      values.map((value) => new Map([["room", value]])),
    );
    for (let count = 0; ; count++) if (steps.next().done) return count;
  };
  const texts = Array.from({ length: 3000 }, (_, i) => `'${i}'`);
  const rooms = Array.from({ length: 4000 }, (_, i) => `x${i}`);
  expect(stepsOf(texts.map((text) => `room = ${text}`).join(" OR "), rooms)).toBe(0);
  expect(stepsOf(texts.map((text) => `room != ${text}`).join(" AND "), rooms)).toBe(0);
  expect(stepsOf(texts.map((text) => `room > ${text}`).join(" OR "), rooms.slice(0, 100))).toBeGreaterThan(30);
  expect(stepsOf(`room LIKE '%${"a".repeat(500)}b'`, ["a".repeat(2000)])).toBeGreaterThan(80);
});

test("texts that are looked up together mean what they do one by one", () => {
  const names = (text: string) => Object.keys(SERIES).filter((name) => truthOf(parse(text).condition, SERIES[name]!) === true);
  const EQUAL: [together: string, apart: string][] = [
    ["room = 'bath' OR room = 'hall' OR floor = '2'", "(room = 'bath' OR floor = '2') OR (room = 'hall')"],
    ["room != 'bath' AND room != 'hall' AND floor != '2'", "NOT (room = 'bath') AND NOT (room = 'hall') AND NOT (floor = '2')"],
    ["NOT (room = 'bath' OR room = 'hall')", "NOT (room = 'bath') AND NOT (room = 'hall')"],
    ["NOT (room != 'bath' AND room != 'kitchen')", "room IN ('bath', 'kitchen')"],
    ["room = 'bath' OR room IN ('kitchen', 'hall') OR room LIKE 'x%'", "room IS NOT NULL"],
  ];
  for (const [together, apart] of EQUAL) expect(names(together)).toEqual(names(apart));
  expect(names(EQUAL[0]![0])).toEqual(["k2", "b"]);
  expect(names(EQUAL[1]![0])).toEqual(["k1"]);
});

test("many series become few lists", () => {
  const all = Array.from(
    { length: 1000 },
    (_, i) =>
      new Map([
        ["host", `h${i}`],
        ["dc", `d${i % 2}`],
      ]),
  );
  const lists = finish(matchingLists(parse("host != 'h1' AND dc != 'x'").condition, all));
  expect(lists.map((each) => each.map(({ tag, values }) => [tag, values.length]))).toEqual([
    [
      ["dc", 1],
      ["host", 500],
    ],
    [
      ["dc", 1],
      ["host", 499],
    ],
  ]);
});

const RANGES: [predicate: string, minNs: bigint, maxNs: bigint][] = [
  ["time >= '1970-01-01T00:00:01Z'", 1_000_000_000n, ALL.maxNs],
  ["time > '1970-01-01T00:00:01Z'", 1_000_000_001n, ALL.maxNs],
  ["time < '1970-01-01T00:00:01Z'", ALL.minNs, 999_999_999n],
  ["time <= '1970-01-01T00:00:01Z'", ALL.minNs, 1_000_000_000n],
  ["'1970-01-01T00:00:01Z' > time", ALL.minNs, 999_999_999n],
  ["time = TIMESTAMP '1970-01-01 00:00:01'", 1_000_000_000n, 1_000_000_000n],
  ["time BETWEEN '1970-01-01T00:00:01Z' AND '1970-01-01T00:00:02Z'", 1_000_000_000n, 2_000_000_000n],
  ["(room = 'a' AND (time >= '1970-01-01T00:00:01Z')) AND time < '1970-01-01T00:00:03Z'", 1_000_000_000n, 2_999_999_999n],
  ["time < now() - INTERVAL '1 day'", ALL.minNs, NOW_NS - DAY_NS - 1n],
  ["time < now() - INTERVAL '1 day' + INTERVAL '1 hour'", ALL.minNs, NOW_NS - DAY_NS + 3_600_000_000_000n - 1n],
  ["time > '1000-01-01T00:00:00Z'", ALL.minNs + 1n, ALL.maxNs],
  ["time < '9000-01-01T00:00:00Z'", ALL.minNs, ALL.maxNs - 1n],
];

test.each(RANGES)("%j is of times from %d to %d", (text, minNs, maxNs) => {
  expect(parse(text).range).toEqual({ minNs, maxNs });
});

const REFUSED: [predicate: string, why: string][] = [
  ["room", "ends where a comparison should follow"],
  ["room =", "ends where a tag or a value should follow"],
  ["room = kitchen", "a comparison is of one tag, or time, with a value"],
  [`room = "kitchen"`, "a comparison is of one tag, or time, with a value"],
  ["'a' = 'b'", "a comparison is of one tag, or time, with a value"],
  ["temp > 5", "numbers are values of fields"],
  ["room = 'a' floor = 'b'", "want AND, OR or the end at character 12, got floor = 'b'"],
  ["(room = 'a'", "ends where a closing parenthesis should follow"],
  ["room = 'a')", "want AND, OR or the end"],
  ["room IN ()", "want a tag or a value"],
  ["room IN ('a'", "closing parenthesis"],
  ["room IN 'a'", "a list in parentheses"],
  ["room IS 'a'", "want NULL"],
  ["room NOT 'a'", "want IN, LIKE or BETWEEN"],
  ["room = 'a", "unterminated"],
  ["room = $$a$$", "write texts in single quotes"],
  ["room = $1", "want a tag or a value"],
  ["room === 'a'", "want a comparison"],
  ["room ~ '('", "the predicate cannot be understood"],
  ["'k' ~ room", "a pattern stands right of ~"],
  ["room = TIMESTAMP '2020-01-01'", "room is compared with a time"],
  ["time != '2020-01-01'", "not by !="],
  ["time LIKE '2020%'", "not by LIKE"],
  ["time IN ('2020-01-01')", "not by IN"],
  ["time > 'yesterday'", '"yesterday" is no time'],
  ["time > now() - INTERVAL 'x'", "is no interval"],
  ["time > now() - 5", "want INTERVAL"],
  ["time > '2020-01-01' OR room = 'a'", "outside of OR and NOT"],
  ["NOT time > '2020-01-01'", "outside of OR and NOT"],
  ["NOT (room = 'a' AND time > '2020-01-01')", "outside of OR and NOT"],
  ["room = (SELECT 'a')", "want a tag or a value"],
  ["lower(room) = 'a'", "want a comparison"],
  [`${"(".repeat(200)}room = 'a'${")".repeat(200)}`, "nested deeper than 100"],
  [`${"NOT ".repeat(200)}room = 'a'`, "nested deeper than 100"],
  [`room = '${"x".repeat(70_000)}'`, "longer than 65536 characters"],
  [" , ", "want a tag or a value"],
];

test.each(REFUSED.map(([text, why]) => [text.slice(0, 60), why, text] as const))("%j is refused: %s", (_, why, text) => {
  const error = (() => {
    try {
      return parse(text);
    } catch (caught) {
      return caught as TsdbError;
    }
  })() as TsdbError;
  expect(error.kind).toBe("bad_request");
  expect(error.message).toContain(why);
});

const LIKE: [pattern: string, text: string, fits: boolean][] = [
  ["", "", true],
  ["", "a", false],
  ["%", "", true],
  ["%%", "abc", true],
  ["a%c", "abbbc", true],
  ["a%c", "abbb", false],
  ["%b%b%", "abcb", true],
  ["%b%b%", "abc", false],
  ["_", "\u{1f4a5}", true],
  ["__", "\u{1f4a5}", false],
  ["100\\%", "100%", true],
  ["100\\%", "1000", false],
  ["a\\", "a\\", true],
  ["a.c", "abc", false],
];

test.each(LIKE)("LIKE %j of %j: %p", (pattern, text, fits) => {
  expect(finish(isLike(likePattern(pattern), text))).toBe(fits);
});

test("a pattern of many wildcards takes steps of its length times the text's", () => {
  // with backtracking over every wildcard this would not end
  expect(finish(isLike(likePattern(`${"%a".repeat(200)}%b`), "a".repeat(5000)))).toBe(false);
});

test("predicates nested as deep as possible are read once", () => {
  let text = "room = 'a'";
  for (let i = 0; i < 45; i++) text = `(${text} OR floor = '${i}')`;
  expect(truthOf(parse(text).condition, new Map([["floor", "44"]]))).toBe(true);
});
