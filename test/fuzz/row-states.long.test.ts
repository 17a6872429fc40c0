// Random tables of ordinary kinds in every state that rows can be in; random statements of both languages over them. Each state answers
// as DuckDB does over the plain list of points; conditions on tags as the same ones in a form that no storage understands; and the scan
// as itself with one optimisation left out. `ROUNDS=… SEED=… bun test test/fuzz/row-states.long.test.ts` runs longer or again.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { type RandomTable, randomTable } from "../support/rows/random-tables.ts";
import { ROW_STATES } from "../support/rows/row-states.ts";
import { SCAN_VIEWS } from "../support/rows/scan-views.ts";
import { outcomeOf, type SqlAsk, StoredRows } from "../support/rows/stored-rows.ts";
import { randomTwins } from "../support/sql/random-sql.ts";
import { askSql } from "../support/sql/sql-rows.ts";
import { comparable, TWIN_COLUMNS, type TwinAnswer } from "../support/sql/sql-twins.ts";
import { randomTsdbql, type Shape } from "../tsdbql/random-statements.ts";

const SEED = Number(process.env["SEED"] ?? 1);
/** Tables. */
const ROUNDS = Math.ceil(Number(process.env["ROUNDS"] ?? 16) / (process.env["ROUNDS"] === undefined ? 1 : 20));
const STATEMENTS = 12;
const TIMEOUT_MS = 60_000 + ROUNDS * 10_000;
const NOW_NS = 1_700_000_000_000_000_000n;

let engine: SqlEngine;
beforeAll(async () => {
  engine = await SqlEngine.open(Kernel.create(), {
    memoryBytes: 256 << 20,
    threads: 2,
    tempDir: null,
    parallelRowsMin: 0,
    listedRowsMin: 0,
  });
});
afterAll(() => engine.close());

/** The list of points, as a table without a storage. */
function plainTable({ model }: RandomTable, columns: StoredRows["columns"]): FakeTable {
  const types = Object.fromEntries(columns("cpu").map(({ name, type }) => [name, type]));
  const rows = model.rows("cpu", NOW_NS).map(({ timeNs, tags, fields }) => ({ time: timeNs, ...tags, ...fields }));
  return new FakeTable(engine.kernel, "cpu", types, rows);
}

async function openStates(below: Below, { steps }: RandomTable): Promise<StoredRows[]> {
  const stored: StoredRows[] = [];
  for (const state of ROW_STATES) {
    const one = await StoredRows.open(engine.kernel, state, steps);
    stored.push(one);
    const columns = one.columns("cpu").flatMap(({ name, type }) => (type === ColumnType.tag || type === ColumnType.string ? [name] : []));
    if (columns.length > 0 && below(2) === 0) await one.index(null, [pick(below, columns)]);
  }
  return stored;
}

/** `ask` for each table, with its rows in every state. */
async function overTables(seed: number, ask: (below: Below, table: RandomTable, stored: readonly StoredRows[]) => Promise<void>) {
  const below = prng(seed);
  for (let round = 0; round < ROUNDS; round++) {
    const table = randomTable(below);
    const stored = await openStates(below, table);
    try {
      await ask(below, table, stored);
    } catch (error) {
      const steps = table.steps.map((step) => ("lines" in step ? step.lines : step.delete));
      throw new Error(`seed ${seed}, table ${round}: ${(error as Error).message}`, { cause: [steps, error] });
    } finally {
      for (const one of stored) await one.close();
    }
  }
}

/** One whose columns the table has, if it is found soon. */
function statementOver(below: Below, { areTimesUnique }: RandomTable, { columns }: FakeTable): ReturnType<typeof randomTwins> {
  const missing = Object.keys(TWIN_COLUMNS).filter((name) => !columns.some((column) => column.name === name));
  const isMissing = new RegExp(missing.length === 0 ? "^$" : missing.map((name) => `\\b${name}\\b`).join("|"));
  let twins = randomTwins(below, areTimesUnique);
  for (let tries = 0; tries < 50 && isMissing.test(twins.statement); tries++) twins = randomTwins(below, areTimesUnique);
  return twins;
}

let answers = 0;

test(
  `SQL over ${ROUNDS} tables in ${ROW_STATES.length} states, seed ${SEED}`,
  () =>
    overTables(SEED, async (below, table, stored) => {
      const plain = plainTable(table, (name) => stored[0]!.columns(name));
      for (let i = 0; i < STATEMENTS; i++) {
        const { statement, opaque } = statementOver(below, table, plain);
        const { params, nowNs } = { params: {}, nowNs: NOW_NS };
        const expected = await comparable(statement, askSql(engine, statement, { tables: [plain], params, nowNs, isPlain: true }));
        const ask = (one: StoredRows, text: string, options: SqlAsk = {}): Promise<TwinAnswer> =>
          comparable(text, one.sql(engine, text, { nowNs, ...options }));
        answers += Number(expected.fields !== "error");
        for (const [s, one] of stored.entries())
          expect([ROW_STATES[s], await ask(one, statement)], statement).toEqual([ROW_STATES[s], expected]);
        const other = below(stored.length);
        const [leftOut, view] = pick(below, SCAN_VIEWS);
        const told = `${ROW_STATES[other]}: ${statement}`;
        if (expected.fields === "error") continue;
        expect((await ask(stored[other]!, opaque)).rows, `${told}, opaque`).toEqual(expected.rows);
        expect((await ask(stored[other]!, statement, { view })).rows, `${told}, without ${leftOut}`).toEqual(expected.rows);
        expect((await ask(stored[other]!, statement, { isPlain: true })).rows, `${told}, plain`).toEqual(expected.rows);
      }
      plain.free();
    }).then(() => expect(answers).toBeGreaterThan((ROUNDS * STATEMENTS) / 2)),
  TIMEOUT_MS,
);

/** Of a random table, as far as it has them. */
function shapeOf(stored: StoredRows): Shape | null {
  const columns = stored.columns("cpu");
  const named = (...types: ColumnType[]) => columns.filter(({ type }) => types.includes(type)).map(({ name }) => name);
  const { tag, float, integer, unsigned, string, boolean } = ColumnType;
  const shape = {
    ...{ measurement: "cpu", tags: named(tag), tagValues: ["a", "b", "eu", "us", ""] },
    ...{ numbers: named(float, integer, unsigned), others: named(string, boolean) },
  };
  return shape.tags.length === 0 || shape.numbers.length === 0 || shape.others.length === 0 ? null : shape;
}

/** Equality of a tag as a pattern, which is judged value by value. */
const withPatterns = (statement: string) =>
  statement.replace(/(\w+) (!?)= '([^']*)'/g, (whole, name, not, value) =>
    name === "time" ? whole : `${name} ${not || "="}~ /^${value}$/`,
  );

test(
  `the v1 language over ${ROUNDS} tables in ${ROW_STATES.length} states, seed ${SEED}`,
  () =>
    overTables(SEED, async (below, _, stored) => {
      const shape = shapeOf(stored[0]!);
      if (shape === null) return;
      for (let i = 0; i < STATEMENTS; i++) {
        const statement = randomTsdbql(below, shape, "1970-01-01");
        const ask = async (one: StoredRows, text: string) => JSON.stringify(await outcomeOf(one.tsdbql(text)), texts);
        const expected = await ask(stored[0]!, statement);
        for (const [s, one] of stored.entries())
          expect([ROW_STATES[s], await ask(one, statement)], statement).toEqual([ROW_STATES[s], expected]);
        const other = below(stored.length);
        expect(await ask(stored[other]!, withPatterns(statement)), `${ROW_STATES[other]}: ${withPatterns(statement)}`).toBe(expected);
      }
    }),
  TIMEOUT_MS,
);

const texts = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0" : value);
