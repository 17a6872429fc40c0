// Conditions on tags alone are decided once for each combination of their values, before rows are read. Each statement answers as DuckDB
// does on all rows, in several states of the rows, and as the same scan without this optimisation.
import { describe, expect, spyOn, test } from "bun:test";
import { pick, prng } from "../support/prng.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { SCAN_VIEWS } from "../support/rows/scan-views.ts";
import { type SqlAsk, StoredRows } from "../support/rows/stored-rows.ts";
import { sqlStates } from "../support/sql/sql-states.ts";
import { comparable } from "../support/sql/sql-twins.ts";

const STATES = ROW_STATES.filter(
  (state) => process.env["ALL_STATES"] === "1" || ["in memory", "compacted", "half flushed and written again"].includes(state),
);
const NOW_NS = 1_700_000_000_000_000_000n;
const HOSTS = ["web-01", "web-02", "db-1", "Web-03", "a", "7", "12", "x%y", "é-long-name-of-a-host"];

/** Hosts with and without a region, numbers as text, one host only late and with a text that is no number. */
function steps(): RowStep[] {
  const below = prng(5);
  const lines = Array.from({ length: 400 }, (_, i) => {
    const tags = [
      ["host", pick(below, HOSTS)],
      ["rack", String(below(4))],
      ...(below(3) === 0 ? [] : [["region", pick(below, ["eu", "us", "web-01", "a"])]]),
    ];
    const fields = [`v=${below(100)}i`, ...(below(3) === 0 ? [] : [`s="${pick(below, HOSTS)}"`])];
    return `cpu,${tags.map(([name, value]) => `${name}=${value}`).join(",")} ${fields.join(",")} ${1_000_000_000 * i + below(3)}`;
  });
  const late = Array.from({ length: 5 }, (_, i) => `cpu,host=late,rack=none v=${i}i ${1_000_000_000_000 + i}`);
  const other = ["names,host=web-01 w=1i 1", "names,host=a w=2i 2", "names,host=none w=3i 3"];
  return [lines.slice(0, 250), lines.slice(200), [...late, ...other]].map((part) => ({
    database: "db",
    lines: part.join("\n"),
  })) as RowStep[];
}

const states = sqlStates(steps, STATES);
/** In the order of STATES. */
const rowsOf = (at: number) => states.stored[at]![1];

const ask = (one: StoredRows, statement: string, options: SqlAsk = {}) =>
  comparable(statement, one.sql(states.engine, statement, { nowNs: NOW_NS, ...options }));

async function plan(one: StoredRows, statement: string): Promise<string> {
  return (await one.sql(states.engine, `EXPLAIN ${statement}`, { nowNs: NOW_NS })).rows.map((row) => row.join(" ")).join("\n");
}

const RANGE = "time < '1970-01-01T00:10:00Z'";
const SHOWN = "host, rack, region, v";

/** Decided beforehand, by these tags. */
const DECIDED: readonly (readonly [condition: string, tags: string])[] = [
  ["host LIKE 'web-0%'", "host"],
  ["host NOT LIKE '%-%'", "host"],
  ["host ILIKE 'WEB%'", "host"],
  ["host LIKE '%\\%%' ESCAPE '\\'", "host"],
  ["host SIMILAR TO '(web|db)-.*'", "host"],
  ["host ~ '[0-9]{2}$'", "host"],
  ["host ~* '^WEB'", "host"],
  ["host !~ 'e'", "host"],
  ["regexp_like(host, '^w')", "host"],
  ["length(host) > 4", "host"],
  ["upper(host) = 'A'", "host"],
  ["concat(host, ':', rack) = 'web-01:2'", "host, rack"],
  ["host || region LIKE '%us'", "host, region"],
  ["coalesce(region, 'none') = 'none'", "region"],
  ["region IS NOT NULL", "region"],
  ["region IS NULL OR host = 'a'", "region, host"],
  ["NOT (host = 'a')", "host"],
  ["host != 'a' AND host != 'web-01'", "host"],
  ["host = region", "host, region"],
  ["host < region", "host, region"],
  ["host IS DISTINCT FROM region", "host, region"],
  ["host BETWEEN 'a' AND 'd'", "host"],
  ["host NOT IN ('a', 'web-01')", "host"],
  ["host IN ('a', region)", "host, region"],
  ["CASE WHEN region = 'eu' THEN host ELSE rack END = '2'", "region, host, rack"],
  ["CAST(rack AS BIGINT) > 1", "rack"],
  ["TRY_CAST(host AS BIGINT) > 1", "host"],
  ["starts_with(host, 'web') OR ends_with(region, 's')", "host, region"],
  ["split_part(host, '-', 2) = '01'", "host"],
  ["host LIKE 'web%' AND rack > '1' AND region IS NOT NULL", "host, rack, region"],
  ["rack IN ('1', '2') AND host LIKE '%b%'", "host"],
  ["array_length(string_to_array(host, '-')) = 2", "host"],
  ["host LIKE 'nothing%'", "host"],
];

/** Left to the rows. */
const NOT_DECIDED: readonly string[] = [
  "host LIKE s",
  "host LIKE '%a%' OR v > 50",
  "host = 'a' OR s = 'a'",
  "random() >= 0 OR host LIKE 'x%'",
  "s LIKE 'web%'",
  "v > 30",
];

const FORMS: readonly ((condition: string) => string)[] = [
  (condition) => `SELECT ${SHOWN}, time FROM cpu WHERE ${RANGE} AND (${condition})`,
  (condition) => `SELECT count(*), sum(v), min(time) FROM cpu WHERE (${condition}) AND ${RANGE}`,
  (condition) => `SELECT rack, count(*) AS n, avg(v) FROM cpu WHERE ${RANGE} AND (${condition}) GROUP BY rack ORDER BY rack`,
  (condition) => `SELECT DISTINCT ON (host) ${SHOWN} FROM cpu WHERE ${RANGE} AND (${condition}) ORDER BY host, time DESC, rack, region, v`,
  (condition) => `SELECT count(*) FROM (SELECT * FROM cpu WHERE ${RANGE}) AS inside WHERE (${condition}) AND v >= 10`,
  (condition) => `WITH x AS (SELECT * FROM cpu WHERE ${RANGE}) SELECT count(DISTINCT host), max(v) FROM x WHERE ${condition}`,
];

let checked = 0;

/** In all states, or one state after the other; with one optimisation left out, one after the other. */
async function check(statement: string, states = process.env["ALL_STATES"] === "1" ? STATES.length : 1): Promise<void> {
  const turn = checked++;
  const expected = await ask(rowsOf(0), statement, { isPlain: true });
  expect(expected.fields, statement).not.toBe("error");
  for (let i = 0; i < states; i++) {
    const at = (turn + i) % STATES.length;
    const [leftOut, view] = SCAN_VIEWS[turn % SCAN_VIEWS.length]!;
    // the second time its conditions and keys are known
    for (const time of [1, 2])
      expect([STATES[at], time, await ask(rowsOf(at), statement)], statement).toEqual([STATES[at], time, expected]);
    expect([leftOut, (await ask(rowsOf(at), statement, { view })).rows], statement).toEqual([leftOut, expected.rows]);
  }
}

describe("WHERE", () => {
  test.each(DECIDED)("%s", async (condition, tags) => {
    for (const form of FORMS) await check(form(condition));
    expect(await plan(rowsOf(0), FORMS[0]!(condition))).toContain(`series by ${tags}`);
  });

  test.each(NOT_DECIDED)("%s is left to the rows", async (condition) => {
    for (const form of FORMS) await check(form(condition));
    expect(await plan(rowsOf(0), FORMS[0]!(condition))).not.toContain("series by");
  });
});

/** Computed once for each combination of tags. */
const KEYS: readonly string[] = [
  "left(host, 3)",
  "upper(host)",
  "host LIKE 'web%'",
  "CASE WHEN region IS NULL THEN 'none' WHEN region = 'eu' THEN host ELSE rack END",
  "concat(host, region)",
  "host || region",
  "length(host)",
  "length(host) % 2 = 0",
  "TRY_CAST(host AS BIGINT)",
  "coalesce(region, host)",
  "split_part(host, '-', 1)",
  "regexp_replace(host, '[0-9]+', '#')",
  "host = region",
  "region IS NULL",
  "CAST(length(rack) AS DOUBLE) / 0",
];

const GROUPED: readonly ((key: string) => string)[] = [
  (key) => `SELECT ${key} AS k, count(*), sum(v), avg(v), min(time) FROM cpu WHERE ${RANGE} GROUP BY ${key}`,
  (key) => `SELECT ${key} AS k, rack, count(v) FROM cpu WHERE ${RANGE} GROUP BY 1, rack`,
  (key) => `SELECT DISTINCT ${key} AS k FROM cpu WHERE ${RANGE}`,
  (key) => `SELECT DISTINCT rack, ${key} AS k FROM cpu WHERE ${RANGE} AND host NOT LIKE 'a%'`,
  (key) => `SELECT date_bin(INTERVAL '1 minute', time) AS t, ${key} AS k, max(v) FROM cpu WHERE ${RANGE} GROUP BY t, k ORDER BY t, k`,
  (key) => `SELECT count(*) FROM (SELECT ${key} AS k, max(v) AS m FROM cpu WHERE ${RANGE} AND v < 90 GROUP BY k HAVING ${key} IS NOT NULL)`,
];

describe("GROUP BY and DISTINCT", () => {
  test.each(KEYS)("%s", async (key) => {
    for (const form of GROUPED) await check(form(key));
    expect(await plan(rowsOf(0), GROUPED[0]!(key))).toContain("keys that are expressions of their tags");
  });

  test("several keys", () =>
    check(`SELECT left(host, 1) AS a, region, upper(rack) AS b, count(*) FROM cpu WHERE ${RANGE} GROUP BY a, region, b`, STATES.length));

  test("a key is used within other expressions", () =>
    check(`SELECT upper(left(host, 2)) || 'x' AS u, count(*) + 1 FROM cpu WHERE ${RANGE} GROUP BY left(host, 2)`, STATES.length));

  test.each([
    `SELECT left(s, 1) AS k, count(*) FROM cpu WHERE ${RANGE} GROUP BY k`,
    `SELECT concat(host, s) AS k, count(*) FROM cpu WHERE ${RANGE} GROUP BY k`,
    `SELECT left(host, 1) AS k, count(DISTINCT host) FROM cpu WHERE ${RANGE} GROUP BY k`,
    `SELECT left(host, 1) AS k, count(*) FROM cpu WHERE ${RANGE} GROUP BY ROLLUP (left(host, 1))`,
  ])("%s is left to the rows", async (statement) => {
    await check(statement, STATES.length);
    expect(await plan(rowsOf(0), statement)).not.toContain("keys that are expressions of their tags");
  });

  test("a column beside its key is an error", async () => {
    const statement = `SELECT host, count(*) FROM cpu WHERE ${RANGE} GROUP BY left(host, 1)`;
    const expected = await ask(rowsOf(0), statement, { isPlain: true });
    expect(expected.fields).toBe("error");
    expect(await ask(rowsOf(0), statement)).toEqual(expected);
  });

  test("a key that fails for a combination without rows in range", () =>
    check(`SELECT CAST(rack AS BIGINT) AS k, count(*) FROM cpu WHERE ${RANGE} GROUP BY k`, STATES.length));
});

describe("joins", () => {
  const JOINED = `FROM names JOIN cpu ON names.host = cpu.host AND cpu.rack LIKE '%1' AND cpu.${RANGE}`;
  const CASES: readonly string[] = [
    `SELECT cpu.host, v, w ${JOINED}`,
    `SELECT names.host, count(v) ${JOINED.replace("JOIN", "LEFT JOIN")} GROUP BY names.host`,
    `SELECT names.host, count(w) ${JOINED.replace("JOIN", "RIGHT JOIN")} GROUP BY names.host`,
    `SELECT names.host, v FROM names LEFT JOIN cpu ON names.host = cpu.host AND cpu.${RANGE} WHERE cpu.region IS NULL OR cpu.rack LIKE '1%'`,
    `SELECT names.host, v FROM names LEFT JOIN cpu ON names.host = cpu.host AND cpu.${RANGE} WHERE coalesce(cpu.rack, 'x') = 'x'`,
    `SELECT count(*) FROM cpu AS a JOIN cpu AS b ON a.host = b.host AND a.time = b.time AND a.${RANGE} WHERE a.host LIKE 'w%' AND b.rack > '0'`,
    `SELECT count(*) FROM names WHERE EXISTS (SELECT 1 FROM cpu WHERE cpu.host = names.host AND cpu.rack LIKE '2%')`,
    `SELECT host FROM cpu WHERE ${RANGE} AND host LIKE 'w%' UNION ALL SELECT host FROM names WHERE host LIKE 'n%'`,
  ];
  test.each(CASES)("%s", (statement) => check(statement, STATES.length));
});

describe("known results", () => {
  /** How many connections of DuckDB it takes. */
  async function leases(run: () => Promise<unknown>): Promise<number> {
    const lease = spyOn(states.engine, "lease");
    try {
      await run();
      return lease.mock.calls.length;
    } finally {
      lease.mockRestore();
    }
  }

  // of rows that are merged anew in each statement nothing is known
  test.each(ROW_STATES)("of a condition and of keys, over series that change: %s", async (state) => {
    const { engine } = states;
    const of = (hosts: readonly string[], time: number) => ({
      ...{ database: "db", lines: hosts.map((host, i) => `cpu,host=${host},rack=${i} v=${i + time}i ${time + i}`).join("\n") },
    });
    const one = await StoredRows.open(engine.kernel, state, [of(["a-1", "b-1", "a-2"], 0)]);
    const where = `SELECT host, v FROM cpu WHERE host LIKE 'a-%' AND length(host) < ${10 + ROW_STATES.indexOf(state)} ORDER BY time`;
    const keys = `SELECT upper(left(host, 1)) AS k, sum(v) AS n FROM cpu GROUP BY k ORDER BY k`;
    const both = async () => [(await one.sql(engine, where)).rows, (await one.sql(engine, keys)).rows];
    const plain = async () => [
      (await one.sql(engine, where, { isPlain: true })).rows,
      (await one.sql(engine, keys, { isPlain: true })).rows,
    ];
    try {
      for (const [i, change] of [
        () => Promise.resolve(),
        () => one.write("db", null, of(["c-1", "a-3"], 100).lines),
        () => one.write("db", null, of(["a-3", "c-1"], 200).lines),
        () => one.flush(),
        () => one.write("db", null, of(["a-4", "é-1"], 300).lines),
        () => one.deleteRows({ database: "db", table: "cpu", range: { minNs: 0n, maxNs: 50n }, tags: [] }),
        () => one.compact(),
        () => one.restartFromLog(),
      ].entries()) {
        await change();
        const expected = await plain();
        expect([i, await both()]).toEqual([i, expected]);
        // the condition takes none; the groups are sorted by DuckDB
        expect([i, await leases(both)]).toEqual([i, 1]);
        expect([i, await both()]).toEqual([i, expected]);
      }
    } finally {
      await one.close();
    }
  });

  test("a condition with the time of its statement", async () => {
    const one = await StoredRows.open(states.engine.kernel, "in memory", [
      { database: "db", lines: "t,year=2023 v=1i 1\nt,year=2024 v=2i 2" },
    ]);
    const statement = "SELECT v FROM t WHERE year LIKE CAST(date_part('year', now()) AS VARCHAR)";
    for (const year of [2023, 2024, 2025, 2023]) {
      const { rows } = await one.sql(states.engine, statement, { nowNs: BigInt(Date.UTC(year, 5)) * 1_000_000n });
      expect([year, rows]).toEqual([year, year === 2025 ? [] : [[BigInt(year - 2022)]]]);
    }
    await one.close();
  });

  test("a condition with a parameter", async () => {
    const statement = "SELECT count(*) FROM cpu WHERE host LIKE $pattern";
    for (const pattern of ["web%", "a", "%", "web%"]) {
      const options = { params: { pattern } };
      expect((await rowsOf(0).sql(states.engine, statement, options)).rows).toEqual(
        (await rowsOf(0).sql(states.engine, statement, { ...options, isPlain: true })).rows,
      );
    }
  });
});

describe("errors", () => {
  // rack is no number in rows of another time
  test("no value of rows that are not read", async () => {
    await check(`SELECT count(*) FROM cpu WHERE CAST(rack AS BIGINT) > 1 AND ${RANGE}`, STATES.length);
    await check(`SELECT host, count(*) FROM cpu WHERE host = 'a' AND CAST(rack AS BIGINT) > 1 GROUP BY host`, STATES.length);
  });

  test.each([
    "SELECT count(*) FROM cpu WHERE CAST(rack AS BIGINT) > 1",
    "SELECT rack, count(*) FROM cpu WHERE CAST(rack AS BIGINT) > 1 GROUP BY rack",
  ])("%s", async (statement) => {
    const expected = await ask(rowsOf(0), statement, { isPlain: true });
    expect(expected.fields).toBe("error");
    for (const [, one] of states.stored) expect(await ask(one, statement)).toEqual(expected);
  });

  test("functions that make too much are refused as in rows", async () => {
    const statement = "SELECT count(*) FROM cpu WHERE repeat(host, 1000000000) = 'x'";
    const expected = await ask(rowsOf(0), statement, { isPlain: true });
    expect(expected.fields).toBe("error");
    expect(await ask(rowsOf(0), statement)).toEqual(expected);
  });
});
