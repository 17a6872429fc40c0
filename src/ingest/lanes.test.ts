// Bodies through ingest workers: who gets a turn, what happens to bodies whose worker fails, and that nothing of a worker's memory stays.
import { describe, expect, test } from "bun:test";
import { FaultyDisk } from "../../test/support/faulty-disk.ts";
import { LocalLanes, type LocalLanesOptions } from "../../test/support/local-lanes.ts";
import { prng } from "../../test/support/prng.ts";
import { WritePath } from "../../test/support/write-path.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { replay } from "../wal/replay.ts";

async function open(options: LocalLanesOptions): Promise<{ path: WritePath; lanes: LocalLanes }> {
  const lanes = new LocalLanes(options);
  return { path: await WritePath.open(new FaultyDisk(), { lanes }), lanes };
}

/** Values of `v` by time. */
async function values(path: WritePath, table = "t", database = "db"): Promise<string[]> {
  return (await path.rows(table, { database })).map(({ timeNs, fields }) => `${timeNs}=${fields["v"]}`).sort();
}

describe("turns", () => {
  test("small bodies stay, large ones go", async () => {
    const { path } = await open({ count: 1, bodyBytesMin: 12 });
    await path.write("t v=1i 1"); // 8 bytes
    expect(path.ingest.laneBodies).toBe(0);
    await path.write("t v=2i 2\n\n\n\n"); // 12
    expect(path.ingest.laneBodies).toBe(1);
    expect(await values(path)).toEqual(["1=1", "2=2"]);
    await path.close();
  });

  test("bodies at once, of several databases, are all there, and whoever waits for the answer is stored later", async () => {
    const below = prng(3);
    const { path } = await open({ count: 3, turns: () => below(5) });
    const clients = Array.from({ length: 12 }, async (_, client) => {
      for (let i = 0; i < 20; i++) {
        // the same point again and again: the last one wins if they keep their order
        const lines = [`t,c=${client} v=${i}i 1`, `t,c=${client} v=${i}i ${1000 + i}`];
        expect(await path.write(lines.join("\n"), { database: `d${client % 3}` })).toMatchObject({ rowCount: 2, rejectedCount: 0 });
      }
    });
    await Promise.all(clients);
    for (let database = 0; database < 3; database++) {
      const rows = await path.rows("t", { database: `d${database}` });
      expect(rows.length).toBe(4 * 21);
      expect(rows.filter(({ timeNs }) => timeNs === 1n).map(({ fields }) => fields["v"])).toEqual([19n, 19n, 19n, 19n]);
    }
    expect(path.ingest.laneBodies).toBe(240);
    await path.close();
  });

  test("a database whose parser is large gets no second one, others go first", async () => {
    const { path } = await open({ count: 2 });
    // room for text without its escapes, as much as the body
    const heavy = `h v=1i,s="\\"" 1\n#${"x".repeat(LIMITS.parserBytesMax * 0.6)}`;
    await path.write(heavy, { database: "heavy" });
    const before = path.kernel.extents.usedBytes;
    const order: string[] = [];
    const write = (database: string, i: number) => path.write(`h v=1i ${i}`, { database }).then(() => order.push(database));
    await Promise.all([write("heavy", 2), write("heavy", 3), write("light", 1)]);
    expect(order).toEqual(["heavy", "light", "heavy"]);
    expect(path.kernel.extents.usedBytes - before).toBeLessThan(LIMITS.parserBytesMax * 0.1);
    await path.close();
  });
});

describe("a worker that fails", () => {
  test("its bodies are answered with an error, and it starts anew with its memory given back", async () => {
    let failing = false;
    const { path, lanes } = await open({ count: 1, fails: (_, when) => failing && when === "after" });
    const used = path.kernel.extents.usedBytes;
    await path.write("t v=1i 1");
    failing = true;
    const both = await Promise.allSettled([path.write("t v=2i 2"), path.write("t v=3i 3")]);
    for (const one of both) expect(String((one as PromiseRejectedResult).reason)).toContain("an ingest worker failed");
    failing = false;
    expect(lanes.failures).toMatchObject([{ isLost: false }]);
    await until(() => lanes.startCount === 2);
    await path.write("t v=4i 4");
    expect(await values(path)).toEqual(["1=1", "4=4"]);
    await path.close();
    expect(lanes.runningCount).toBe(0);
    // rows and dictionaries are small; a parser, its encoded columns or the table of powers would be seen
    expect(path.kernel.extents.usedBytes - used).toBeLessThan(1 << 20);
  });

  test("a trap in the kernel is such a failure, a full memory is not", async () => {
    let trouble: "full" | "trap" | undefined;
    const { path, lanes } = await open({ count: 1, isFull: () => trouble === "full", traps: () => trouble === "trap" });
    const rows = (host: string, from: number, count = 1) =>
      Array.from({ length: count }, (_, i) => `t,h=${host} v=${from + i}i ${from + i}`).join("\n");
    const expectRows = async (expected: string[]) => {
      const found = (await path.rows("t")).map(({ timeNs, tags, fields }) => `${tags["h"]} ${timeNs}=${fields["v"]}`);
      expect(found.sort()).toEqual(expected.sort());
    };
    await path.write(rows("a", 1));
    trouble = "full";
    // so many rows that the parser has to grow
    await expect(path.write(rows("b", 1000, 3000))).rejects.toThrow(new TsdbError("overloaded", "memory is full"));
    expect(lanes.failures).toEqual([]);
    trouble = undefined;
    await path.write(`${rows("b", 3)}\n${rows("a", 4)}`);
    await expectRows(["a 1=1", "b 3=3", "a 4=4"]);
    trouble = "trap";
    await expect(path.write(rows("c", 1000, 3000))).rejects.toThrow("an ingest worker failed: unreachable executed");
    expect(lanes.failures.length).toBe(1);
    trouble = undefined;
    await path.write(`${rows("c", 5)}\n${rows("b", 6)}`);
    await expectRows(["a 1=1", "b 3=3", "a 4=4", "c 5=5", "b 6=6"]);
    await path.close();
  });

  test("a body that the main thread cannot take makes the worker's parser begin anew", async () => {
    const { path } = await open({ count: 1 });
    await path.write("t,h=a v=1i 1");
    const { catalog } = path;
    const apply = catalog.apply.bind(catalog);
    catalog.apply = () => {
      throw new TsdbError("unavailable", "the catalog's log has failed");
    };
    await expect(path.write("t,h=b,x=new v=2i 2\nt,h=a v=3i 3")).rejects.toThrow("the catalog's log has failed");
    catalog.apply = apply;
    await path.write("t,h=b,x=new v=4i 4\nt,h=a v=5i 5");
    const found = (await path.rows("t")).map(({ timeNs, tags, fields }) => `${timeNs} ${JSON.stringify(tags)} ${fields["v"]}`);
    expect(found.sort()).toEqual(['1 {"h":"a"} 1', '4 {"h":"b","x":"new"} 4', '5 {"h":"a"} 5']);
    await path.close();
  });

  test("bodies that wait when the last worker fails are parsed on the main thread", async () => {
    const { path, lanes } = await open({ count: 1, fails: (_, when) => when === "before" });
    const writes = await Promise.allSettled(Array.from({ length: 5 }, (_, i) => path.write(`t v=${i}i ${i}`)));
    expect(writes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
    expect(await values(path)).toEqual(["2=2", "3=3", "4=4"]);
    expect(lanes.failures.length).toBe(1);
    await path.close();
  });

  test("random failures: what is acknowledged is there once, what is not is not (seed 5)", async () => {
    const below = prng(5);
    const { path, lanes } = await open({ count: 2, turns: () => below(4), fails: () => below(12) === 0 });
    const acknowledged: string[] = [];
    const clients = Array.from({ length: 6 }, async (_, client) => {
      for (let i = 0; i < 40; i++) {
        const time = client * 1000 + i;
        const body = `t,c=${client} v=${time}i ${time}`;
        await path.write(body).then(
          () => acknowledged.push(`${time}=${time}`),
          () => {},
        );
      }
    });
    await Promise.all(clients);
    expect(await values(path)).toEqual(acknowledged.sort());
    expect(lanes.failures.length).toBeGreaterThan(3);
    await path.close();
    expect(lanes.runningCount).toBe(0);
  });
});

test("a stop refuses bodies that wait and stores those that run", async () => {
  const { path, lanes } = await open({ count: 1 });
  const writes = Array.from({ length: 5 }, (_, i) => path.write(`t v=${i}i ${i}`));
  const closed = path.ingest.close();
  const outcomes = await Promise.allSettled(writes);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "rejected"]);
  for (const outcome of outcomes.slice(2)) expect(outcome).toMatchObject({ reason: { kind: "unavailable" } });
  await closed;
  expect(lanes.runningCount).toBe(0);
  expect(lanes.failures).toEqual([]);
  await expect(path.write("t v=9i 9")).rejects.toMatchObject({ kind: "unavailable" });
  expect(await values(path)).toEqual(["0=0", "1=1"]);
});

test("the log is the same to the byte, whoever parses (seed 2)", async () => {
  const below = prng(2);
  const bodies = Array.from({ length: 60 }, () => {
    const lines = Array.from({ length: 1 + below(below(10) === 0 ? 3000 : 30) }, () => randomLine(below));
    return { text: lines.join("\n"), database: `d${below(2)}`, acceptPartial: below(5) > 0 };
  });
  const logOf = async (lanes: LocalLanes | undefined) => {
    const disk = new FaultyDisk();
    const path = await WritePath.open(disk, lanes === undefined ? {} : { lanes });
    const results: unknown[] = [];
    for (const { text, ...request } of bodies) results.push(await path.write(text, request));
    await path.close();
    const frames: string[] = [];
    const onFrame = (sequence: number, payload: Uint8Array) => {
      frames.push(`${sequence} ${Bun.hash(payload)} ${payload.byteLength}`);
    };
    await replay(disk, "wal", { afterSequence: 0, takenSequences: [], failOnError: true, onFrame });
    return { frames, results };
  };
  const main = await logOf(undefined);
  // a parser for each database, as there is on the main thread: of several each meets columns in an order of its own
  expect(await logOf(new LocalLanes({ count: 1 }))).toEqual(main);
  expect(main.frames.length).toBeGreaterThan(50);
});

/** All types, missing values and times, series of several tags, now and then a value of another type or no line at all. */
function randomLine(below: (n: number) => number): string {
  if (below(60) === 0) return "no line";
  const tags = ["a", "b"].filter(() => below(3) > 0).map((tag) => `,${tag}=${tag}${below(5)}`);
  const fields = [
    `f=${below(1000) / 8}`,
    `i=${below(1000)}i`,
    `u=${below(9)}u`,
    `s="text ${"x".repeat(below(20))}"`,
    `o=${below(2) === 0}`,
  ];
  if (below(100) === 0) fields[0] = "f=1i";
  const present = fields.filter(() => below(3) > 0);
  const time = below(10) === 0 ? "" : ` ${1_700_000_000 + below(5000)}`;
  return `t${below(3)}${tags.join("")} ${present.length === 0 ? "i=1i" : present.join(",")}${time}`;
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise<void>((resolve) => setImmediate(resolve));
}
