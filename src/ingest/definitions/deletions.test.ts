// Deletions and retention through the whole write path, against a list of rows: whatever is flushed, replayed or lost in between, exactly
// the rows that were there when a deletion was asked for are gone.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { TestRow } from "../../../test/support/rows/rows.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { DeleteRequest } from "../../model/rows/deletion.ts";
import { Deletions } from "./deletions.ts";

const NOW_MS = 1_700_000_000_000;
const HOUR_NS = 3_600_000_000_000n;

function textOf({ timeNs, tags, fields }: TestRow): string {
  const list = (members: object) =>
    Object.entries(members)
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join(",");
  return `${timeNs} {${list(tags)}} {${list(fields)}}`;
}

const rowsOf = (path: WritePath, table = "t") => path.naiveRows(table).map(textOf).sort();

function deletion(tags: DeleteRequest["tags"] = [], range: Partial<DeleteRequest["range"]> = {}): DeleteRequest {
  return { database: "db", table: "t", range: { ...ALL_TIME, ...range }, tags };
}

const hostA = { tag: "h", values: ["a"] };

describe("a deletion", () => {
  test("hides what was written before it and nothing that was written after", async () => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t,h=a v=1,w=1 1\nt,h=a v=2 2\nt,h=b v=3 1\nt v=4 1");
    await path.data.deleteRows(deletion([hostA], { maxNs: 1n }));
    expect(rowsOf(path)).toEqual(["1 {h=b} {v=3}", "1 {} {v=4}", "2 {h=a} {v=2}"]);
    // the point comes again, with nothing of what it had been
    await path.write("t,h=a w=9 1");
    expect(rowsOf(path)).toEqual(["1 {h=a} {w=9}", "1 {h=b} {v=3}", "1 {} {v=4}", "2 {h=a} {v=2}"]);
    await path.data.deleteRows(deletion([{ tag: "h", values: [null, "b"] }]));
    expect(rowsOf(path)).toEqual(["1 {h=a} {w=9}", "2 {h=a} {v=2}"]);
    await path.data.deleteRows(deletion());
    expect(rowsOf(path)).toEqual([]);
    expect(path.schema("t")).toEqual(["time:0", "h:1", "v:2", "w:2"]);
    await path.close();
  });

  test("is in force from the call on, and between two writes of the same moment", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const first = path.write("t,h=a v=1 1");
    const deleted = path.data.deleteRows(deletion());
    const second = path.write("t,h=a w=2 1");
    expect(rowsOf(path)).toEqual(["1 {h=a} {w=2}"]);
    await Promise.all([first, deleted, second]);
    expect(rowsOf(path)).toEqual(["1 {h=a} {w=2}"]);
    expect(path.catalog.tombstones()).toHaveLength(1);
    await path.flush();
    expect(rowsOf(path)).toEqual(["1 {h=a} {w=2}"]);
    await path.close();
  });

  test("that can hide nothing leaves nothing behind", async () => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t,h=a v=1 10");
    await path.write("empty v=1 1");
    await path.data.deleteRows(deletion([], { minNs: 11n }));
    await path.data.deleteRows(deletion([], { maxNs: 9n }));
    await path.data.deleteRows(deletion([{ tag: "nowhere", values: ["x"] }]));
    await path.data.deleteRows({ ...deletion(), table: "empty" });
    expect(path.catalog.tombstones()).toHaveLength(1);
    await path.flush();
    await path.data.deleteRows({ ...deletion(), table: "empty" });
    await path.data.deleteRows(deletion([], { minNs: 11n }));
    expect(path.catalog.tombstones()).toHaveLength(1);
    // a tag that no row has is absent from every row
    await path.data.deleteRows(deletion([{ tag: "nowhere", values: [null] }]));
    expect(rowsOf(path)).toEqual([]);
    await path.close();
  });

  const REFUSED: [why: string, request: Partial<DeleteRequest>, kind: string][] = [
    ["no database", { database: "none" }, "unknown_database"],
    ["no table", { table: "none" }, "unknown_table"],
    ["a field", { tags: [{ tag: "v", values: [null] }] }, "bad_request"],
    ["time as a tag", { tags: [{ tag: "time", values: [null] }] }, "bad_request"],
    ["a range that ends before it begins", { range: { minNs: 2n, maxNs: 1n } }, "bad_request"],
    [
      "too many values",
      { tags: [{ tag: "h", values: Array.from({ length: LIMITS.tombstoneValuesMax + 1 }, (_, i) => `${i}`) }] },
      "limit_exceeded",
    ],
    ["too much text", { tags: [{ tag: "h", values: ["é".repeat(LIMITS.tombstoneTextBytesMax / 2 + 1)] }] }, "limit_exceeded"],
  ];
  test.each(REFUSED)("is refused: %s", async (_, request, kind) => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t,h=a v=1 1");
    const error = await path.data.deleteRows({ ...deletion(), ...request }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TsdbError);
    expect((error as TsdbError).kind).toBe(kind as TsdbError["kind"]);
    expect(rowsOf(path)).toEqual(["1 {h=a} {v=1}"]);
    await path.close();
  });

  test(`of some rows waits when there are ${LIMITS.tombstonesMax}, of all rows never`, async () => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t,h=a v=1 1\nt,h=a v=2 5000\nu v=1 1");
    const { id: tableId } = path.catalog.findTable(1, "t")!;
    const ranges = Array.from({ length: LIMITS.tombstonesMax }, (_, i) => ({ minNs: BigInt(i), maxNs: BigInt(i + 1000) }));
    const requests = ranges.map((range) => ({ tableId, range, tags: [] }));
    const full = () => path.data.deleteRows(deletion([], { minNs: 4000n, maxNs: 6000n }));
    const most = path.deletions.deleteRows(requests.slice(1));
    const last = path.deletions.deleteRows(requests.slice(0, 1));
    // those that are on their way count
    await expect(full()).rejects.toMatchObject({ kind: "limit_exceeded" });
    await Promise.all([most, last]);
    expect(path.catalog.tombstones()).toHaveLength(LIMITS.tombstonesMax);
    await expect(full()).rejects.toMatchObject({ kind: "limit_exceeded" });
    expect(rowsOf(path)).toEqual(["5000 {h=a} {v=2}"]);
    await path.data.deleteData({ database: "db" });
    expect([rowsOf(path), rowsOf(path, "u")]).toEqual([[], []]);
    expect(path.catalog.tombstones()).toHaveLength(2);
    await path.write("t,h=a v=3 5000");
    await full();
    expect(rowsOf(path)).toEqual([]);
    await path.close();
  });

  test("of a database is durable for all of its tables or for none", async () => {
    let partly = 0;
    await faultLoop(
      prng(3),
      async (disk) => {
        try {
          const path = await WritePath.open(disk);
          await path.write("t v=1 1\nu v=1 1\nw v=1 1");
          await path.flush();
          await path.data.deleteData({ database: "db" });
          await path.close();
        } catch {
          // the disk is gone
        }
      },
      async (disk) => {
        const path = await WritePath.open(disk);
        const counts = ["t", "u", "w"].map((table) => rowsOf(path, table).length);
        expect(new Set(counts).size).toBe(1);
        if (path.catalog.tombstones().length > 0) partly++;
        await path.close();
      },
    );
    expect(partly).toBeGreaterThan(0);
  });

  test("takes its place wherever a flush is", async () => {
    for (let step = 0; step < 40; step++) {
      const path = await WritePath.open(new FaultyDisk());
      await path.write("t,h=a v=1,w=1 1\nt,h=b v=1 1");
      await path.data.deleteRows(deletion([{ tag: "h", values: ["b"] }]));
      await path.write("t,h=b w=1 1");
      const flush = path.flush();
      for (let i = 0; i < step; i++) await Promise.resolve();
      const deleted = path.data.deleteRows(deletion([hostA]));
      const written = path.write("t,h=a w=2 1");
      const expected = ["1 {h=a} {w=2}", "1 {h=b} {w=1}"];
      expect(rowsOf(path)).toEqual(expected);
      await Promise.all([flush, deleted, written]);
      expect(rowsOf(path)).toEqual(expected);
      await path.flush();
      expect(rowsOf(path)).toEqual(expected);
      await path.close();
    }
  });

  test("is in the catalog once the log has what it hides, those of later calls after it", async () => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t,h=a v=1 1");
    const { catalog, tables, manifest } = path;
    const syncs: PromiseWithResolvers<void>[] = [];
    const flushed = () => {
      syncs.push(Promise.withResolvers());
      return syncs.at(-1)!.promise;
    };
    const deletions = new Deletions({ catalog, tables, manifest, wal: { lastSequence: 1, flushed } });
    const { id: tableId } = catalog.findTable(1, "t")!;
    const [first, second] = [5n, 3n].map((maxNs) => deletions.deleteRows([{ tableId, range: { minNs: 0n, maxNs }, tags: [] }]));
    const ids = () => catalog.tombstones().map(({ id }) => id);
    expect(deletions.tombstonesOf(tableId).map(({ id }) => id)).toEqual([1, 2]);
    syncs[1]!.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ids()).toEqual([]);
    syncs[0]!.resolve();
    await first;
    expect(ids().at(0)).toBe(1);
    await second;
    await deletions.durable();
    expect(ids()).toEqual([1, 2]);
    expect(deletions.tombstonesOf(tableId)).toBe(catalog.tombstonesOf(tableId));
    // what the log could not keep is never said to be deleted
    const third = deletions.deleteRows([{ tableId, range: ALL_TIME, tags: [] }]);
    syncs[2]!.reject(new TsdbError("unavailable", "no disk"));
    await expect(third).rejects.toMatchObject({ kind: "unavailable" });
    await expect(deletions.durable()).rejects.toMatchObject({ kind: "unavailable" });
    expect(ids()).toEqual([1, 2]);
    await path.close();
  });

  test("is forgotten when nothing is left that it could hide, not before", async () => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t,h=a v=1 1\nt,h=b v=2 1");
    await path.data.deleteRows(deletion([hostA]));
    expect(path.deletions.retireApplied()).toBe(0); // rows in the log only
    await path.flush();
    expect(path.deletions.retireApplied()).toBe(0); // the file has them
    const [file] = path.manifest.files();
    const [block] = file!.blocks;
    const replaced = { ...file!, id: path.manifest.allocateFileId(), blocks: [{ ...block!, appliedTombstone: 1 }] };
    const change = { added: [replaced], removed: [file!.id], removedBlocks: [], flushedSequence: path.manifest.flushedSequence };
    await path.manifest.commit(change);
    expect(path.deletions.retireApplied()).toBe(1);
    expect(path.catalog.tombstones()).toEqual([]);
    await path.close();
  });
});

/** Rows by series and time, as a list would keep them. */
class Model {
  readonly points = new Map<string, { h: string | undefined; timeNs: bigint; fields: Map<string, bigint> }>();

  write(h: string | undefined, timeNs: bigint, field: string, value: bigint): void {
    const key = `${h}@${timeNs}`;
    const point = this.points.get(key) ?? { h, timeNs, fields: new Map() };
    point.fields.set(field, value);
    this.points.set(key, point);
  }

  delete(hosts: readonly (string | null)[] | undefined, minNs: bigint, maxNs: bigint): void {
    for (const [key, { h, timeNs }] of this.points) {
      if (timeNs >= minNs && timeNs <= maxNs && (hosts === undefined || hosts.includes(h ?? null))) this.points.delete(key);
    }
  }

  rows(): string[] {
    const rows = [...this.points.values()].map(({ h, timeNs, fields }): TestRow => {
      return { timeNs, tags: h === undefined ? {} : { h }, fields: Object.fromEntries(fields) };
    });
    return rows.map(textOf).sort();
  }
}

/** A write or a deletion, for the model and for the server. */
interface Step {
  readonly points?: readonly { h: string | undefined; timeNs: bigint; field: string; value: bigint }[];
  readonly erase?: { hosts: readonly (string | null)[] | undefined; minNs: bigint; maxNs: bigint };
}

function randomStep(below: (n: number) => number, number: number): Step {
  if (below(4) === 0) {
    const minNs = below(3) === 0 ? ALL_TIME.minNs : BigInt(below(6));
    const maxNs = below(3) === 0 ? ALL_TIME.maxNs : 5n + BigInt(below(5));
    const hosts = below(3) === 0 ? undefined : [null, "a", "b", "c"].filter(() => below(2) === 0);
    return { erase: { hosts, minNs, maxNs } };
  }
  const points = Array.from({ length: 1 + below(3) }, () => {
    const h = [undefined, "a", "b", "c"][below(4)];
    return { h, timeNs: BigInt(below(10)), field: `f${below(3)}`, value: BigInt(number) };
  });
  return { points };
}

async function play(path: WritePath, model: Model, { points, erase }: Step, noSync = false): Promise<void> {
  if (erase !== undefined) {
    const { hosts, minNs, maxNs } = erase;
    const done = path.data.deleteRows(deletion(hosts === undefined ? [] : [{ tag: "h", values: hosts }], { minNs, maxNs }));
    model.delete(hosts, minNs, maxNs);
    await done;
    return;
  }
  const body = (points ?? [])
    .map(({ h, timeNs, field, value }) => `t${h === undefined ? "" : `,h=${h}`} ${field}=${value}i ${timeNs}`)
    .join("\n");
  const done = path.write(body, { noSync });
  for (const { h, timeNs, field, value } of points ?? []) model.write(h, timeNs, field, value);
  await done;
}

const SEED = Number(process.env["SEED"] ?? 1);

describe("against a list of rows", () => {
  test.each([0, 1, 2, 3, 4, 5].map((i) => SEED + i))("writes, deletions, flushes and restarts, seed %i", async (seed) => {
    const below = prng(seed);
    const model = new Model();
    let disk = new FaultyDisk();
    let path = await WritePath.open(disk);
    await path.write("t,h=z f0=0i,f1=0i,f2=0i 100");
    for (const field of ["f0", "f1", "f2"]) model.write("z", 100n, field, 0n);
    for (let step = 0; step < 120; step++) {
      await play(path, model, randomStep(below, step), below(2) === 0);
      if (below(6) === 0) await path.flush();
      else if (below(12) === 0) {
        // a clean stop, or a killed process
        if (below(2) === 0) await path.close();
        else await path.wal.flushed();
        disk = disk.afterKill();
        path = await WritePath.open(disk);
      }
      path.deletions.retireApplied();
      expect(rowsOf(path)).toEqual(model.rows());
    }
    await path.close();
  });

  test(`whichever call fails, a restart finds a prefix of the steps, at least those that were answered (seed ${SEED})`, async () => {
    const below = prng(SEED);
    const first: Step = { points: [{ h: "a", timeNs: 1n, field: "f0", value: 100n }] };
    const steps = [first, ...Array.from({ length: 14 }, (_, number) => randomStep(below, number))];
    const models = steps.map((_, count) => {
      const model = new Model();
      for (const { points, erase } of steps.slice(0, count)) {
        for (const { h, timeNs, field, value } of points ?? []) model.write(h, timeNs, field, value);
        if (erase !== undefined) model.delete(erase.hosts, erase.minNs, erase.maxNs);
      }
      return model;
    });
    const runs = await faultLoop(
      prng(SEED + 1),
      async (disk) => {
        let answered = 0;
        try {
          const path = await WritePath.open(disk);
          const scratch = new Model();
          for (const step of steps.slice(0, -1)) {
            await play(path, scratch, step);
            answered++;
            if (answered % 5 === 0) await path.flush();
          }
          await path.close();
        } catch {
          // the disk is gone
        }
        return answered;
      },
      async (disk, answered, failAt) => {
        const path = await WritePath.open(disk);
        const rows = rowsOf(path);
        const possible = [models[answered], models[answered + 1]].flatMap((model) => (model === undefined ? [] : [model.rows()]));
        expect(possible, `call ${failAt}: ${answered} answered`).toContainEqual(rows);
        // what is written now is hidden by nothing
        await path.write("t,h=new f0=1i 3");
        expect(rowsOf(path)).toContain("3 {h=new} {f0=1}");
        await path.close();
      },
    );
    expect(runs).toBeGreaterThan(30);
  });

  test("writes that nobody waited for and a crash: what comes after it is not hidden", async () => {
    for (let seed = SEED; seed < SEED + 30; seed++) {
      const below = prng(seed);
      let disk = new FaultyDisk({ below });
      let path = await WritePath.open(disk);
      await path.write("t,h=a v=1 1");
      const hurried = below(5);
      for (let i = 0; i < hurried; i++) void path.write(`t,h=a v=${i} ${i + 2}`, { noSync: true });
      const deleted = path.data.deleteRows(deletion()).catch(() => {});
      for (let i = 0; i < below(30); i++) await Promise.resolve();
      if (below(3) === 0) await deleted;
      disk = disk.afterCrash();
      await deleted;
      path = await WritePath.open(disk);
      // the deletion is never ahead of the log
      if (path.catalog.tombstones().length > 0) expect(path.replayedRows, `seed ${seed}`).toBe(1 + hurried);
      await path.write("t,h=b v=1 1");
      expect(rowsOf(path), `seed ${seed}`).toContain("1 {h=b} {v=1}");
      await path.close();
    }
  });
});

describe("retention", () => {
  test("hides old rows at once, whenever they were written, and shows them again when it is longer", async () => {
    let nowMs = NOW_MS;
    const path = await WritePath.open(new FaultyDisk(), { nowMs: () => nowMs });
    const nowNs = BigInt(NOW_MS) * 1_000_000n;
    const [old, young] = [nowNs - 3n * HOUR_NS, nowNs - HOUR_NS];
    await path.write(`t v=1 ${old}\nt v=2 ${young}\nu v=3 ${old}`);
    const shown = () => [...rowsOf(path), ...rowsOf(path, "u")];
    const all = [`${old} {} {v=1}`, `${young} {} {v=2}`, `${old} {} {v=3}`];
    expect(shown()).toEqual(all);
    await path.data.setRetention({ database: "db" }, 2n * HOUR_NS);
    expect(shown()).toEqual([all[1]!]);
    await path.write(`t v=9 ${old}`);
    await path.flush();
    expect(shown()).toEqual([all[1]!]);
    // exactly as old as is kept
    await path.data.setRetention({ database: "db", table: "t" }, HOUR_NS);
    expect(shown()).toEqual([all[1]!]);
    nowMs += 1;
    expect(shown()).toEqual([]);
    await path.data.setRetention({ database: "db", table: "u" }, 0n);
    expect(shown()).toEqual([all[2]!]);
    await path.data.setRetention({ database: "db", table: "t" }, null);
    expect(shown()).toEqual([all[1]!, all[2]!]);
    await path.data.setRetention({ database: "db" }, null);
    expect(shown()).toEqual([`${old} {} {v=9}`, all[1]!, all[2]!]);
    await path.close();
  });

  test.each([-1n, 2n ** 63n])("a period of %p is refused", async (retentionNs) => {
    const path = await WritePath.open(new FaultyDisk());
    await path.write("t v=1 1");
    await expect(path.data.setRetention({ database: "db" }, retentionNs)).rejects.toMatchObject({ kind: "bad_request" });
    await expect(path.data.setRetention({ database: "db", table: "none" }, 1n)).rejects.toMatchObject({ kind: "unknown_table" });
    await path.close();
  });
});
