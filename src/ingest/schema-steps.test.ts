// Bodies that bring many names: made in steps, stored in one, and equal to the same lines written one by one.
import { afterEach, expect, spyOn, test } from "bun:test";
import { type Below, pick, prng } from "../../test/support/prng.ts";
import type { TestRow } from "../../test/support/rows/rows.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { WritePath, type WritePathOptions } from "../../test/support/storage/write-path.ts";
import { LIMITS } from "../model/limits.ts";
import type { WriteResult } from "../model/write.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);
const BODIES = ROUNDS === 1 ? 2 : 3;
/** Tables and columns of one step, at most: 64 tables of some columns each. */
const STEP_OPERATIONS_MAX = 512;

const paths: WritePath[] = [];
afterEach(async () => {
  for (const path of paths.splice(0)) await path.close();
});

async function open(options: WritePathOptions = {}): Promise<WritePath> {
  const path = await WritePath.open(new FaultyDisk({}), options);
  paths.push(path);
  return path;
}

const lines = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i)).join("\n");
const tableCount = (path: WritePath) => path.catalog.tableCount;

/** Numbers of operations that each synchronous step has applied to the catalog while `run` ran. */
async function stepsOf(path: WritePath, run: () => Promise<unknown>): Promise<number[]> {
  const steps: number[] = [];
  const apply = spyOn(path.catalog, "apply");
  apply.mockImplementation((operations) => {
    steps.push(operations.length);
    return original(operations);
  });
  const original = Object.getPrototypeOf(path.catalog).apply.bind(path.catalog) as typeof path.catalog.apply;
  try {
    await run();
  } finally {
    apply.mockRestore();
  }
  return steps;
}

test("3,000 tables of one body are made in steps, and stored as a whole", async () => {
  const path = await open();
  await path.write("first v=1 1");
  const body = lines(3000, (i) => `t${i},h=a v=${i} ${i}`);
  let seenRows = 0;
  let partial = 0;
  const look = setInterval(() => {
    const rows = path.naiveRows("t0").length + path.naiveRows("t2999").length;
    if (rows === 1) partial++;
    seenRows = Math.max(seenRows, rows);
  }, 0);
  const steps = await stepsOf(path, () => path.write(body));
  clearInterval(look);
  expect(steps.length).toBeGreaterThan(3000 / 64 - 1);
  expect(Math.max(...steps)).toBeLessThanOrEqual(STEP_OPERATIONS_MAX);
  // a body is visible whole or not at all
  expect(partial).toBe(0);
  expect(tableCount(path)).toBe(3001);
  for (const i of [0, 63, 64, 1500, 2999]) {
    expect(path.naiveRows(`t${i}`)).toEqual([{ timeNs: BigInt(i), tags: { h: "a" }, fields: { v: i } }]);
  }
  // and the next body finds all of it
  expect(await stepsOf(path, () => path.write(body.replaceAll(/ \d+$/gm, " 9")))).toEqual([]);
});

test("columns of tables that are known are made in steps too", async () => {
  const path = await open();
  const tables = 40;
  const body = lines(tables, (i) => `t${i} v=1 1`);
  await path.write(body);
  const wide = lines(tables, (i) => `t${i} ${Array.from({ length: 200 }, (_, k) => `f${k}=1`).join(",")} 2`);
  const steps = await stepsOf(path, () => path.write(wide));
  expect(steps.length).toBeGreaterThan(10);
  expect(path.schema("t39")).toHaveLength(202);
  expect(path.naiveRows("t7")).toHaveLength(2);
});

test("with acceptPartial=false a bad line anywhere leaves nothing behind", async () => {
  for (const bad of ["bad", "t5 v=1i 1"]) {
    const path = await open();
    const body = `${lines(1000, (i) => `t${i} v=1 1`)}\n${bad}`;
    const result = await path.write(body, { acceptPartial: false });
    expect([result.rowCount, result.rejectedCount, tableCount(path)]).toEqual([0, 1001, 0]);
    expect(result.lineErrors.map(({ lineNumber }) => lineNumber)).toEqual([1001]);
    const good = await path.write(
      lines(1000, (i) => `t${i} v=1 1`),
      { acceptPartial: false },
    );
    expect([good.rowCount, good.rejectedCount, tableCount(path)]).toEqual([1000, 0, 1000]);
  }
});

test("a body makes as many tables as it may; lines of further ones are rejected, those of known ones stored", async () => {
  const path = await open({ limits: { newTablesPerBodyMax: 500 } });
  await path.write("known v=1 1");
  const body = `${lines(900, (i) => `t${i} v=1 1`)}\nknown v=2 2\nt3 v=3 3\nt700 v=1 4`;
  const result = await path.write(body);
  expect([result.rowCount, result.rejectedCount, tableCount(path)]).toEqual([502, 401, 501]);
  expect(result.schemaLimit).toBe(true);
  expect(result.lineErrors[0]).toEqual({
    errorMessage:
      "Update to schema would exceed number of new tables limit: one write can create at most 500 tables; send the others with another write",
    lineNumber: 501,
    originalLine: "t500 v=1 1",
  });
  expect(path.schema("t499")).toEqual(["time:0", "v:2"]);
  expect(path.schema("t500")).toBeUndefined();
  // the next body makes the rest
  expect((await path.write(body)).rejectedCount).toBe(0);
  expect(tableCount(path)).toBe(901);
});

test("the limit counts the same in a body that is too small for steps", async () => {
  const path = await open({ limits: { newTablesPerBodyMax: 3 } });
  const result = await path.write(lines(5, (i) => `t${i} v=1 1`));
  expect([result.rowCount, result.rejectedCount, result.schemaLimit]).toEqual([3, 2, true]);
});

test("definitions that do not fit their memory are refused as overload, and nothing of that step is made", async () => {
  const schemaBytesMax = 1000 * (LIMITS.tableDefinitionBytes + LIMITS.columnDefinitionBytes);
  const path = await open({ limits: { schemaBytesMax } });
  const refused = await path.write(lines(2000, (i) => `t${i} v=1 1`)).catch((error: Error) => error);
  expect(refused).toMatchObject({ kind: "overloaded", message: expect.stringContaining("--schema-mem-limit") });
  const made = tableCount(path);
  expect(made).toBeGreaterThan(900);
  expect(made).toBeLessThanOrEqual(1000);
  expect(path.naiveRows("t0")).toEqual([]);
  // what exists takes rows as ever
  expect((await path.write("t0 v=1 1")).rowCount).toBe(1);
});

test("a body has rows of at most 10,000 tables", async () => {
  const path = await open({ limits: { newTablesPerBodyMax: LIMITS.bodyTablesMax } });
  const { bodyTablesMax } = LIMITS;
  const result = await path.write(lines(bodyTablesMax + 100, (i) => `t${i} v=1 1`));
  expect([result.rowCount, result.rejectedCount, tableCount(path)]).toEqual([bodyTablesMax, 100, bodyTablesMax]);
  expect(result.lineErrors[0]!.errorMessage).toContain(`rows of at most ${bodyTablesMax}`);
  expect(result.schemaLimit).toBe(true);
  // the same where all of them are known
  await path.write(lines(100, (i) => `t${bodyTablesMax + i} v=1 1`));
  expect((await path.write(lines(bodyTablesMax + 100, (i) => `t${i} v=1 2`))).rejectedCount).toBe(100);
});

test("between two steps: other bodies, dropped tables, a parser that is reset", async () => {
  const path = await open();
  const body = lines(2000, (i) => `t${i},h=a v=${i} 1`);
  const done = path.write(body);
  await new Promise((resolve) => setImmediate(resolve));
  // makes a column of another type before the body gets there
  const other = path.write("t1999,h=b v=7i 1\nnew v=1 1");
  await new Promise((resolve) => setImmediate(resolve));
  const first = path.catalog.findTable(path.catalog.findDatabase("db")!.id, "t0")!;
  path.catalog.apply([{ kind: "soft_delete", of: "table", id: first.id, name: "t0-deleted", deletedMs: 1, hardDeleteMs: null }]);
  path.tables.renamed(first.id);
  const result = await done;
  expect((await other).rowCount).toBe(2);
  expect([result.rowCount, result.rejectedCount]).toEqual([1999, 1]);
  expect(result.lineErrors[0]!.originalLine).toBe("t1999,h=a v=1999 1");
  expect(path.naiveRows("t0")).toHaveLength(1);
  expect(path.naiveRows("t0-deleted")).toEqual([]);
  expect(path.naiveRows("t1999")).toEqual([{ timeNs: 1n, tags: { h: "b" }, fields: { v: 7n } }]);
});

/** A line of some table; now and then a bad line, or a column of another type. */
function randomLine(below: Below, tables: number, timeNs: number): string {
  if (below(40) === 0) return pick(below, ["bad", "t v=", "t,h v=1 1"]);
  const name = `t${below(tables)}`;
  const tag = below(3) === 0 ? "" : `,h${below(2)}=${pick(below, ["a", "b", "c"])}`;
  const fields = Array.from({ length: 1 + below(3) }, () => `f${below(4)}`);
  const values = [...new Set(fields)].map((field) => `${field}=${below(30) === 0 ? "true" : pick(below, ["1", "2i"])}`);
  return `${name}${tag} ${values.join(",")} ${timeNs}`;
}

const comparable = (rows: readonly TestRow[]) => rows.map((row) => Bun.inspect(row, { sorted: true })).sort();

test.each(Array.from({ length: ROUNDS }, (_, i) => SEED + i))(
  "a body is what its lines are one by one, seed %i",
  async (seed) => {
    const below = prng(seed);
    const [whole, single] = [await open({ limits: { newTablesPerBodyMax: 700 } }), await open()];
    for (let body = 0; body < BODIES; body++) {
      const tables = 100 + below(900);
      const text = Array.from({ length: 1500 }, (_, i) => randomLine(below, tables, body * 10_000 + i));
      const isKnown = new Map<string, boolean>();
      const rejected: number[] = [];
      let made = 0;
      for (const [i, line] of text.entries()) {
        const name = line.split(/[, ]/)[0]!;
        if (!isKnown.has(name)) isKnown.set(name, single.schema(name) !== undefined);
        const isNew = single.schema(name) === undefined;
        const mayBeMade = !isNew || made < 700;
        const result: Pick<WriteResult, "rejectedCount"> = mayBeMade ? await single.write(line) : { rejectedCount: 1 };
        if (result.rejectedCount > 0) rejected.push(i + 1);
        else if (isNew) made++;
      }
      const result = await whole.write(text.join("\n"));
      expect(result.rejectedCount).toBe(rejected.length);
      expect(result.lineErrors.map(({ lineNumber }) => lineNumber)).toEqual(rejected.slice(0, LIMITS.lineErrorsReported));
    }
    for (let i = 0; i < 1000; i++) {
      const schemas = [whole, single].map((path) => path.schema(`t${i}`)?.toSorted());
      expect(schemas[0]).toEqual(schemas[1]!);
      expect(comparable(whole.naiveRows(`t${i}`))).toEqual(comparable(single.naiveRows(`t${i}`)));
    }
  },
  120_000,
);
