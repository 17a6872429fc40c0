// Rows before a body's earliest time: what is stored, and what the catalog learns, is what the other lines alone would give.
import { afterEach, expect, test } from "bun:test";
import { type Below, pick, prng } from "../support/prng.ts";
import { FaultyDisk } from "../support/storage/faulty-disk.ts";
import { WritePath } from "../support/storage/write-path.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 30);
const TABLES = ["m", "n", "o", "p"];
/** With its high half above 0, and equal to it in times around. */
const MIN_NS = 1_700_000_000_000_000_000n;

const paths: WritePath[] = [];
afterEach(async () => {
  for (const path of paths.splice(0)) await path.close();
});

async function open(): Promise<WritePath> {
  const path = await WritePath.open(new FaultyDisk(), {});
  paths.push(path);
  return path;
}

interface Line {
  readonly text: string;
  readonly timeNs: bigint;
}

/** Few names, some with several types, so that lines contradict each other; times on both sides of the bound and at it. */
function lineOf(below: Below, names: number): Line {
  const tags = [`host=h${below(4)}`, `dc=d${below(3)}`].filter(() => below(3) > 0);
  const values = ["1", "2.5", "3i", "t", '"x"'];
  const field = () => `f${below(names)}=${below(4) > 0 ? "1.5" : pick(below, values)}`;
  const fields = [...new Set(Array.from({ length: 1 + below(3) }, field).map((each) => each.split("=")[0]!))].map(
    (name) => `${name}=${below(5) > 0 ? "1.5" : pick(below, values)}`,
  );
  const away = pick(below, [0n, 1n, -1n, 5n, -5n, 1n << 33n, -(1n << 33n), 1n << 55n, -(1n << 60n), -MIN_NS]);
  const timeNs = MIN_NS + away + BigInt(below(3)) - 1n;
  return { text: `${[pick(below, TABLES), ...tags].join(",")} ${fields.join(",")} ${timeNs}`, timeNs };
}

/** Names and types; their order may be that of names in old rows. */
function schema(path: WritePath): string[] {
  const database = path.catalog.findDatabase("db");
  const tables = database === undefined ? [] : path.catalog.tables(database.id);
  return tables.flatMap((table) => table.columns.map(({ name, type }) => `${table.name}.${name} ${type}`)).sort();
}

const entriesOf = (members: object) =>
  Object.entries(members)
    .map((entry) => entry.map(String).join("="))
    .sort();
/** Rows as texts. */
const shownRows = (path: WritePath) =>
  TABLES.map((table) => {
    const rows = path.naiveRows(table);
    return rows.map(({ timeNs, tags, fields }) => [timeNs, ...entriesOf(tags), "-", ...entriesOf(fields)].join(" ")).sort();
  });

test.each(Array.from({ length: ROUNDS }, (_, i) => SEED + i))("bodies of random lines, seed %d", async (seed) => {
  const below = prng(seed);
  const [path, other] = [await open(), await open()];
  // names for more than one step of the schema
  const names = below(5) === 0 ? 700 : 3;
  for (let bodies = 1 + below(4); bodies > 0; bodies--) {
    const lines = Array.from({ length: 1 + below(names === 3 ? 30 : 900) }, () => lineOf(below, names));
    const kept = lines.filter(({ timeNs }) => timeNs >= MIN_NS);
    const dropped = lines.filter(({ timeNs }) => timeNs < MIN_NS).toSorted((a, b) => (a.timeNs < b.timeNs ? -1 : 1));
    const result = await path.write(lines.map(({ text }) => text).join("\n"), { minTimeNs: MIN_NS, acceptPartial: "conflicts" });
    const alone = await other.write(kept.map(({ text }) => text).join("\n"), { acceptPartial: "conflicts" });
    expect(result.rowCount).toBe(alone.rowCount);
    expect(result.rejectedCount).toBe(alone.rejectedCount + dropped.length);
    expect(result.lineErrors.map(({ originalLine }) => originalLine)).toEqual(alone.lineErrors.map(({ originalLine }) => originalLine));
    expect([result.old?.count, result.old?.oldest.timeNs, result.old?.newest.timeNs]).toEqual(
      dropped.length === 0 ? [undefined, undefined, undefined] : [dropped.length, dropped[0]!.timeNs, dropped.at(-1)!.timeNs],
    );
    if (result.old !== undefined) expect(result.old.oldest.line.endsWith(` ${result.old.oldest.timeNs}`)).toBe(true);
  }
  expect(schema(path)).toEqual(schema(other));
  expect(shownRows(path)).toEqual(shownRows(other));
});

test("a body of old rows alone makes nothing", async () => {
  const path = await open();
  const result = await path.write("m,host=a v=1 1\nm v=2 2", { minTimeNs: MIN_NS });
  expect([result.rowCount, result.rejectedCount, result.old?.count]).toEqual([0, 2, 2]);
  expect(schema(path)).toEqual([]);
  // its series are known to the parser, and found when rows need them
  await path.write(`m,host=a v=1 ${MIN_NS}`, { minTimeNs: MIN_NS });
  expect(path.naiveRows("m").map(({ tags }) => tags)).toEqual([{ host: "a" }]);
});

test("a line that cannot be parsed goes before old ones", async () => {
  const path = await open();
  const result = await path.write("m v=1 1\nbad", { minTimeNs: MIN_NS, acceptPartial: "conflicts" });
  expect([result.rowCount, result.rejectedCount, result.lineErrors.map(({ originalLine }) => originalLine)]).toEqual([0, 2, ["bad"]]);
});

test("times without a timestamp are now", async () => {
  const path = await open();
  const result = await path.write("m v=1", { minTimeNs: MIN_NS });
  expect([result.rowCount, result.old]).toEqual([1, undefined]);
});
