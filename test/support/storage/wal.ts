// Frames for tests of the log: payloads that identify their sequence, and reading them back.
import type { Disk } from "../../../src/disk/disk.ts";
import { type ReplayOptions, type ReplayResult, replay } from "../../../src/storage/wal/replay.ts";
import type { FaultyDisk } from "./faulty-disk.ts";

export const WAL_FOLDER = "wal";

/** A payload of 1 to `bytesMax` bytes, unique per sequence. */
export function payloadOf(sequence: number, bytesMax = 40): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(1 + ((sequence * 7) % bytesMax));
  for (let i = 0; i < bytes.byteLength; i++) bytes[i] = (sequence * 31 + i * 17) & 0xff;
  return bytes;
}

/** Numbers of the existing segments, ascending. */
export function segmentNumbers(disk: FaultyDisk): number[] {
  return disk.paths().flatMap((path) => {
    const digits = /^wal\/(\d{20})\.wal$/.exec(path);
    return digits === null ? [] : [Number(digits[1])];
  });
}

export interface FoundFrame {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** Replays everything; payloads are copied. */
export async function readBack(disk: Disk, options: Partial<ReplayOptions> = {}): Promise<{ result: ReplayResult; frames: FoundFrame[] }> {
  const frames: FoundFrame[] = [];
  const onFrame = (sequence: number, payload: Uint8Array) => {
    frames.push({ sequence, payload: payload.slice() });
  };
  const result = await replay(disk, WAL_FOLDER, { afterSequence: 0, failOnError: true, onFrame, ...options });
  return { result, frames };
}

/** The expected result of `readBack` for sequences first..last of `payloadOf`. */
export function framesOf(first: number, last: number): FoundFrame[] {
  const frames: FoundFrame[] = [];
  for (let sequence = first; sequence <= last; sequence++) frames.push({ sequence, payload: payloadOf(sequence) });
  return frames;
}
