// Reads the log at start: every frame not yet in files, in order. A torn tail is cut, corruption is reported. FORMAT.md, "Reading", has the
// rules.
import type { Disk } from "../../disk/disk.ts";
import { TsdbError } from "../../model/errors.ts";
import { SEGMENT_HEADER_BYTES } from "./frame.ts";
import { type KnownSegment, NewestSegment, NO_SEGMENT, newestSegmentPath } from "./newest-segment.ts";
import { listSegments, type SegmentFile, segmentPath } from "./segment-files.ts";
import { type BadSpot, type FoundFrame, type FrameSink, SegmentReader } from "./segment-reader.ts";

export interface ReplayOptions {
  /** Frames up to this sequence are in files: they are skipped, and may be missing. */
  readonly afterSequence: number;
  /** True: corruption is an error. False: it is skipped and reported. */
  readonly failOnError: boolean;
  /** Sequences referenced by durable data outside of the log, such as deletions: the log continues after them, whatever part of it was
   *  lost, so that no new frame reuses such a sequence. */
  readonly takenSequences?: readonly number[];
  /** Nothing is written: a torn tail stays. */
  readonly readOnly?: boolean;
  /** Called for every frame in order. `payload` is borrowed until it returns or its promise settles. */
  readonly onFrame: FrameSink;
  readonly onProgress?: (bytesDone: number, bytesTotal: number) => void;
}

/** A damaged or missing part of the log. */
export interface WalDamage {
  /** tail: cut; never acknowledged, unless the disk damaged it. middle: invalid bytes before valid frames. missing: sequences that no
   *  file contains. */
  readonly kind: "tail" | "middle" | "missing";
  readonly file: string;
  readonly offset: number;
  readonly bytesLost: number;
  /** Number of frames known to be lost; null if unknown. */
  readonly framesLost: number | null;
  readonly reason: string;
}

export interface ReplayResult {
  /** The newest sequence: at least `afterSequence` and all taken ones; new frames continue after it. */
  readonly lastSequence: number;
  /** Frames passed on, and the bytes of their payloads. */
  readonly frameCount: number;
  readonly payloadBytes: number;
  /** Segments in the folder, ascending. */
  readonly segments: readonly SegmentFile[];
  readonly damage: readonly WalDamage[];
}

/** Replays the segments of `folder`. Truncates and syncs the last one, so that everything passed on is durable. @throws TsdbError
 *  corrupt_file { file, offset, bytesLost } if failOnError; io */
export async function replay(disk: Disk, folder: string, options: ReplayOptions): Promise<ReplayResult> {
  const run = new Replay(disk, folder, options);
  return run.run(await listSegments(disk, folder), await run.openNewest());
}

class Replay {
  private last: number;
  private frameCount = 0;
  private payloadBytes = 0;
  private bytesDone = 0;
  private bytesTotal = 0;
  private readonly damage: WalDamage[] = [];

  constructor(
    private readonly disk: Disk,
    private readonly folder: string,
    private readonly options: ReplayOptions,
  ) {
    this.last = options.afterSequence;
  }

  /** @throws TsdbError corrupt_file if failOnError */
  async openNewest(): Promise<NewestSegment> {
    const { disk, folder } = this;
    try {
      return await NewestSegment.open(disk, folder);
    } catch (error) {
      if (!(error instanceof TsdbError) || error.kind !== "corrupt_file") throw error;
      this.corrupt({
        kind: "middle",
        file: newestSegmentPath(folder),
        offset: 0,
        bytesLost: 0,
        framesLost: 0,
        reason: "no record of it is whole",
      });
      return NewestSegment.unknown(disk, folder);
    }
  }

  async run(segments: SegmentFile[], newest: NewestSegment): Promise<ReplayResult> {
    await this.checkNewest(segments, newest.known);
    // Skip segments whose successor begins at or before the first frame to replay.
    const from = Math.max(
      0,
      segments.findLastIndex(({ number }) => number <= this.options.afterSequence + 1),
    );
    const needed = segments.slice(from);
    for (const { path } of needed) this.bytesTotal += (await this.disk.stat(path))?.sizeBytes ?? 0;
    const kept: SegmentFile[] = segments.slice(0, from);
    for (const [i, segment] of needed.entries()) {
      const isLast = i === needed.length - 1;
      const reader = await this.readSegment(segment, isLast);
      if (!isLast || this.options.readOnly || (await this.settle(reader, kept.at(-1), newest))) kept.push(segment);
    }
    // the loss has been reported: do not report it again at the next start
    if (segments.length === 0 && newest.known.segment > 0 && !this.options.readOnly) await newest.write(NO_SEGMENT);
    await newest.close();
    const { last, frameCount, payloadBytes, damage } = this;
    const lastSequence = (this.options.takenSequences ?? []).reduce((max, taken) => Math.max(max, taken), last);
    return { lastSequence, frameCount, payloadBytes, segments: kept, damage };
  }

  /** Checks that the newest recorded segment exists and has not become shorter. */
  private async checkNewest(segments: readonly SegmentFile[], { segment, bytes }: KnownSegment): Promise<void> {
    if (segment <= this.options.afterSequence) return; // all of it is in files
    const last = segments.at(-1)?.number ?? 0;
    if (last > segment) return; // gaps are detected by their sequences
    const file = segmentPath(this.folder, segment);
    if (last < segment) {
      const reason = `the newest segment, with all frames from ${segment} on, is missing`;
      this.corrupt({ kind: "missing", file, offset: 0, bytesLost: bytes, framesLost: null, reason });
      return;
    }
    const sizeBytes = (await this.disk.stat(file))?.sizeBytes ?? 0;
    if (sizeBytes >= bytes) return;
    const reason = `the newest segment ends here and had ${bytes} bytes: frames may be missing`;
    this.corrupt({ kind: "missing", file, offset: sizeBytes, bytesLost: bytes - sizeBytes, framesLost: null, reason });
  }

  /** Passes on the segment's frames. Returns the end of the last valid one. */
  private async readSegment(segment: SegmentFile, isLast: boolean): Promise<{ segment: SegmentFile; sizeBytes: number; end: number }> {
    const reader = await SegmentReader.open(this.disk, segment);
    let end: number;
    try {
      if (isLast && reader.headerProblem !== null && reader.sizeBytes <= SEGMENT_HEADER_BYTES) end = 0;
      else end = await this.readFrames(reader, isLast);
    } finally {
      await reader.close();
    }
    this.bytesDone += reader.sizeBytes;
    this.options.onProgress?.(this.bytesDone, this.bytesTotal);
    return { segment, sizeBytes: reader.sizeBytes, end };
  }

  /** Truncates the last segment, durably, to its valid frames; returns false if there are none and it was deleted. Its record is updated
   *  first. */
  private async settle(
    { segment, sizeBytes, end }: { segment: SegmentFile; sizeBytes: number; end: number },
    before: SegmentFile | undefined,
    newest: NewestSegment,
  ): Promise<boolean> {
    const { disk, folder } = this;
    const { known } = newest;
    const isEmpty = end <= SEGMENT_HEADER_BYTES;
    const [number, bytes] = isEmpty ? [before?.number ?? 0, 0] : [segment.number, end];
    if (known.segment > number || (known.segment === number && known.bytes > bytes)) await newest.write({ segment: number, bytes });
    if (isEmpty) {
      await disk.unlink(segment.path);
      await disk.syncFolder(folder);
      return false;
    }
    if (end < sizeBytes) await disk.truncate(segment.path, end);
    else await disk.syncFile(segment.path);
    return true;
  }

  /** Passes on the segment's frames. Returns the offset after the last valid byte. */
  private async readFrames(reader: SegmentReader, isLast: boolean): Promise<number> {
    const { number, path } = reader.segment;
    // a gap up to a taken sequence is where an earlier start continued, after it reported the loss
    if (number > this.last + 1 && !this.options.takenSequences?.includes(number - 1)) this.missing(path, SEGMENT_HEADER_BYTES, number);
    let expected = number;
    const take: FrameSink = (sequence, payload, segmentNumber) => {
      expected = sequence + 1;
      if (sequence <= this.last) return; // already in files
      this.last = sequence;
      this.frameCount += 1;
      this.payloadBytes += payload.byteLength;
      return this.options.onFrame(sequence, payload, segmentNumber);
    };
    const progress = (offset: number) => this.options.onProgress?.(this.bytesDone + offset, this.bytesTotal);
    let bad: BadSpot | null =
      reader.headerProblem === null
        ? await reader.read(SEGMENT_HEADER_BYTES, expected, take, progress)
        : { offset: 0, reason: reader.headerProblem };
    while (bad !== null) {
      // space reserved for frames that were not written; whether frames are missing shows in the next segment
      if (bad.offset > 0 && (await reader.isZeroFrom(bad.offset))) return bad.offset;
      const searchFrom = Math.max(bad.offset, SEGMENT_HEADER_BYTES);
      const next = await reader.findGood(searchFrom, expected - 1);
      if (isLast && reader.headerProblem === null && (await isTorn(reader, bad, next))) {
        this.damage.push({
          kind: "tail",
          file: path,
          offset: bad.offset,
          bytesLost: reader.sizeBytes - bad.offset,
          framesLost: null,
          reason: bad.reason,
        });
        return bad.offset;
      }
      const resume = next?.offset ?? reader.sizeBytes;
      this.corrupt({
        kind: "middle",
        file: path,
        offset: bad.offset,
        bytesLost: resume - bad.offset,
        framesLost: next === null ? null : Math.max(0, next.sequence - Math.max(expected, this.last + 1)),
        reason: bad.reason,
      });
      if (next === null) {
        if (isLast) this.last = Math.max(this.last, number); // its name is in use: new frames continue after it
        break;
      }
      bad = await reader.read(next.offset, next.sequence, take, progress);
    }
    return reader.sizeBytes;
  }

  private missing(path: string, offset: number, found: number): void {
    const first = this.last + 1;
    const before = this.damage.at(-1);
    if (before !== undefined && before.framesLost === null) {
      this.damage[this.damage.length - 1] = { ...before, framesLost: found - first }; // the damaged end of the previous segment
      return;
    }
    const reason = `frames ${first} to ${found - 1} are in no segment: a file is missing before this one`;
    this.corrupt({ kind: "missing", file: path, offset, bytesLost: 0, framesLost: found - first, reason });
  }

  /** Records damage, or aborts the start because of it. */
  private corrupt(damage: WalDamage): void {
    if (this.options.failOnError) {
      const { file, offset, bytesLost } = damage;
      const lost = damage.kind === "missing" ? "" : ` (${bytesLost} bytes)`;
      const message =
        `the write-ahead log is corrupt: ${file} at byte ${offset}${lost}: ${damage.reason}. ` +
        "Restore the file from a copy, or start with --wal-replay-fail-on-error=false to go on without the damaged part";
      throw new TsdbError("corrupt_file", message, { ...damage });
    }
    this.damage.push(damage);
  }
}

/** True if a torn write explains the damage: only frames of the same group follow, `next` being the first. A later group is written only
 *  after the sync of this one. */
async function isTorn(reader: SegmentReader, bad: BadSpot, next: FoundFrame | null): Promise<boolean> {
  let found = next;
  while (found !== null && found.offset > bad.offset && found.groupStart <= bad.offset) {
    found = await reader.findGood(found.end, found.sequence);
  }
  return found === null;
}
