// Requests to delete rows through the whole write path, against a list of what was written: whatever is flushed, merged, taken back, killed
// or restarted in between.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { TestRow } from "../../../test/support/rows/rows.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";
import { LIMITS } from "../../model/limits.ts";
import type { NewRowDelete } from "../../model/rows/row-delete.ts";
import { RowDeletes } from "./row-deletes.ts";

const NOW_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;

function textOf({ timeNs, tags, fields }: TestRow): string {
  const list = (members: object) =>
    Object.entries(members)
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join(",");
  return `${timeNs} {${list(tags)}} {${list(fields)}}`;
}

const rowsOf = (path: WritePath, table = "t") => path.naiveRows(table).map(textOf).sort();

/** Requests of a write path; `clock.ms` is the time. */
function requestsOf(path: WritePath, clock = { ms: NOW_MS }, minAgeMs = HOUR_MS): RowDeletes {
  const { catalog, manifest, deletions } = path;
  return new RowDeletes({
    ...{ catalog, manifest, deletions, minAgeMs, nowMs: () => clock.ms },
    tagValues: async (_, table, tags) =>
      path
        .naiveRows(table)
        .map((row) => Object.fromEntries(tags.flatMap((tag) => (row.tags[tag] === undefined ? [] : [[tag, row.tags[tag]!]])))),
  });
}

const request = (predicate: string, bounds: Partial<NewRowDelete> = {}): NewRowDelete => {
  return { database: "db", table: "t", minNs: null, endNs: null, predicate, ...bounds };
};

describe("a request", () => {
  test("hides rows at once, and gives them back when it is aborted", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const requests = requestsOf(path);
    await path.write("t,h=a v=1 1\nt,h=b v=2 1\nt v=3 1");
    await path.flush();
    await path.write("t,h=a v=4 2");
    const before = rowsOf(path);
    const made = await requests.create(request("h = 'a'"), NEVER);
    expect(made).toMatchObject({ sequence: 1, state: "held", database: "db", table: "t", predicate: "h = 'a'", createdMs: NOW_MS });
    expect(rowsOf(path)).toEqual(["1 {h=b} {v=2}", "1 {} {v=3}"]);
    // rows written later stay, also in the order of a later abort
    await path.write("t,h=a w=5 2");
    expect(rowsOf(path)).toEqual(["1 {h=b} {v=2}", "1 {} {v=3}", "2 {h=a} {w=5}"]);
    const lastBefore = path.deletions.lastOf(path.catalog.findTable(1, "t")!.id);
    expect(await requests.abort(1, "a mistake")).toMatchObject({ state: "aborted", abortReason: "a mistake", endedMs: NOW_MS });
    expect(rowsOf(path)).toEqual([...before.slice(0, 3), "2 {h=a} {v=4,w=5}"].sort());
    // caches know that rows have come back
    expect(path.deletions.lastOf(path.catalog.findTable(1, "t")!.id)).toBeGreaterThan(lastBefore);
    await expect(requests.abort(1, "")).rejects.toMatchObject({ kind: "bad_request", message: expect.stringContaining("it is aborted") });
    await path.close();
  });

  test("that is held survives flushes, merges of everything and a restart, and can be aborted then", async () => {
    const disk = new FaultyDisk();
    let path = await WritePath.open(disk);
    await path.write("t,h=a v=1 1\nt,h=b v=2 1");
    await path.flush();
    await path.write("t,h=a v=3 2\nt,h=b v=4 2");
    const all = rowsOf(path);
    await requestsOf(path).create(request("h = 'a'"), NEVER);
    await path.flush();
    await path.write("t,h=b v=5 3");
    await path.flush();
    await path.compact();
    const left = ["1 {h=b} {v=2}", "2 {h=b} {v=4}", "3 {h=b} {v=5}"];
    expect(rowsOf(path)).toEqual(left);
    // the rows before it are one run, those after it another
    expect(path.manifest.blocksOf(path.catalog.findTable(1, "t")!.id)).toHaveLength(2);
    await path.close();
    path = await WritePath.open(disk.afterKill());
    expect(rowsOf(path)).toEqual(left);
    await path.compact();
    await requestsOf(path).abort(1, "");
    expect(rowsOf(path)).toEqual([...all, "3 {h=b} {v=5}"].sort());
    await path.compact();
    expect(path.manifest.blocksOf(path.catalog.findTable(1, "t")!.id)).toHaveLength(1);
    expect(rowsOf(path)).toEqual([...all, "3 {h=b} {v=5}"].sort());
    await path.close();
  });

  test("made while the clock was ahead by a year is released once it is set", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const clock = { ms: NOW_MS + 365 * 24 * HOUR_MS };
    const requests = requestsOf(path, clock);
    await path.write("t,h=a v=1 1");
    await requests.create(request("h = 'a'"), NEVER);
    requests.check();
    expect(requests.find(1).state).toBe("held");
    clock.ms = NOW_MS;
    requests.check();
    expect(requests.find(1).state).toBe("applying");
    await path.close();
  });

  test("is released when it is old enough, applied to files, and completed", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const clock = { ms: NOW_MS };
    const requests = requestsOf(path, clock);
    await path.write("t,h=a v=1 1\nt,h=b v=2 1");
    await path.flush();
    await requests.create(request("h = 'a'"), NEVER);
    clock.ms += HOUR_MS - 1;
    requests.check();
    expect(requests.find(1).state).toBe("held");
    expect(requests.progress(requests.find(1))).toMatchObject({ inRange: [{ total: 1, processed: 0 }, {}, {}, {}] });
    clock.ms += 1;
    requests.check();
    expect(requests.find(1).state).toBe("applying");
    await expect(requests.abort(1, "")).rejects.toMatchObject({ kind: "bad_request", message: expect.stringContaining("being removed") });
    await path.compact();
    path.deletions.retireApplied();
    requests.check();
    expect(requests.find(1)).toMatchObject({ state: "completed", endedMs: clock.ms });
    const [block] = path.manifest.blocksOf(path.catalog.findTable(1, "t")!.id);
    expect(block!.block.rowCount).toBe(1);
    expect(requests.progress(requests.find(1))).toMatchObject({ inRange: [{}, { total: 1, processed: 1 }, {}, {}] });
    await expect(requests.abort(1, "")).rejects.toMatchObject({ message: expect.stringContaining("it is completed") });
    await path.close();
  });

  test("that fits no row is completed when it is made", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const requests = requestsOf(path);
    await path.write("t,h=a v=1 1");
    for (const predicate of ["h = ''", "false", "h LIKE 'x%'", "time > '2000-01-01'", "time > '2000-01-01' AND time < '1990-01-01'"]) {
      expect(await requests.create(request(predicate), NEVER)).toMatchObject({ state: "completed", tombstoneIds: [], endedMs: NOW_MS });
    }
    expect(path.catalog.tombstones()).toEqual([]);
    expect(requests.list({}).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    await path.close();
  });

  test("takes bounds of time: the first instant, and the one after the last", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const requests = requestsOf(path);
    await path.write("t v=1 1\nt v=2 2\nt v=3 3\nt v=4 4");
    await requests.create(request("", { minNs: 2n, endNs: 4n }), NEVER);
    expect(rowsOf(path)).toEqual(["1 {} {v=1}", "4 {} {v=4}"]);
    await requests.create(request("time >= '1970-01-01T00:00:00.000000002Z'", { endNs: 5n }), NEVER);
    expect(rowsOf(path)).toEqual(["1 {} {v=1}"]);
    await path.close();
  });

  test("names tags of the table, and nothing else", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const requests = requestsOf(path);
    await path.write("t,h=a v=1 1");
    const refused = async (asked: NewRowDelete, kind: string, why: string) =>
      await expect(requests.create(asked, NEVER)).rejects.toMatchObject({ kind, message: expect.stringContaining(why) });
    await refused(request("v = '1'"), "bad_request", `"v" is a field of t`);
    await refused(request("nowhere IS NULL"), "bad_request", `t has no column "nowhere"`);
    await refused(request("__proto__ IS NULL"), "bad_request", `no column "__proto__"`);
    await refused({ ...request(""), table: "none" }, "unknown_table", "table not found: db.none");
    await refused({ ...request(""), database: "none" }, "unknown_database", "database not found: none");
    expect(requests.list({})).toEqual([]);
    await path.close();
  });

  test("tells when its table has another name or is gone", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const requests = requestsOf(path);
    await path.write("t,h=a v=1 1");
    await requests.create(request("h = 'a'"), NEVER);
    const { id } = path.catalog.findTable(1, "t")!;
    await path.catalog.apply([{ kind: "soft_delete", of: "table", id, name: "t-gone", deletedMs: 0, hardDeleteMs: 0 }]).durable;
    expect(requests.find(1)).toMatchObject({ isTableStale: true, isDatabaseStale: false });
    await path.catalog.apply([{ kind: "drop", of: "table", id }]).durable;
    requests.check();
    expect(requests.find(1)).toMatchObject({ state: "completed", isTableStale: true });
    expect(requests.list({ table: "t", disposition: "completed", minSequence: 1, maxSequence: 1 })).toHaveLength(1);
    expect(requests.list({ table: "u" })).toEqual([]);
    expect(requests.list({ disposition: "pending" })).toEqual([]);
    expect(requests.list({ minSequence: 2 })).toEqual([]);
    expect(() => requests.find(7)).toThrow("row delete request not found: 7");
    await path.close();
  });

  test(`waits when ${LIMITS.rowDeletesPendingMax} are pending; of those that have ended ${LIMITS.rowDeletesKeptMax} are kept`, async () => {
    const path = await WritePath.open(new FaultyDisk());
    const requests = requestsOf(path, { ms: NOW_MS }, 0);
    await path.write("t,h=a v=1 1");
    const some = Array.from({ length: LIMITS.rowDeletesPendingMax }, () => requests.create(request("h = 'a'"), NEVER));
    await Promise.all(some);
    await expect(requests.create(request("h = 'a'"), NEVER)).rejects.toMatchObject({ kind: "limit_exceeded" });
    requests.check();
    await path.flush();
    await path.compact();
    path.deletions.retireApplied();
    requests.check();
    expect(requests.list({ disposition: "pending" })).toEqual([]);
    for (let made = 0; made < LIMITS.rowDeletesKeptMax; made += 500) {
      await Promise.all(Array.from({ length: 500 }, () => requests.create(request("false"), NEVER)));
    }
    requests.check();
    expect(path.catalog.rowDeletes.count).toBe(LIMITS.rowDeletesKeptMax);
    expect(requests.list({})[0]!.sequence).toBe(LIMITS.rowDeletesPendingMax + 1);
    await path.close();
  });
});

interface Written {
  readonly kind: "write";
  readonly h: string | undefined;
  readonly timeNs: bigint;
  readonly field: string;
  readonly value: number;
}

interface Erased {
  readonly kind: "request" | "delete";
  readonly sequence: number;
  readonly h: string | undefined;
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

/** What is there after the events in their order, without those requests that were taken back. */
function expected(events: readonly (Written | Erased)[], aborted: ReadonlySet<number>): string[] {
  const points = new Map<string, { h: string | undefined; timeNs: bigint; fields: Map<string, bigint> }>();
  for (const event of events) {
    if (event.kind === "write") {
      const key = `${event.h}@${event.timeNs}`;
      const point = points.get(key) ?? { h: event.h, timeNs: event.timeNs, fields: new Map() };
      points.set(key, point);
      point.fields.set(event.field, BigInt(event.value));
    } else if (event.kind === "delete" || !aborted.has(event.sequence)) {
      for (const [key, { h, timeNs }] of points) {
        if (timeNs >= event.minNs && timeNs <= event.maxNs && (event.h === undefined || event.h === h)) points.delete(key);
      }
    }
  }
  const rows = [...points.values()].map(({ h, timeNs, fields }): TestRow => {
    return { timeNs, tags: h === undefined ? {} : { h }, fields: Object.fromEntries(fields) };
  });
  return rows.map(textOf).sort();
}

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 6);

describe("against a list of events", () => {
  test.each(Array.from({ length: ROUNDS }, (_, i) => SEED + i))(
    "writes, requests, deletions, aborts, flushes, merges, releases and restarts, seed %i",
    async (seed) => {
      const below = prng(seed);
      const clock = { ms: NOW_MS };
      const aborted = new Set<number>();
      const events: (Written | Erased)[] = [];
      let disk = new FaultyDisk();
      let path = await WritePath.open(disk);
      let requests = requestsOf(path, clock);
      const write = async () => {
        const event: Written = {
          kind: "write",
          h: [undefined, "a", "b"][below(3)],
          timeNs: BigInt(below(8)),
          field: `f${below(2)}`,
          value: events.length,
        };
        events.push(event);
        await path.write(`t${event.h === undefined ? "" : `,h=${event.h}`} ${event.field}=${event.value}i ${event.timeNs}`);
      };
      const erase = async (kind: "request" | "delete") => {
        const h = [undefined, "a", "b"][below(3)];
        const [minNs, maxNs] = below(3) === 0 ? [0n, 100n] : [BigInt(below(4)), BigInt(4 + below(4))];
        const sequence = path.catalog.rowDeletes.nextSequence;
        events.push({ kind, sequence, h, minNs, maxNs });
        const tags = h === undefined ? [] : [{ tag: "h", values: [h] }];
        if (kind === "delete") await path.data.deleteRows({ database: "db", table: "t", range: { minNs, maxNs }, tags });
        else await requests.create(request(h === undefined ? "" : `h = '${h}'`, { minNs, endNs: maxNs + 1n }), NEVER);
      };
      const abort = async () => {
        const held = requests.list({}).filter(({ state }) => state === "held");
        const chosen = held[below(Math.max(1, held.length))];
        if (chosen === undefined) return;
        aborted.add(chosen.sequence);
        await requests.abort(chosen.sequence, "");
      };
      events.push({ kind: "write", h: "z", timeNs: 100n, field: "f0", value: 0 });
      await path.write("t,h=z f0=0i 100\nt,h=z f1=0i 1000");
      events.push({ kind: "write", h: "z", timeNs: 1000n, field: "f1", value: 0 });
      for (let step = 0; step < 150; step++) {
        const what = below(20);
        if (what < 9) await write();
        else if (what < 12) await erase("request");
        else if (what < 13) await erase("delete");
        else if (what < 15) await abort();
        else if (what < 17) await path.flush();
        else if (what < 18) await path.compact();
        else if (what < 19) {
          clock.ms += below(HOUR_MS);
          path.deletions.retireApplied();
          requests.check();
        } else {
          if (below(2) === 0) await path.close();
          else await path.wal.flushed();
          disk = disk.afterKill();
          path = await WritePath.open(disk);
          requests = requestsOf(path, clock);
        }
        expect(rowsOf(path), `step ${step}`).toEqual(expected(events, aborted));
      }
      // in the end all of them are applied, and nothing is left to hide
      clock.ms += 2 * HOUR_MS;
      requests.check();
      await path.flush();
      await path.compact();
      path.deletions.retireApplied();
      requests.check();
      expect(rowsOf(path)).toEqual(expected(events, aborted));
      expect(path.catalog.tombstones()).toEqual([]);
      expect(requests.list({ disposition: "pending" })).toEqual([]);
      await path.close();
    },
  );

  test(`whichever call fails, a request is there with its rows hidden, or is not (seed ${SEED})`, async () => {
    const all = ["1 {h=a} {v=1}", "1 {h=b} {v=2}"];
    const runs = await faultLoop(
      prng(SEED),
      async (disk) => {
        let answered = 0;
        try {
          const path = await WritePath.open(disk);
          await path.write("t,h=a v=1 1\nt,h=b v=2 1");
          answered = 1;
          const requests = requestsOf(path);
          await requests.create(request("h = 'a'"), NEVER);
          answered = 2;
          await path.flush();
          await path.compact();
          await requests.abort(1, "");
          answered = 3;
          await path.close();
        } catch {
          // the disk is gone
        }
        return answered;
      },
      async (disk, answered, failAt) => {
        const path = await WritePath.open(disk);
        const [kept] = requestsOf(path).list({});
        const rows = rowsOf(path);
        const where = `call ${failAt}: ${answered} answered`;
        if (answered === 2) expect(["held", "aborted"], where).toContain(kept!.state);
        if (answered === 3) expect(kept!.state, where).toBe("aborted");
        if (kept?.state === "held") expect(rows, where).toEqual(["1 {h=b} {v=2}"]);
        else if (answered > 0) expect(rows, where).toEqual(all);
        await path.close();
      },
    );
    expect(runs).toBeGreaterThan(10);
  });
});
