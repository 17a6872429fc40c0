// Every stage from a statement's text to the text for DuckDB takes steps with the statement's length: for each production of the grammar
// that the bench grows, four times as many steps for four times the size, with something for logarithms. Steps are counted, not timed.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { GROWING_SQL } from "../../bench/data/growth-sql.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import { StatementScans } from "../../src/sql/execute/statement-scans.ts";
import { checkQuery } from "../../src/sql/parse/check.ts";
import { liftLiterals } from "../../src/sql/parse/literals.ts";
import { parseStatement } from "../../src/sql/parse/statement.ts";
import { Template } from "../../src/sql/parse/template.ts";
import { PhysicalPlan } from "../../src/sql/plan/physical-plan.ts";
import { makePlan, queryOf } from "../../src/sql/plan/plan.ts";
import { nameTables } from "../../src/sql/tables/cache-tables.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { countSteps } from "../support/sql/step-count.ts";

let engine: SqlEngine;
let table: FakeTable;

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 1 << 30, threads: 2, tempDir: null });
  const { time, tag, integer, float } = ColumnType;
  table = new FakeTable(kernel, "rows", { time, host: tag, i: integer, f: float }, [{ time: 1n, host: "h0", i: 1n, f: 1 }]);
});
afterAll(() => engine.close());

/** Steps by stage, those of a refused statement up to where it is refused. */
async function stepsOf(sql: string): Promise<Record<string, number>> {
  let lifted!: NonNullable<ReturnType<typeof liftLiterals>>;
  let statement!: ReturnType<typeof parseStatement>;
  let text = "";
  const tokens = countSteps(() => {
    statement = parseStatement(sql);
    lifted = liftLiterals(statement.text, true)!;
    text = lifted.text.sql;
  });
  if (text === "") return { tokens };
  const json = await engine.serialize(text);
  let plan: ReturnType<typeof makePlan> | undefined;
  const tree = countSteps(() => {
    const node = queryOf(json, lifted.text);
    nameTables(node, lifted.text);
    const reads = checkQuery(node);
    const template = Template.from(node, lifted.text, lifted.literals);
    plan = makePlan(statement, lifted, { reads, template, jsonChars: json.length });
  });
  if (plan === undefined) return { tokens, tree };
  const scans = new StatementScans(engine, { tables: [table], databaseTables: [table], params: {} });
  const rewrite = countSteps(() => {
    const options = { params: {}, nowNs: 1n, names: plan!.statement.names, tables: scans, functionBytesMax: engine.functionBytesMax };
    const made = PhysicalPlan.of(plan!, options);
    made.print(made.scans.map((_, i) => `scan(${i})`));
  });
  return { tokens, tree, rewrite };
}

/** Steps that are the same for every statement tell nothing. */
const TELLING = 500;
const GROWTH_MAX = 4 * 1.35;
/** What is small at the first size grows from there. */
const LEAST = 24;

test.each(GROWING_SQL.productions.map((production) => [production.name, production] as const))("%s", async (_, { n, text }) => {
  const size = Math.max(1, Math.min(n.real, n.real < LEAST ? n.real : 200));
  const [small, large] = [await stepsOf(text(size)), await stepsOf(text(size * 4))];
  for (const stage in large) {
    if (large[stage]! < TELLING || small[stage] === undefined) continue;
    expect({ stage, steps: large[stage]!, isLinear: large[stage]! <= GROWTH_MAX * small[stage]! + TELLING }).toMatchObject({
      isLinear: true,
    });
  }
});

// the instrument itself
test("countSteps sees a copy per element as quadratic", () => {
  const copies = (n: number) =>
    countSteps(() => {
      let names = new Set<number>();
      for (let i = 0; i < n; i++) names = new Set([...names, i]);
    });
  expect(copies(400) / copies(100)).toBeGreaterThan(12);
});
