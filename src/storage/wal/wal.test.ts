// Appending: groups, segments, order, failure, and what a crash at any call leaves.
import { describe, expect, test } from "bun:test";
import { kindOf } from "../../../test/conformance/object-store.ts";
import { prng } from "../../../test/support/prng.ts";
import { FaultyDisk, type FaultyDiskOptions } from "../../../test/support/storage/faulty-disk.ts";
import { framesOf, payloadOf, readBack, segmentNumbers, WAL_FOLDER } from "../../../test/support/storage/wal.ts";
import type { TsdbError } from "../../model/errors.ts";
import { segmentPath } from "./segment-files.ts";
import { type GroupReport, Wal, type WalOptions } from "./wal.ts";

async function openWal(disk: FaultyDisk, options: WalOptions = {}, afterSequence = 0): Promise<Wal> {
  const { result } = await readBack(disk, { afterSequence });
  return Wal.open(disk, WAL_FOLDER, result, options);
}

/** Everything that was ready to run has run. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** More turns than a group waits for company. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn();
}

describe("append", () => {
  test("frames come back in order, over restarts, each time in a new segment", async () => {
    const disk = new FaultyDisk();
    for (let start = 0; start < 3; start++) {
      const wal = await openWal(disk);
      expect(wal.lastSequence).toBe(start * 4);
      for (let i = 1; i <= 4; i++) expect(wal.append(payloadOf(start * 4 + i)).sequence).toBe(start * 4 + i);
      await wal.close();
    }
    const { frames, result } = await readBack(disk);
    expect(frames).toEqual(framesOf(1, 12));
    expect(result.segments.map(({ number }) => number)).toEqual([1, 5, 9]);
    expect(result.damage).toEqual([]);
  });

  test("a payload may come in pieces, be empty, be large, and is copied at once", async () => {
    const disk = new FaultyDisk();
    const wal = await openWal(disk);
    const reused = new Uint8Array([1, 2, 3]);
    wal.append([reused, new Uint8Array(0), reused]);
    reused.fill(9);
    wal.append(new Uint8Array(0));
    const shared = new Uint8Array(new SharedArrayBuffer(9 << 20)).fill(5);
    wal.append(shared);
    await wal.close();
    const { frames } = await readBack(disk);
    expect(frames.map(({ payload }) => payload.byteLength)).toEqual([6, 0, 9 << 20]);
    expect([...frames[0]!.payload]).toEqual([1, 2, 3, 1, 2, 3]);
    expect(frames[2]!.payload.every((byte) => byte === 5)).toBe(true);
  });

  test("frames of one step share a group; those that come while it is written share the next", async () => {
    const disk = new FaultyDisk();
    const groups: GroupReport[] = [];
    const wal = await openWal(disk, { onGroup: (report) => groups.push(report) });
    const { promise: after, resolve } = Promise.withResolvers<void>();
    const first = [1, 2, 3].map((sequence) => wal.append(payloadOf(sequence), { after }).synced);
    await quiet(); // the writer has taken the group
    const second = [4, 5].map((sequence) => wal.append(payloadOf(sequence)).synced);
    resolve();
    expect(wal.pendingBytes).toBeGreaterThan(5 * 24);
    await Promise.all([...first, ...second]);
    expect(groups.map(({ frameCount }) => frameCount)).toEqual([3, 2]);
    expect(wal.pendingBytes).toBe(0);
  });

  test("frames of one turn of the event loop share a group", async () => {
    const groups: GroupReport[] = [];
    const wal = await openWal(new FaultyDisk(), { onGroup: (report) => groups.push(report) });
    const { synced } = wal.append(payloadOf(1));
    for (let i = 0; i < 10; i++) await Promise.resolve();
    wal.append(payloadOf(2));
    await synced;
    expect(groups.map(({ frameCount }) => frameCount)).toEqual([2]);
  });

  test("with a flush interval a group waits for company, and close does not wait for the interval", async () => {
    const groups: GroupReport[] = [];
    const disk = new FaultyDisk();
    const wal = await openWal(disk, { flushIntervalMs: 3_600_000, onGroup: (report) => groups.push(report) });
    wal.append(payloadOf(1));
    await quiet();
    wal.append(payloadOf(2));
    expect(groups).toEqual([]);
    await wal.close();
    expect(groups.map(({ frameCount }) => frameCount)).toEqual([2]);
  });

  test("a frame is not written before what it depends on", async () => {
    const disk = new FaultyDisk();
    const wal = await openWal(disk);
    const { promise, resolve } = Promise.withResolvers<void>();
    let synced = false;
    const appended = wal.append(payloadOf(1), { after: promise });
    void appended.synced.then(() => {
      synced = true;
    });
    await quiet();
    expect(synced).toBe(false);
    expect(segmentNumbers(disk)).toEqual([]);
    resolve();
    await appended.synced;
    expect((await readBack(disk)).frames).toEqual(framesOf(1, 1));
  });

  test("a dependency that fails fails the log", async () => {
    const wal = await openWal(new FaultyDisk());
    const { synced } = wal.append(payloadOf(1), { after: Promise.reject(new Error("catalog")) });
    expect(await kindOf(synced)).toBe("unavailable");
    expect(wal.failed?.message).toBe("the write-ahead log has failed: catalog");
  });
});

describe("segments", () => {
  test("rotate sends following frames to a new segment, in the middle of a group too", async () => {
    const disk = new FaultyDisk();
    const wal = await openWal(disk);
    expect(wal.segmentNumber).toBe(1);
    wal.rotate();
    expect(wal.segmentNumber).toBe(1);
    wal.append(payloadOf(1));
    wal.append(payloadOf(2));
    wal.rotate();
    expect(wal.segmentNumber).toBe(3);
    wal.append(payloadOf(3));
    await wal.close();
    const seen: number[] = [];
    await readBack(disk, { onFrame: (_sequence, _payload, segmentNumber) => void seen.push(segmentNumber) });
    expect(seen).toEqual([1, 1, 3]);
    expect(disk.paths()).toEqual(["wal.newest", "wal/00000000000000000001.wal", "wal/00000000000000000003.wal"]);
  });

  test("segmentFull is set at segmentBytesMax", async () => {
    const wal = await openWal(new FaultyDisk(), { segmentBytesMax: 100 });
    wal.append(new Uint8Array(10));
    expect(wal.segmentFull).toBe(false);
    wal.append(new Uint8Array(10));
    expect(wal.segmentBytes).toBe(32 + 2 * (24 + 10));
    expect(wal.segmentFull).toBe(true);
    wal.rotate();
    expect(wal.segmentFull).toBe(false);
    await wal.close();
  });

  test("cut deletes what is covered, also segments found at start, never the current one", async () => {
    const disk = new FaultyDisk();
    let wal = await openWal(disk);
    for (let sequence = 1; sequence <= 6; sequence++) {
      wal.append(payloadOf(sequence));
      if (sequence % 2 === 0) wal.rotate();
    }
    await wal.close();
    wal = await openWal(disk);
    await wal.append(payloadOf(7)).synced;
    const names = () => segmentNumbers(disk);
    await wal.cut(1);
    expect(names()).toEqual([1, 3, 5, 7]);
    await wal.cut(5);
    expect(names()).toEqual([5, 7]);
    await Promise.all([wal.cut(7), wal.cut(7)]);
    expect(names()).toEqual([7]); // still the file being written
    wal.rotate();
    await wal.cut(7);
    expect(names()).toEqual([]);
    wal.append(payloadOf(8));
    await wal.close();
    expect((await readBack(disk, { afterSequence: 7 })).frames).toEqual(framesOf(8, 8));
  });

  test("a cut that stops halfway leaves no gap: the oldest segments go first", async () => {
    for (let failAt = 1, clean = false; !clean; failAt++) {
      const disk = new FaultyDisk();
      const wal = await openWal(disk);
      for (let sequence = 1; sequence <= 4; sequence++) {
        await wal.append(payloadOf(sequence)).synced;
        wal.rotate();
      }
      await wal.close();
      const failing = disk.afterKill({ failAt });
      await readBack(failing, { afterSequence: 0 })
        .then(({ result }) => Wal.open(failing, WAL_FOLDER, result))
        .then((reopened) => reopened.cut(3))
        .catch(() => {});
      clean = !failing.fired;
      const numbers = segmentNumbers(failing);
      expect(numbers).toEqual([1, 2, 3, 4].slice(-numbers.length));
    }
  });

  test("cut waits for frames that are on their way to a segment it deletes", async () => {
    const disk = new FaultyDisk();
    const wal = await openWal(disk);
    const { synced } = wal.append(payloadOf(1));
    wal.rotate();
    await wal.cut(1);
    await synced;
    expect(segmentNumbers(disk)).toEqual([]);
  });
});

describe("failure", () => {
  test("a failed write or sync fails every waiting and later append, and nothing is written again", async () => {
    const disk = new FaultyDisk();
    const failures: TsdbError[] = [];
    const wal = await openWal(disk, { onFailure: (error) => failures.push(error) });
    await wal.append(payloadOf(1)).synced;
    const written: string[] = [];
    disk.refuse = (operation, path) => {
      if (!path.endsWith(".wal") || operation !== "write to") return undefined;
      written.push(operation);
      return "EIO";
    };
    const { promise: after, resolve } = Promise.withResolvers<void>();
    const second = wal.append(payloadOf(2), { after });
    await quiet();
    const third = wal.append(payloadOf(3)); // in the next group
    resolve();
    expect(await Promise.all([kindOf(second.synced), kindOf(third.synced)])).toEqual(["unavailable", "unavailable"]);
    disk.refuse = () => undefined;
    expect(failures.map(({ kind }) => kind)).toEqual(["unavailable"]);
    expect(failures[0]!.message).toContain("cannot write to wal/00000000000000000001.wal");
    expect(() => wal.append(payloadOf(4))).toThrow("the write-ahead log has failed");
    expect(await kindOf(wal.flushed())).toBe("unavailable");
    await quiet();
    expect(written).toEqual(["write to"]);
    expect((await readBack(disk)).frames).toEqual(framesOf(1, 1));
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  const FRAMES = 12;
  /** Frames take 25 to 64 bytes each: space is taken again and again. */
  const SMALL_STEPS = { min: 50, max: 200 };

  /** Writes with rotation and cuts until something fails. Returns the newest sequence acknowledged and the cut asked for. */
  async function writeUntilError(disk: FaultyDisk, below: (n: number) => number): Promise<{ acked: number; cut: number }> {
    let acked = 0;
    let cut = 0;
    try {
      const wal = await openWal(disk, { stepBytes: SMALL_STEPS });
      for (let sequence = 1; sequence <= FRAMES; ) {
        const batch = Array.from({ length: 1 + below(3) }, () => wal.append(payloadOf(sequence++)));
        if (below(4) === 0) wal.rotate();
        for (const { sequence: done, synced } of batch) {
          await synced;
          acked = done;
        }
        if (below(4) === 0) {
          cut = acked - 1;
          await wal.cut(cut);
        }
      }
      await wal.close();
    } catch {
      // the injected fault
    }
    return { acked, cut };
  }

  test.each([1, 2, 3, 4, 5])(
    `whichever call fails, what replays is a prefix, at least what was acknowledged (seed ${SEED}, %d)`,
    async (run) => {
      for (let failAt = 1, clean = false; !clean; failAt++) {
        const below = prng(SEED * 1000 + run);
        const options: FaultyDiskOptions = { failAt, ...(run > 1 && { below: prng(SEED * 7919 + run * 101 + failAt) }) };
        const disk = new FaultyDisk(options);
        const { acked, cut } = await writeUntilError(disk, below);
        clean = !disk.fired;
        const after = disk.afterCrash();
        const { frames, result } = await readBack(after, { afterSequence: cut });
        const last = frames.at(-1)?.sequence ?? cut;
        expect(last).toBeGreaterThanOrEqual(acked);
        expect(frames).toEqual(framesOf(cut + 1, last));
        expect(result.lastSequence).toBe(last);
        // The log goes on behind it, and a second crash changes nothing.
        const wal = await Wal.open(after, WAL_FOLDER, result);
        await wal.append(payloadOf(last + 1)).synced;
        const again = await readBack(after.afterCrash(), { afterSequence: cut });
        expect(again.frames).toEqual(framesOf(cut + 1, last + 1));
        expect(again.result.damage).toEqual([]);
      }
    },
  );

  test(`replay may fail and be cut short too: nothing acknowledged is lost (seed ${SEED})`, async () => {
    const planted = new FaultyDisk({ below: prng(SEED) });
    const wal = await openWal(planted);
    for (let sequence = 1; sequence <= 4; sequence++) wal.append(payloadOf(sequence));
    await wal.close();
    const path = segmentPath(WAL_FOLDER, 1);
    const bytes = planted.peek(path)!;
    for (let failAt = 1, clean = false; !clean; failAt++) {
      const disk = new FaultyDisk({ failAt, below: prng(SEED + failAt) });
      disk.plant(path, bytes.subarray(0, bytes.byteLength - 3)); // a torn tail: replay cuts it
      disk.plant("wal/00000000000000000099.txt", new Uint8Array(1));
      await readBack(disk).catch(() => {});
      clean = !disk.fired;
      expect((await readBack(disk.afterCrash())).frames).toEqual(framesOf(1, 3));
    }
  });
});
