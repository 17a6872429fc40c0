// Reading damaged logs: tables of torn, misordered and corrupt records, every cut and every flipped byte of a small log, and an old file.
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { FaultyDisk } from "../../../test/support/storage/faulty-disk.ts";
import { framesOf, payloadOf, readBack, segmentNumbers, WAL_FOLDER } from "../../../test/support/storage/wal.ts";
import { TsdbError } from "../../model/errors.ts";
import { encodeSegmentHeader, FRAME_HEADER_BYTES, FrameWindow, SEGMENT_HEADER_BYTES, writeFrame } from "./frame.ts";
import { segmentPath } from "./segment-files.ts";
import { Wal } from "./wal.ts";

const SALT = 0xfeedbeef;

interface FrameSpec {
  readonly sequence: number;
  /** True: first of its group. */
  readonly group?: boolean;
}

/** A segment as the log writes it. */
function segmentOf(first: number, frames: readonly FrameSpec[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [encodeSegmentHeader({ salt: SALT, firstSequence: first })];
  let groupOffset = 0;
  for (const { sequence, group = false } of frames) {
    const payload = payloadOf(sequence);
    const bytes = new Uint8Array(FRAME_HEADER_BYTES + payload.byteLength);
    if (group) groupOffset = 0;
    writeFrame(bytes, 0, { sequence, groupOffset, salt: SALT, payloadBytes: payload.byteLength }, [payload]);
    groupOffset += bytes.byteLength;
    parts.push(bytes);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Groups of the sequences given: [[1, 2], [3]] is two groups. */
const groups = (...lists: number[][]): FrameSpec[] => lists.flatMap((list) => list.map((sequence, i) => ({ sequence, group: i === 0 })));

/** Offset of the n-th frame (0-based) in a segment of payloadOf frames. */
function frameOffset(first: number, n: number): number {
  let offset = SEGMENT_HEADER_BYTES;
  for (let i = 0; i < n; i++) offset += FRAME_HEADER_BYTES + payloadOf(first + i).byteLength;
  return offset;
}

function diskWith(segments: readonly [number: number, bytes: Uint8Array][]): FaultyDisk {
  const disk = new FaultyDisk();
  for (const [number, bytes] of segments) disk.plant(segmentPath(WAL_FOLDER, number), bytes);
  return disk;
}

function flipped(bytes: Uint8Array, offset: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  copy[offset]! ^= 0x10;
  return copy;
}

const zeroed = (bytes: Uint8Array, from: number, to: number) => new Uint8Array(bytes).fill(0, from, to);
const concat = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const ONE_TO_SIX = segmentOf(1, groups([1, 2], [3], [4, 5, 6]));
const at = (n: number) => frameOffset(1, n);

describe("a torn tail of the last segment is cut and reported", () => {
  const TORN: [title: string, bytes: Uint8Array, last: number, cutAt: number][] = [
    ["inside a frame header", ONE_TO_SIX.subarray(0, at(5) + 10), 5, at(5)],
    ["inside a payload", ONE_TO_SIX.subarray(0, at(6) - 1), 5, at(5)],
    ["a wrong checksum at the end", flipped(ONE_TO_SIX, at(6) - 1), 5, at(5)],
    ["zeros inside of the last group", zeroed(ONE_TO_SIX, at(4) + 5, at(5)), 4, at(4)],
    ["the last group begins with zeros", zeroed(ONE_TO_SIX, at(3), at(4)), 3, at(3)],
    ["a torn frame before zeros", concat(ONE_TO_SIX.subarray(0, at(6) - 1), new Uint8Array(9000)), 5, at(5)],
    ["garbage behind the last frame", concat(ONE_TO_SIX, new Uint8Array([1, 2, 3])), 6, at(6)],
    ["the last group written out of order: its first frame is bad, its others are good", flipped(ONE_TO_SIX, at(3) + 30), 3, at(3)],
    ["the same in the middle of the group", flipped(ONE_TO_SIX, at(4) + 30), 4, at(4)],
    ["the last group's first frame claims 4 GiB", concat(ONE_TO_SIX.subarray(0, at(5)), new Uint8Array(30).fill(255)), 5, at(5)],
    ["a repeated frame", segmentOf(1, groups([1, 2, 3], [3])), 3, at(3)],
  ];
  test.each(TORN)("%s", async (_title, bytes, last, cutAt) => {
    for (const failOnError of [true, false]) {
      const disk = diskWith([[1, bytes]]);
      const { frames, result } = await readBack(disk, { failOnError });
      expect(frames).toEqual(framesOf(1, last));
      expect(result.lastSequence).toBe(last);
      expect(result.damage).toMatchObject([
        { kind: "tail", file: segmentPath(WAL_FOLDER, 1), offset: cutAt, bytesLost: bytes.byteLength - cutAt },
      ]);
      expect(disk.peek(segmentPath(WAL_FOLDER, 1))!.byteLength).toBe(cutAt);
      const again = await readBack(disk.afterCrash());
      expect(again.frames).toEqual(framesOf(1, last));
      expect(again.result.damage).toEqual([]);
    }
  });

  const SPACE: [title: string, bytes: Uint8Array, last: number][] = [
    ["behind the last frame", concat(ONE_TO_SIX, new Uint8Array(100)), 6],
    ["of more than a chunk", concat(ONE_TO_SIX, new Uint8Array(9 << 20)), 6],
    ["of one byte", concat(ONE_TO_SIX, new Uint8Array(1)), 6],
    ["where the last group was to be", concat(ONE_TO_SIX.subarray(0, at(3)), new Uint8Array(100)), 3],
  ];
  test.each(SPACE)("space that was taken and not used, %s, is the end and no damage", async (_title, bytes, last) => {
    const disk = diskWith([[1, bytes]]);
    const { frames, result } = await readBack(disk);
    expect([frames, result.damage]).toEqual([framesOf(1, last), []]);
    expect(disk.peek(segmentPath(WAL_FOLDER, 1))!.byteLength).toBe(at(last));
    // also before another segment, if that one follows
    const follows = diskWith([
      [1, bytes],
      [last + 1, segmentOf(last + 1, groups([last + 1]))],
    ]);
    expect((await readBack(follows)).frames).toEqual(framesOf(1, last + 1));
    const gap = diskWith([
      [1, bytes],
      [last + 2, segmentOf(last + 2, groups([last + 2]))],
    ]);
    await expect(readBack(gap)).rejects.toMatchObject({ kind: "corrupt_file", details: { kind: "missing" } });
  });

  test.each([0, 1, 31, 32])("a last segment of %d bytes is deleted without a word", async (sizeBytes) => {
    const disk = diskWith([
      [1, ONE_TO_SIX],
      [7, segmentOf(7, []).subarray(0, sizeBytes)],
    ]);
    const { frames, result } = await readBack(disk);
    expect(frames).toEqual(framesOf(1, 6));
    expect(result.damage).toEqual([]);
    expect(segmentNumbers(disk)).toEqual([1]);
    const wal = await Wal.open(disk, WAL_FOLDER, result);
    await wal.append(payloadOf(7)).synced; // under the same name again
    expect((await readBack(disk.afterCrash())).frames).toEqual(framesOf(1, 7));
  });

  test("an empty folder, a missing folder", async () => {
    expect((await readBack(new FaultyDisk())).result).toEqual({
      lastSequence: 0,
      frameCount: 0,
      payloadBytes: 0,
      segments: [],
      damage: [],
    });
    expect((await readBack(new FaultyDisk(), { afterSequence: 41 })).result.lastSequence).toBe(41);
  });
});

describe("corruption is named, or skipped on demand", () => {
  const SECOND = segmentOf(7, groups([7], [8, 9]));
  const without = (bytes: Uint8Array, from: number, to: number) => concat(bytes.subarray(0, from), bytes.subarray(to));
  type Found = { sequences: number[]; kind: string; framesLost: number | null };
  const CORRUPT: [title: string, segments: [number, Uint8Array][], file: number, offset: number, found: Found][] = [
    [
      "a bad frame before a good group",
      [[1, flipped(ONE_TO_SIX, at(1) + 30)]],
      1,
      at(1),
      { sequences: [1, 3, 4, 5, 6], kind: "middle", framesLost: 1 },
    ],
    ["a bad first frame", [[1, flipped(ONE_TO_SIX, at(0) + 5)]], 1, at(0), { sequences: [2, 3, 4, 5, 6], kind: "middle", framesLost: 1 }],
    [
      "a bad frame of a group that others follow",
      [[1, flipped(segmentOf(1, groups([1, 2, 3], [4])), at(1))]],
      1,
      at(1),
      { sequences: [1, 3, 4], kind: "middle", framesLost: 1 },
    ],
    [
      "a frame is cut out",
      [[1, without(ONE_TO_SIX, at(2), at(3))]],
      1,
      at(2),
      { sequences: [1, 2, 4, 5, 6], kind: "middle", framesLost: 1 },
    ],
    [
      "a frame's length is wrong",
      [[1, flipped(ONE_TO_SIX, at(2))]],
      1,
      at(2),
      { sequences: [1, 2, 4, 5, 6], kind: "middle", framesLost: 1 },
    ],
    ["unknown flags", [[1, flipped(ONE_TO_SIX, at(2) + 20)]], 1, at(2), { sequences: [1, 2, 4, 5, 6], kind: "middle", framesLost: 1 }],
    [
      "frames in another order",
      [[1, segmentOf(1, groups([1], [3], [2], [4]))]],
      1,
      frameOffset(1, 1),
      { sequences: [1, 3, 4], kind: "middle", framesLost: 1 },
    ],
    [
      "the end of a segment that is not the last",
      [
        [1, ONE_TO_SIX.subarray(0, at(5) + 3)],
        [7, SECOND],
      ],
      1,
      at(5),
      { sequences: [1, 2, 3, 4, 5, 7, 8, 9], kind: "middle", framesLost: 1 },
    ],
    [
      "a segment without its header",
      [
        [1, flipped(ONE_TO_SIX, 3)],
        [7, SECOND],
      ],
      1,
      0,
      { sequences: [1, 2, 3, 4, 5, 6, 7, 8, 9], kind: "middle", framesLost: 0 },
    ],
    [
      "a segment of which nothing is left",
      [
        [1, new Uint8Array(200)],
        [7, SECOND],
      ],
      1,
      0,
      { sequences: [7, 8, 9], kind: "middle", framesLost: 6 },
    ],
    [
      "the last segment's salt",
      [
        [1, ONE_TO_SIX],
        [7, flipped(SECOND, 13)],
      ],
      7,
      0,
      { sequences: [1, 2, 3, 4, 5, 6], kind: "middle", framesLost: null },
    ],
    ["a segment under another name", [[1, segmentOf(2, groups([2], [3]))]], 1, 0, { sequences: [2, 3], kind: "middle", framesLost: 1 }],
    [
      "a missing segment",
      [
        [1, segmentOf(1, groups([1, 2]))],
        [7, SECOND],
      ],
      7,
      SEGMENT_HEADER_BYTES,
      { sequences: [1, 2, 7, 8, 9], kind: "missing", framesLost: 4 },
    ],
    ["a missing first segment", [[7, SECOND]], 7, SEGMENT_HEADER_BYTES, { sequences: [7, 8, 9], kind: "missing", framesLost: 6 }],
  ];
  test.each(CORRUPT)("%s", async (_title, segments, file, offset, found) => {
    const path = segmentPath(WAL_FOLDER, file);
    try {
      await readBack(diskWith(segments));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(TsdbError);
      const { kind, details, message } = error as TsdbError;
      expect(kind).toBe("corrupt_file");
      expect(details).toMatchObject({ file: path, offset, kind: found.kind });
      expect(message).toContain(`${path} at byte ${offset}`);
      expect(message).toContain("--wal-replay-fail-on-error=false");
    }
    const disk = diskWith(segments);
    const { frames, result } = await readBack(disk, { failOnError: false });
    expect(frames).toEqual(found.sequences.map((sequence) => ({ sequence, payload: payloadOf(sequence) })));
    expect(result.damage[0]).toMatchObject({ file: path, offset, kind: found.kind as never, framesLost: found.framesLost });
    // The log goes on, and what it writes is found again.
    const wal = await Wal.open(disk, WAL_FOLDER, result);
    const { sequence } = wal.append(payloadOf(99));
    expect(sequence).toBeGreaterThan(found.sequences.at(-1)!);
    await wal.close();
    const again = await readBack(disk, { failOnError: false });
    expect(again.frames.map((frame) => frame.sequence)).toEqual([...found.sequences, sequence]);
  });

  test("segments whose rows are in files may be missing or damaged, and are not read", async () => {
    const disk = diskWith([
      [1, flipped(ONE_TO_SIX, at(1))],
      [7, SECOND],
    ]);
    expect((await readBack(disk, { afterSequence: 6 })).frames).toEqual(framesOf(7, 9));
    expect((await readBack(disk, { afterSequence: 8 })).frames).toEqual(framesOf(9, 9));
    expect((await readBack(disk, { afterSequence: 20 })).result.lastSequence).toBe(20);
    expect((await readBack(diskWith([[7, SECOND]]), { afterSequence: 7 })).frames).toEqual(framesOf(8, 9));
  });

  test("the log continues behind what is taken, and the gap that this leaves is none", async () => {
    const disk = diskWith([[1, ONE_TO_SIX]]);
    expect((await readBack(disk, { takenSequences: [3, 5] })).result.lastSequence).toBe(6);
    const { result, frames } = await readBack(disk, { takenSequences: [9, 4] });
    expect([result.lastSequence, frames]).toEqual([9, framesOf(1, 6)]);
    const wal = await Wal.open(disk, WAL_FOLDER, result);
    expect(wal.append(payloadOf(10)).sequence).toBe(10);
    await wal.close();
    const again = await readBack(disk, { takenSequences: [4, 9] });
    expect([again.frames, again.result.damage]).toEqual([[...framesOf(1, 6), ...framesOf(10, 10)], []]);
    // any other gap is one
    for (const takenSequences of [[], [8], [10]]) {
      await expect(readBack(disk, { takenSequences })).rejects.toMatchObject({ kind: "corrupt_file", details: { kind: "missing" } });
    }
  });

  test("text that looks like a frame is no frame: the salt is not known to who wrote it", async () => {
    const forged = new Uint8Array(FRAME_HEADER_BYTES + 4);
    writeFrame(forged, 0, { sequence: 3, groupOffset: 0, salt: 0, payloadBytes: 4 }, [new Uint8Array(4)]);
    const disk = new FaultyDisk();
    const wal = await Wal.open(disk, WAL_FOLDER, (await readBack(disk)).result);
    wal.append(payloadOf(1));
    wal.append(forged);
    await wal.close();
    const path = segmentPath(WAL_FOLDER, 1);
    const { frames, result } = await readBack(diskWith([[1, flipped(disk.peek(path)!, at(1) + 4)]]), { failOnError: false });
    expect(frames).toEqual(framesOf(1, 1));
    expect(result.damage).toMatchObject([{ kind: "tail" }]);
  });
});

describe("every cut, every flipped byte", () => {
  const SEGMENTS: [number, Uint8Array<ArrayBuffer>][] = [
    [1, segmentOf(1, groups([1, 2], [3]))],
    [4, segmentOf(4, groups([4], [5, 6, 7]))],
  ];
  const sizeOf = (i: number) => SEGMENTS[i]![1].byteLength;

  test("the last segment cut at every offset gives a prefix", async () => {
    for (let cutAt = 0; cutAt <= sizeOf(1); cutAt++) {
      const disk = diskWith([SEGMENTS[0]!, [4, SEGMENTS[1]![1].subarray(0, cutAt)]]);
      const { frames, result } = await readBack(disk);
      let whole = 3;
      while (whole < 7 && frameOffset(4, whole - 2) <= cutAt) whole++;
      expect(frames).toEqual(framesOf(1, whole));
      expect((await readBack(disk.afterCrash())).result).toEqual({ ...result, damage: [] });
    }
  });

  test("the first segment cut at any offset is named", async () => {
    for (let cutAt = 0; cutAt < sizeOf(0); cutAt++) {
      const disk = diskWith([[1, SEGMENTS[0]![1].subarray(0, cutAt)], SEGMENTS[1]!]);
      const error = await readBack(disk).then(
        () => null,
        (caught: TsdbError) => caught,
      );
      expect(error?.kind, `cut at ${cutAt}`).toBe("corrupt_file");
    }
  });

  test("a flipped byte anywhere gives a prefix or names the corruption; skipping loses one frame at most, or the segment with its salt", async () => {
    for (const [i, [number, bytes]] of SEGMENTS.entries()) {
      for (let offset = 0; offset < bytes.byteLength; offset++) {
        const damaged = SEGMENTS.map((segment, k): [number, Uint8Array] => (k === i ? [number, flipped(bytes, offset)] : segment));
        const strict = await readBack(diskWith(damaged)).catch((caught: unknown) => caught as TsdbError);
        if (strict instanceof Error) {
          expect(strict.kind).toBe("corrupt_file");
          expect(strict.details["file"]).toBe(segmentPath(WAL_FOLDER, number));
        } else {
          const last = strict.frames.at(-1)!.sequence;
          expect(i === 1 && last >= 4, `byte ${offset} of segment ${number} gave ${last} frames`).toBe(true); // only the last group may be cut
          expect(strict.frames).toEqual(framesOf(1, last));
          expect(strict.result.damage).toHaveLength(1);
        }
        const { frames, result } = await readBack(diskWith(damaged), { failOnError: false });
        expect(result.damage.length).toBeGreaterThan(0);
        for (const frame of frames) expect(frame).toEqual(framesOf(frame.sequence, frame.sequence)[0]!);
        const saltDamaged = offset >= 12 && offset < 16;
        expect(frames.length).toBeGreaterThanOrEqual(saltDamaged || i === 1 ? 3 : 6);
      }
    }
  });
});

test("chunks: frames over chunk borders, a frame larger than a chunk, progress, and a consumer that takes its time", async () => {
  const disk = new FaultyDisk();
  const wal = await Wal.open(disk, WAL_FOLDER, (await readBack(disk)).result);
  const sizes = [3_000_000, 1_500_000, 10, 9_000_000, 4_194_304 - 24, 4_194_304, 1];
  for (const [i, size] of sizes.entries()) wal.append(new Uint8Array(size).fill(i + 1));
  await wal.close();
  const seen: number[] = [];
  const progress: [number, number][] = [];
  const { result } = await readBack(disk, {
    onFrame: async (sequence, payload) => {
      await Promise.resolve();
      expect(payload.every((byte) => byte === sequence)).toBe(true);
      seen.push(payload.byteLength);
    },
    onProgress: (done, total) => progress.push([done, total]),
  });
  expect(seen).toEqual(sizes);
  expect(result.payloadBytes).toBe(sizes.reduce((sum, size) => sum + size));
  const total = disk.peek(segmentPath(WAL_FOLDER, 1))!.byteLength;
  expect(progress.at(-1)).toEqual([total, total]);
  expect(progress.every(([done], i) => i === 0 || done >= progress[i - 1]![0])).toBe(true);
});

test("a header from 2^32 on, and one beyond 2^53", () => {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES);
  writeFrame(bytes, 0, { sequence: 2 ** 40 + 7, groupOffset: 0, salt: 1, payloadBytes: 0 }, []);
  const window = new FrameWindow(bytes, 1);
  expect(window.sequence(0)).toBe(2 ** 40 + 7);
  bytes[15] = 1;
  expect(window.sequence(0)).toBeNaN();
});

test("format 1: the segment written by the first release still reads, and today's bytes are the same", async () => {
  const golden = `${import.meta.dir}/../../../test/golden/format-v1/00000000000000000001.wal`;
  const disk = new FaultyDisk();
  const wal = await Wal.open(disk, WAL_FOLDER, (await readBack(disk)).result, { newSalt: () => SALT });
  for (let sequence = 1; sequence <= 3; sequence++) wal.append(payloadOf(sequence));
  await wal.flushed();
  wal.append(payloadOf(4));
  await wal.close();
  const written = disk.peek(segmentPath(WAL_FOLDER, 1))!;
  if (process.env["UPDATE"] === "1") writeFileSync(golden, written);
  const kept = new Uint8Array(readFileSync(golden));
  expect(written).toEqual(kept);
  expect((await readBack(diskWith([[1, kept]]))).frames).toEqual(framesOf(1, 4));
});
