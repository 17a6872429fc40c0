// Texts that are repeated: answers must be those of an engine that keeps no text, whatever has changed since the text was planned.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { sqlEngine } from "../../../test/support/sql/sql-engine.ts";
import { askRows, type SqlValue } from "../../../test/support/sql/sql-rows.ts";
import type { QueryParams } from "../../model/query/query.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { SqlEngine, type SqlInput } from "../execute/engine.ts";
import { KnownTexts } from "./known-texts.ts";

const { time, tag, integer, float, string } = ColumnType;

const HOUR_NS = 3_600_000_000_000n;

describe("kept texts", () => {
  test("the least recently used is dropped first, and a long one is not kept", () => {
    // 32 characters: two texts of 16, none of more than 2
    const texts = new KnownTexts<number>(32 * 200);
    for (let i = 0; i < 16; i++) texts.keep(`${10 + i}`, i);
    expect(texts.find("10")).toBe(0);
    texts.keep("xx", 99);
    expect(texts.find("11")).toBeNull();
    expect([texts.find("10"), texts.find("12"), texts.find("xx")]).toEqual([0, 2, 99]);
    texts.keep("abc", 1);
    expect(texts.find("abc")).toBeNull();
    texts.keep("12", 7);
    expect([texts.find("12"), texts.find("13")]).toEqual([7, 3]);
  });

  test("a limit of 0 keeps none", () => {
    const texts = new KnownTexts<number>(0);
    texts.keep("a", 1);
    expect(texts.find("a")).toBeNull();
  });
});

describe("answers of known texts", () => {
  const own = sqlEngine(96 << 20);
  let forgetful: SqlEngine;
  beforeAll(async () => {
    forgetful = await SqlEngine.open(own.kernel, { memoryBytes: 96 << 20, threads: 1, tempDir: null, textBytesMax: 0 });
  });
  afterAll(() => forgetful.close());

  async function outcome(engine: SqlEngine, sql: string, input: SqlInput): Promise<SqlValue[][] | string> {
    return askRows(engine, sql, input).catch((error: Error) => error.message);
  }

  /** The answer, the same as that of an engine that keeps no text. */
  async function ask(sql: string, input: Partial<SqlInput> & Pick<SqlInput, "tables">): Promise<SqlValue[][] | string> {
    const whole = { params: {}, nowNs: 10n * HOUR_NS, ...input };
    const answer = await outcome(own.engine, sql, whole);
    expect(answer, sql).toEqual(await outcome(forgetful, sql, whole));
    return answer;
  }

  const table = (name: string, types: Record<string, ColumnType>, rows: Record<string, bigint | number | string>[]) =>
    new FakeTable(own.kernel, name, { time, ...types }, rows as never);

  test("are those of the tables as they are, through changed columns, other tables of the name, and none", async () => {
    const first = table("t", { n: integer }, [{ time: 1n, n: 7n }]);
    const more = table("t", { n: integer, s: string }, [{ time: 1n, n: 8n, s: "x" }]);
    const other = table("t", { n: string }, [{ time: 1n, n: "nine" }]);
    const tags = table("t", { n: tag, f: float }, [{ time: 1n, n: "host", f: 0.5 }]);
    const at = "1970-01-01T00:00:00.000000001";
    const expected: [FakeTable[], SqlValue[][] | string][] = [
      [[first], [[7n, 1n]]],
      [[more], [[8n, "x", 1n]]],
      [[other], [["nine", 1n]]],
      [[tags], [[0.5, "host", 1n]]],
      [[], "Error during planning: table 'public.iox.t' not found"],
    ];
    for (let round = 0; round < 3; round++) {
      for (const [tables, rows] of expected) {
        expect(await ask("SELECT * FROM t", { tables })).toEqual(rows);
        await ask("SELECT n FROM t WHERE n > 1 ORDER BY time", { tables });
        await ask(`SELECT s, n FROM t WHERE time >= '${at}'`, { tables });
        await ask("SELECT count(*), max(n) FROM t GROUP BY n", { tables });
      }
    }
    for (const each of [first, more, other, tags]) each.free();
  });

  test("are those of the clock of each run", async () => {
    const rows = [1n, 2n, 3n].map((hour) => ({ time: hour * HOUR_NS, n: hour }));
    const t = table("t", { n: integer }, rows);
    const sql = "SELECT n FROM t WHERE time >= now() - INTERVAL '1 hour' AND time < now() ORDER BY n";
    for (const hour of [2n, 3n, 4n, 2n]) expect(await ask(sql, { tables: [t], nowNs: hour * HOUR_NS })).toEqual([[hour - 1n]]);
    for (const day of [0n, 1n])
      await ask("SELECT current_date, current_time, today(), n FROM t", { tables: [t], nowNs: day * 24n * HOUR_NS });
    t.free();
  });

  test("are those of the parameters of each run, also without them", async () => {
    const t = table("t", { n: integer }, [
      { time: 1n, n: 1n },
      { time: 2n, n: 2n },
    ]);
    const sql = "SELECT n FROM t WHERE n = $n";
    const all: [QueryParams, SqlValue[][]][] = [
      [{ n: 1n }, [[1n]]],
      [{ n: 2n }, [[2n]]],
      [{ n: null }, []],
    ];
    for (const [params, rows] of [...all, ...all]) expect(await ask(sql, { tables: [t], params })).toEqual(rows);
    expect(await ask(sql, { tables: [t] })).toContain("$n");
    for (const params of [{ n: 1n }, {}, { n: 1n }]) expect(await ask("SELECT count(*) FROM t", { tables: [t], params })).toEqual([[2n]]);
    t.free();
  });

  test("are those of the rows' times and number, which a plan may depend on", async () => {
    const t = table("t", { n: integer }, [
      { time: 0n, n: 1n },
      { time: 3n * HOUR_NS, n: 2n },
    ]);
    const statements = [
      "SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS h, locf(max(n)) FROM t WHERE time < '1970-01-01T06:00:00Z' GROUP BY 1",
      "SELECT date_bin(INTERVAL '1 day', tz(time, 'Europe/Berlin')) AS d, sum(n) FROM t GROUP BY 1 ORDER BY 1",
      "SELECT last_value(n ORDER BY time), count(*) FROM t",
      "EXPLAIN SELECT n FROM t ORDER BY time LIMIT 1",
      "SHOW COLUMNS FROM t",
      "DESCRIBE SELECT n FROM t",
    ];
    const extents = [undefined, { minNs: 0n, maxNs: 3n * HOUR_NS }, { minNs: -HOUR_NS, maxNs: 9n * HOUR_NS }];
    for (const times of [...extents, ...extents]) {
      for (const rowCountMax of [2, 5_000_000]) {
        Object.assign(t, { times, rowCountMax });
        for (const sql of statements) await ask(sql, { tables: [t], databaseTables: [t] });
      }
    }
    t.free();
  });

  test("are those of the clock of a zone at the rows' times, in winter and in summer", async () => {
    const winter = table("t", { n: integer }, [{ time: 1_704_110_400_000_000_000n, n: 1n }]); // 2024-01-01T12:00:00Z
    const summer = table("t", { n: integer }, [{ time: 1_719_835_200_000_000_000n, n: 1n }]); // 2024-07-01T12:00:00Z
    // one table, before and after its rows were replaced
    Object.assign(summer, { columns: winter.columns });
    const sql = "SELECT to_local_time(tz(time, 'Europe/Berlin')) AS l FROM t";
    for (let round = 0; round < 2; round++) {
      for (const [each, hours] of [
        [winter, 1n],
        [summer, 2n],
      ] as const) {
        const ns = each.fakeRows[0]!["time"] as bigint;
        each.times = { minNs: ns, maxNs: ns };
        expect(await ask(sql, { tables: [each] })).toEqual([[ns + hours * HOUR_NS]]);
      }
    }
    for (const each of [winter, summer]) each.free();
  });

  test("do not mix when runs of one text overlap", async () => {
    const tables = Array.from({ length: 8 }, (_, i) => table("t", { n: integer }, [{ time: 1n, n: BigInt(i) }]));
    for (const sql of ["SELECT n FROM t", "SELECT n + 1 - 1 AS n FROM t", "SELECT max(n) AS n FROM t"]) {
      for (let round = 0; round < 2; round++) {
        const answers = await Promise.all(tables.flatMap((each) => [ask(sql, { tables: [each] }), ask(sql, { tables: [each] })]));
        expect(answers).toEqual(tables.flatMap((_, i) => [[[BigInt(i)]], [[BigInt(i)]]]));
      }
    }
    for (const each of tables) each.free();
  });

  test("come from the known plan, if nothing has changed that it depends on", async () => {
    const t = table("t", { n: integer }, [{ time: 1n, n: 1n }]);
    const sql = "SELECT n FROM t WHERE n > 0";
    await ask(sql, { tables: [t] });
    const plan = await own.engine.plan(sql);
    expect(await own.engine.plan(sql)).toBe(plan);
    const tables = { find: () => t, isPlain: false, isInternal: false, refused: new Set<number>(), takesConditions: true };
    const options = { params: {}, nowNs: 5n, names: plan.statement.names, tables, functionBytesMax: null };
    const known = plan.known.find(options);
    expect(known).not.toBeNull();
    Object.assign(t, { rowCountMax: 2, times: { minNs: 0n, maxNs: 9n } });
    expect(plan.known.find({ ...options, nowNs: 6n })).toBe(known);
    for (const other of [{ params: { p: 1n } }, { tables: { ...tables, isPlain: true } }, { tables: { ...tables, isInternal: true } }]) {
      expect(plan.known.find({ ...options, ...other })).toBeNull();
    }
    t.rowCountMax = 5_000_000;
    expect(plan.known.find(options)).toBeNull();
    t.rowCountMax = 2;
    expect(plan.known.find({ ...options, tables: { ...tables, refused: new Set([0]) } })).toBeNull();
    t.free();
  });
});
