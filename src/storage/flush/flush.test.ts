// Flush: when it is due, and that no row is lost or doubled whichever call of the disk fails.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";
import { EMPTY_FRAME } from "../../ingest/frame.ts";
import type { TsdbError } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { type FlushLimits, type FlushReason, type FlushState, planFlush, splitBySize } from "./flush.ts";

const LIMITS: FlushLimits = { openBytesMax: 1000, ageMsMax: 60_000, idleMsMax: 20_000, idleBytesMin: 500, walBytesMax: 5000 };
const NOW_MS = 1_000_000;

const IDLE = { newestRowMs: NOW_MS, spaceDue: false, logIsDead: false, seriesDue: false, walBytes: 10 };

const PLANS: [why: string, state: Partial<FlushState>, reason: FlushReason | undefined][] = [
  ["nothing buffered", { openRows: 0, openBytes: 0, walBytes: 9999, oldestRowMs: undefined }, undefined],
  ["small and young", {}, undefined],
  ["one byte below the size", { openBytes: 999 }, undefined],
  ["at the size", { openBytes: 1000 }, "size"],
  ["almost too old", { oldestRowMs: NOW_MS - 59_999 }, undefined],
  ["too old", { oldestRowMs: NOW_MS - 60_000 }, "age"],
  ["a long log", { walBytes: 5000 }, "log"],
  ["too many series", { seriesDue: true }, "series"],
  ["too many series and no rows", { seriesDue: true, openRows: 0, openBytes: 0, walBytes: 0, oldestRowMs: undefined }, "series"],
  ["a full disk", { spaceDue: true }, "space"],
  ["a full disk and no rows", { spaceDue: true, openRows: 0, openBytes: 0, walBytes: 0, oldestRowMs: undefined }, undefined],
  ["a full disk and a log of dropped rows", { logIsDead: true, openRows: 0, openBytes: 0, oldestRowMs: undefined }, "space"],
  ["a clock that went back", { oldestRowMs: NOW_MS + 5000, newestRowMs: NOW_MS + 5000 }, undefined],
  ["rows of a clock that was ahead", { oldestRowMs: NOW_MS + 60_000, newestRowMs: NOW_MS }, "age"],
  ["almost idle", { openBytes: 500, oldestRowMs: NOW_MS - 30_000, newestRowMs: NOW_MS - 19_999 }, undefined],
  ["idle", { openBytes: 500, oldestRowMs: NOW_MS - 30_000, newestRowMs: NOW_MS - 20_000 }, "idle"],
  ["idle since a clock was ahead", { openBytes: 500, oldestRowMs: NOW_MS + 30_000, newestRowMs: NOW_MS + 20_000 }, "idle"],
  ["idle with little in memory", { openBytes: 499, oldestRowMs: NOW_MS - 30_000, newestRowMs: NOW_MS - 20_000 }, undefined],
  ["idle without rows", { openRows: 0, openBytes: 0, oldestRowMs: undefined, newestRowMs: undefined }, undefined],
];

describe("planFlush", () => {
  test.each(PLANS)("%s", (_, state, reason) => {
    expect(planFlush({ ...IDLE, openBytes: 10, openRows: 1, oldestRowMs: NOW_MS, ...state }, NOW_MS, LIMITS)).toBe(reason);
  });
});

describe("splitBySize", () => {
  /** A run of rows that take 12 bytes and 8 per column, by log sequences. */
  const run = (rowCount: number, [seqMin, seqMax]: [number, number], columnIds: number[] = [1]): Run => ({
    ...{ rowCount, seriesPtr: 0, timePtr: 0, dictionary: { id: 1, seriesCount: 1, tags: [] } },
    columns: columnIds.map((columnId) => ({ columnId, type: ColumnType.float, dataPtr: 0, validityPtr: 0 })),
    ...{ sorted: false, unique: true, minTimeNs: 0n, maxTimeNs: 0n, seqMin, seqMax },
  });
  // 20 bytes a row with one column: 100 rows are 2000 bytes
  const SPLITS: [why: string, runs: Run[], parts: number[]][] = [
    ["no run", [], []],
    ["all runs fit one part", [run(50, [1, 2]), run(50, [3, 4])], [2]],
    ["a row too many", [run(50, [1, 2]), run(51, [3, 4])], [1, 1]],
    ["a run that is too large alone", [run(500, [1, 2])], [1]],
    ["a body on both sides", [run(90, [1, 2]), run(90, [2, 3]), run(90, [4, 5])], [2, 1]],
    ["three by three", Array.from({ length: 6 }, (_, i) => run(33, [i * 2 + 1, i * 2 + 2])), [3, 3]],
    // two columns: 28 bytes a row of the part, 80 x 28 = 2240
    ["other columns make every row wider", [run(40, [1, 1], [1]), run(40, [2, 2], [2])], [1, 1]],
    ["the next part is as wide as its own columns", [run(60, [1, 1], [1, 2, 3]), run(50, [2, 2], [2]), run(50, [3, 3], [2])], [1, 2]],
  ];
  test.each(SPLITS)("%s", (_, runs, parts) => {
    const split = splitBySize(runs, 2000);
    expect(split.map(({ length }) => length)).toEqual(parts);
    expect(split.flat()).toEqual(runs);
  });
});

/** Bodies of two rows each; row i of the model is what body i wrote, later bodies overwrite earlier fields of series a. */
async function scenario(disk: FaultyDisk): Promise<number> {
  let acknowledged = 0;
  try {
    const path = await WritePath.open(disk);
    for (let i = 0; i < 6; i++) {
      await path.write(
        `t,s=a last=${i}i,f${i % 3}=${i}i 1\nt,s=b${i} v=${i}i,text="some text that is not short" ${i * 86_400_000_000_000}`,
      );
      acknowledged = i + 1;
      if (i === 1 || i === 3) await path.flush();
    }
    await path.close();
  } catch {
    // the disk is gone: what was acknowledged must be there at the next start
  }
  return acknowledged;
}

test("whichever call fails, acknowledged bodies are there once, whole, and merged in order", async () => {
  const runs = await faultLoop(prng(11), scenario, async (disk, acknowledged, failAt) => {
    const path = await WritePath.open(disk);
    const rows = await path.rows("t");
    const bodies = rows.filter(({ tags }) => tags["s"] !== "a");
    const found = bodies.length;
    const context = `call ${failAt}: ${acknowledged} acknowledged, ${found} found`;
    expect(found, context).toBeGreaterThanOrEqual(acknowledged);
    // a prefix, each body once
    expect(bodies.map(({ fields }) => fields["v"]).sort(), context).toEqual(Array.from({ length: found }, (_, i) => BigInt(i)));
    for (const { timeNs, fields } of bodies) {
      expect(timeNs, context).toBe((fields["v"] as bigint) * 86_400_000_000_000n);
      expect(fields["text"], context).toBe("some text that is not short");
    }
    const series = rows.filter(({ tags }) => tags["s"] === "a");
    expect(series.length, context).toBe(found > 0 ? 1 : 0);
    if (found > 0) {
      const expected: Record<string, bigint> = { last: BigInt(found - 1) };
      for (let i = 0; i < found; i++) expected[`f${i % 3}`] = BigInt(i);
      expect(series[0]!.fields, context).toEqual(expected);
    }
    // and the server goes on from there
    await path.write("t,s=after v=100i 1");
    await path.flush();
    expect((await path.rows("t")).length, context).toBe(rows.length + 1);
    await path.close();
  });
  expect(runs).toBeGreaterThan(50);
});

test("series that come while a flush is encoded do not disturb it, nor the statements meanwhile", async () => {
  const path = await WritePath.open(new FaultyDisk());
  // values too long to be kept in a view, and enough of both that every array of the dictionary moves
  const body = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `t,host=a\\ host\\ with\\ a\\ long\\ name\\ ${from + i} v=${from + i}i 1`).join("\n");
  const hosts = async () => {
    return (await path.rows("t")).map(({ tags, fields }) => `${tags["host"]}=${fields["v"]}`).sort();
  };
  const expected = (count: number) => Array.from({ length: count }, (_, i) => `a host with a long name ${i}=${i}`).sort();
  await path.write(body(0, 50));
  let meanwhile: string[] = [];
  path.beforeEncode = async () => {
    path.beforeEncode = () => Promise.resolve();
    await path.write(body(50, 3000));
    meanwhile = await hosts();
  };
  await path.flush();
  expect(meanwhile).toEqual(expected(3000));
  expect(await hosts()).toEqual(expected(3000));
  await path.close();
});

test("every snapshot taken during a flush sees each row once", async () => {
  const path = await WritePath.open(new FaultyDisk());
  await path.write("t,h=a v=1 1\nt,h=b v=2 2");
  const counts = new Set<number>();
  let isFlushed = false;
  const flush = path.flush().then(() => {
    isFlushed = true;
  });
  while (!isFlushed) {
    counts.add((await path.rows("t")).length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await flush;
  counts.add((await path.rows("t")).length);
  expect(counts).toEqual(new Set([2]));
  await path.close();
});

test("a barrier that waits for a flush finds room in the log that others have used meanwhile", async () => {
  const disk = new FaultyDisk();
  const path = await WritePath.open(disk);
  await path.write("t,h=a v=1 1");
  const { promise: encoding, resolve: isEncoding } = Promise.withResolvers<void>();
  const { promise: mayEncode, resolve: encode } = Promise.withResolvers<void>();
  path.beforeEncode = () => {
    isEncoding();
    return mayEncode;
  };
  const flushed = path.flush();
  await encoding;
  const barrier = path.barrier().then(
    () => null,
    (error: TsdbError) => error.kind,
  );
  await path.wal.makeRoom(0);
  // the disk has space for the file of the flush, not for a longer log
  disk.refuse = (operation, path) => (operation === "take space for" && path.startsWith("wal/") ? "ENOSPC" : undefined);
  while (path.wal.hasRoom(EMPTY_FRAME.byteLength)) path.wal.append(EMPTY_FRAME);
  await path.wal.flushed();
  encode();
  await flushed.catch(() => {});
  expect([await barrier, path.wal.failed]).toEqual(["no_space", null]);
  disk.refuse = () => undefined;
  expect(await path.rows("t")).toHaveLength(1);
  await path.close();
});
