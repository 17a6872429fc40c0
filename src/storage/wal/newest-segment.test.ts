// What is known of the newest segment beside the log: its bytes, a loss that it gives away, and every call and every byte of it failing.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { framesOf, payloadOf, readBack, segmentNumbers, WAL_FOLDER } from "../../../test/support/storage/wal.ts";
import type { TsdbError } from "../../model/errors.ts";
import { NewestSegment, newestSegmentPath } from "./newest-segment.ts";
import { segmentPath } from "./segment-files.ts";
import { Wal } from "./wal.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const PATH = newestSegmentPath(WAL_FOLDER);
const STEPS = { min: 300, max: 300 };

/** Frames 1..4 in segment 1 and 5..6 in segment 5, and the process killed. */
async function writtenLog(): Promise<FaultyDisk> {
  const disk = new FaultyDisk();
  const { result } = await readBack(disk);
  const wal = await Wal.open(disk, WAL_FOLDER, result, { stepBytes: STEPS });
  for (let sequence = 1; sequence <= 6; sequence++) {
    if (sequence === 5) wal.rotate();
    await wal.append(payloadOf(sequence)).synced;
  }
  return disk;
}

/** The disk without the file, or with other bytes of it. */
function changed(disk: FaultyDisk, path: string, bytes: Uint8Array | null): FaultyDisk {
  const copy = new FaultyDisk();
  for (const each of disk.paths()) {
    const kept = each === path ? bytes : disk.peek(each)!;
    if (kept !== null) copy.plant(each, kept);
  }
  return copy;
}

const NEWEST = segmentPath(WAL_FOLDER, 5);

describe("a loss at the end of the log", () => {
  type Loss = [title: string, lose: (disk: FaultyDisk) => FaultyDisk, reason: string, at: number, last: number];
  const LOSSES: Loss[] = [
    ["the newest segment", (disk) => changed(disk, NEWEST, null), "the newest segment, with all frames from 5 on, is missing", 0, 4],
    ["its space", (disk) => changed(disk, NEWEST, disk.peek(NEWEST)!.subarray(0, 150)), "ends here and had", 150, 6],
    ["its last frame", (disk) => changed(disk, NEWEST, disk.peek(NEWEST)!.subarray(0, 100)), "ends here and had", 100, 5],
    ["all but its header", (disk) => changed(disk, NEWEST, disk.peek(NEWEST)!.subarray(0, 32)), "ends here and had", 32, 4],
    ["the whole newest segment", (disk) => changed(disk, NEWEST, new Uint8Array(0)), "ends here and had", 0, 4],
  ];
  test.each(LOSSES)("lost at the end of the log: %s; a start fails or reports it", async (_title, lose, reason, offset, last) => {
    const lost = lose(await writtenLog());
    const error = await readBack(lost).then(
      () => null,
      (caught: TsdbError) => caught,
    );
    expect(error?.kind).toBe("corrupt_file");
    expect(error!.details).toMatchObject({ file: NEWEST, offset, kind: "missing" });
    expect(error!.message).toContain(reason);
    expect(error!.message).toContain("--wal-replay-fail-on-error=false");
    const { frames, result } = await readBack(lost, { failOnError: false });
    expect(frames).toEqual(framesOf(1, last));
    expect(result.damage[0]).toMatchObject({ kind: "missing", file: NEWEST, offset });
    // the next start knows what is left, and the log goes on
    expect((await readBack(lost)).frames).toEqual(framesOf(1, last));
    const wal = await Wal.open(lost, WAL_FOLDER, (await readBack(lost)).result);
    await wal.append(payloadOf(last + 1)).synced;
    expect((await readBack(lost)).frames).toEqual(framesOf(1, last + 1));
  });

  test("a lost log folder fails the start or is reported", async () => {
    const disk = new FaultyDisk();
    disk.plant(PATH, (await writtenLog()).peek(PATH)!);
    await expect(readBack(disk)).rejects.toMatchObject({ kind: "corrupt_file", details: { file: NEWEST } });
    const { frames, result } = await readBack(disk, { failOnError: false });
    expect([frames, result.damage.length]).toEqual([[], 1]);
    expect((await readBack(disk)).result.damage).toEqual([]);
  });

  test("there is no newest segment where all of it is in files", async () => {
    const lost = async () => changed(await writtenLog(), NEWEST, null);
    for (const sequence of [5, 6]) expect((await readBack(await lost(), { afterSequence: sequence })).result.damage).toEqual([]);
    await expect(readBack(await lost(), { afterSequence: 4 })).rejects.toMatchObject({ kind: "corrupt_file" });
  });

  test("is not noticed by a log of an older server, which has no such file", async () => {
    const old = changed(changed(await writtenLog(), PATH, null), NEWEST, null);
    expect((await readBack(old)).frames).toEqual(framesOf(1, 4));
  });

  test("a clean end gives the space back, and the start after it finds nothing missing", async () => {
    const disk = new FaultyDisk();
    const wal = await Wal.open(disk, WAL_FOLDER, (await readBack(disk)).result);
    await wal.append(payloadOf(1)).synced;
    await wal.close();
    expect(disk.paths()).toEqual([PATH, segmentPath(WAL_FOLDER, 1)]);
    expect(disk.peek(segmentPath(WAL_FOLDER, 1))!.byteLength).toBe(32 + 24 + payloadOf(1).byteLength);
    expect((await readBack(disk)).frames).toEqual(framesOf(1, 1));
    expect((await readBack(disk.afterCrash())).frames).toEqual(framesOf(1, 1));
  });
});

describe("the file itself", () => {
  test("has the bytes that FORMAT.md draws", async () => {
    const disk = new FaultyDisk();
    const newest = await NewestSegment.open(disk, WAL_FOLDER);
    await newest.write({ segment: 7, bytes: 2 ** 33 + 5 });
    const bytes = disk.peek(PATH)!;
    expect(bytes.byteLength).toBe(8192);
    expect(bytes.subarray(0, 4096).every((byte) => byte === 0)).toBe(true);
    const record = Buffer.from(bytes.subarray(4096, 4144));
    expect(record.toString("latin1", 0, 8)).toBe("TSDBWNS\0");
    expect([record.readUInt32LE(8), record.readUInt32LE(12), record.readUInt32LE(40)]).toEqual([1, 0, 0]);
    expect([16, 24, 32].map((at) => record.readBigUInt64LE(at))).toEqual([1n, 7n, 2n ** 33n + 5n]);
    expect(record.readUInt32LE(44)).toBe(Bun.hash.crc32(record.subarray(0, 44)));
    await newest.write({ segment: 9, bytes: 1 });
    expect(Buffer.from(disk.peek(PATH)!).readBigUInt64LE(24)).toBe(9n);
    expect((await NewestSegment.open(disk, WAL_FOLDER)).known).toMatchObject({ segment: 9, bytes: 1 });
  });

  test("a damaged record leaves the one before; two are an error, and a start on demand", async () => {
    const disk = new FaultyDisk();
    const newest = await NewestSegment.open(disk, WAL_FOLDER);
    await newest.write({ segment: 7, bytes: 10 });
    await newest.write({ segment: 9, bytes: 20 });
    const good = disk.peek(PATH)!;
    for (let offset = 0; offset < 48; offset++) {
      for (const [place, left] of [
        [0, 7],
        [4096, 9],
      ] as const) {
        const bad = changed(disk, PATH, flipped(good, place + offset));
        expect((await NewestSegment.open(bad, WAL_FOLDER)).known.segment, `byte ${place + offset}`).toBe(left);
      }
      const both = changed(disk, PATH, flipped(flipped(good, offset), 4096 + offset));
      await expect(readBack(both)).rejects.toMatchObject({ kind: "corrupt_file", details: { file: PATH } });
      const { result } = await readBack(both, { failOnError: false });
      expect(result.damage).toMatchObject([{ file: PATH }]);
      const wal = await Wal.open(both, WAL_FOLDER, result);
      await wal.append(payloadOf(1)).synced;
      expect((await readBack(both)).frames).toEqual(framesOf(1, 1));
    }
  });

  test(`whichever call fails, it knows one of the two values around the failure (seed ${SEED})`, async () => {
    const runs = await faultLoop(
      prng(SEED),
      async (disk) => {
        let known = 0;
        try {
          const newest = await NewestSegment.open(disk, WAL_FOLDER);
          for (let segment = 1; segment <= 5; segment++) {
            await newest.write({ segment, bytes: segment });
            known = segment;
          }
        } catch {
          // the injected fault
        }
        return known;
      },
      async (disk, known) => {
        const { segment } = (await NewestSegment.open(disk, WAL_FOLDER)).known;
        expect([known, known + 1]).toContain(segment);
      },
    );
    expect(runs).toBeGreaterThan(7);
  });
});

test("a segment is known before its first frame is written", async () => {
  const disk = new FaultyDisk();
  const seen: number[] = [];
  const wal = await Wal.open(disk, WAL_FOLDER, (await readBack(disk)).result, { stepBytes: STEPS });
  disk.refuse = (operation, path) => {
    const header = path.endsWith(".tmp");
    if (operation === "write to" && !header && path !== PATH) seen.push(Number(Buffer.from(disk.peek(PATH)!).readBigUInt64LE(4096 + 24)));
    return undefined;
  };
  await wal.append(payloadOf(1)).synced;
  expect(seen).toEqual([1]);
  expect(segmentNumbers(disk)).toEqual([1]);
});

function flipped(bytes: Uint8Array, offset: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  copy[offset]! ^= 0x10;
  return copy;
}
