// Tables of statements with the rows, or the error, that the dialect's documentation specifies. `home` is the data set of the vendor's
// public examples: two rooms, one row per hour, 2022-01-01 08:00 to 20:00 UTC.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { describeError } from "../../../src/model/errors.ts";
import type { QueryParams } from "../../../src/model/query/query.ts";
import type { ScanTable } from "../../../src/model/query/scan-table.ts";
import { ColumnType } from "../../../src/model/rows/column.ts";
import { SqlEngine } from "../../../src/sql/execute/engine.ts";
import { prng } from "../prng.ts";
import { FakeTable } from "../rows/fake-table.ts";
import { ROW_STATES, type RowState } from "../rows/row-states.ts";
import { inOrderOf, linesOf } from "../rows/storable-table.ts";
import { outcomeOf, StoredRows } from "../rows/stored-rows.ts";
import { askRows, type SqlValue } from "./sql-rows.ts";
import { rowTexts } from "./sql-twins.ts";
import { otherLiterals, otherTable, TemplatePlans } from "./template-plans.ts";

/** Rows in the answer's order; an Error holds text that the error's message must contain. */
export type SqlCase = readonly [sql: string, expected: readonly (readonly SqlValue[])[] | Error, params?: QueryParams];

/** now() of every statement of a suite. */
export const SUITE_NOW_NS = 1_718_454_896_123_456_789n; // 2024-06-15T12:34:56.123456789Z

/** Nanoseconds of a UTC time such as "2022-01-01T08:00:00", plus nanoseconds within its second. */
export function utc(text: string, ns = 0n): bigint {
  return BigInt(Date.parse(`${text}Z`)) * 1_000_000n + ns;
}

/** temp, hum, co by hour. */
const HOME: Readonly<Record<string, readonly (readonly [number, number, bigint])[]>> = {
  Kitchen: [
    [21.0, 35.9, 0n],
    [23.0, 36.2, 0n],
    [22.7, 36.1, 0n],
    [22.4, 36.0, 0n],
    [22.5, 36.0, 0n],
    [22.8, 36.5, 1n],
    [22.8, 36.3, 1n],
    [22.7, 36.2, 3n],
    [22.4, 36.0, 7n],
    [22.7, 36.0, 9n],
    [23.3, 36.9, 18n],
    [23.1, 36.6, 22n],
    [22.7, 36.5, 26n],
  ],
  "Living Room": [
    [21.1, 35.9, 0n],
    [21.4, 35.9, 0n],
    [21.8, 36.0, 0n],
    [22.2, 36.0, 0n],
    [22.2, 35.9, 0n],
    [22.4, 36.0, 0n],
    [22.3, 36.1, 0n],
    [22.3, 36.1, 1n],
    [22.4, 36.0, 4n],
    [22.6, 35.9, 5n],
    [22.8, 36.2, 9n],
    [22.5, 36.3, 14n],
    [22.2, 36.4, 17n],
  ],
};

/** The vendor's sample table `home`. */
export function homeTable(kernel: Kernel): FakeTable {
  const { time, tag, float, integer } = ColumnType;
  const rows = Object.entries(HOME).flatMap(([room, hours]) =>
    hours.map(([temp, hum, co], hour) => ({ time: utc("2022-01-01T08:00:00") + BigInt(hour) * 3_600_000_000_000n, room, temp, hum, co })),
  );
  return new FakeTable(kernel, "home", { time, room: tag, temp: float, hum: float, co: integer }, rows);
}

const SEED = Number(process.env["SEED"] ?? 11);
/** The first plans a case, the others find its plan. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 2);

/** One with rows both in memory and in files; ALL_STATES=1: all, as used by states.long.test.ts. */
const STATES: readonly RowState[] = process.env["ALL_STATES"] === "1" ? ROW_STATES : ["half flushed and written again"];

/** One test per case, a test that runs those that read rows in these states, and two that plan all of them again.
 *  `tables`: tables besides `home`. */
export function sqlSuite(title: string, cases: readonly SqlCase[], tables: (kernel: Kernel) => readonly FakeTable[] = () => []): void {
  describe(title, () => {
    let engine: SqlEngine;
    let found: readonly FakeTable[];
    beforeAll(async () => {
      const kernel = Kernel.create();
      engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
      found = [homeTable(kernel), ...tables(kernel)];
    });
    afterAll(() => engine.close());

    test.each(cases.map(([sql, expected, params]) => ({ sql, expected, params })))("$sql", async ({ sql, expected, params = {} }) => {
      if (expected instanceof Error) expect(await errorOf(engine, found, sql, params)).toContain(expected.message);
      else expect(await rowsOf(engine, found, sql, params)).toEqual(expected.map((row) => [...row]));
    });

    test("in the states of the rows", async () => {
      const plain = found.filter((table) => linesOf(table) !== null);
      const reads = cases.filter(([sql]) => plain.some(({ name }) => sql.toLowerCase().includes(name.toLowerCase())));
      if (reads.length === 0) return;
      const steps = plain.map((table) => ({ database: "db", lines: linesOf(table)! }));
      for (const state of STATES) {
        const stored = await StoredRows.open(engine.kernel, state, steps);
        const others = found.filter((table) => !plain.includes(table));
        try {
          for (const [sql, expected, params = {}] of reads) {
            const view = (scan: ScanTable) => inOrderOf(plain.find(({ name }) => name === scan.name)!, scan);
            const asked = stored.sql(engine, sql, { params, nowNs: SUITE_NOW_NS, view, others });
            const told = `${state}: ${sql}`;
            if (expected instanceof Error) expect(unnamed(String(await outcomeOf(asked))), told).toContain(unnamed(expected.message));
            else expect(rowTexts(sql, (await asked).rows), told).toEqual(rowTexts(sql, expected));
          }
        } finally {
          await stored.close();
        }
      }
    });

    test(`plans of templates with other literals are those of whole statements, seed ${SEED}`, async () => {
      const below = prng(SEED);
      const plans = new TemplatePlans(engine);
      for (const [sql, , params = {}] of cases) {
        for (let round = 0; round < ROUNDS; round++) {
          const tables = found.map((table) => otherTable(table, below));
          const nowNs = SUITE_NOW_NS + BigInt(below(3)) * 86_400_000_000_001n;
          await plans.check({ sql: round === 0 ? sql : otherLiterals(sql, below), params, nowNs, tables });
        }
      }
    });

    test(`a known text over other tables and at other times is planned as a new one, seed ${SEED}`, async () => {
      const below = prng(SEED);
      const plans = new TemplatePlans(engine);
      for (const [sql, , params = {}] of cases) {
        for (let round = 0; round < ROUNDS; round++) {
          const tables = found.map((table) => otherTable(table, below));
          await plans.check({ sql, params: below(4) === 0 ? {} : params, nowNs: SUITE_NOW_NS + BigInt(below(3)), tables });
        }
      }
    });
  });
}

/** The value that an error names depends on the row order. */
const unnamed = (message: string) => message.replace(/'[^']*'/g, "'…'");

async function rowsOf(engine: SqlEngine, tables: readonly FakeTable[], sql: string, params: QueryParams): Promise<SqlValue[][]> {
  return askRows(engine, sql, { tables, params, nowNs: SUITE_NOW_NS });
}

async function errorOf(engine: SqlEngine, tables: readonly FakeTable[], sql: string, params: QueryParams): Promise<string> {
  try {
    return `no error, but ${(await rowsOf(engine, tables, sql, params)).length} rows`;
  } catch (error) {
    return describeError(error).message;
  }
}
