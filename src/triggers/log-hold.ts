// Log retention for triggers that lag: segments are kept up to a limit, beyond which rows are skipped.
import type { Wal } from "../storage/wal/wal.ts";

/** What reads the log at its own speed. */
export interface LogUser {
  /** How far each reader has come. */
  positions(): ReadonlyMap<unknown, number>;
  /** Frames up to `sequence` are no longer retained. */
  passOver(sequence: number, reason: string): void;
}

export interface LogHoldParts {
  readonly engine: LogUser;
  readonly wal: Pick<Wal, "closedSegments">;
  readonly bytesMax: number;
  /** The setting that says so, for messages. */
  readonly limitName?: string;
  /** True if the disk is full: no segments are retained for triggers then. */
  readonly isDiskFull: () => boolean;
}

/** `flushed`: frames up to here are in files. Returns the sequence up to which the log may be cut. @throws TsdbError io */
export async function cutThrough(
  flushed: number,
  { engine, wal, bytesMax, limitName = "--trigger-log-limit", isDiskFull }: LogHoldParts,
): Promise<number> {
  const wanted = () => Math.min(flushed, ...engine.positions().values());
  if (wanted() >= flushed) return flushed;
  const segments = (await wal.closedSegments()).filter(({ lastSequence }) => lastSequence <= flushed);
  const isFull = isDiskFull();
  const limit = isFull ? 0 : bytesMax;
  let bytes = segments.reduce((sum, segment) => sum + (segment.lastSequence > wanted() ? segment.bytes : 0), 0);
  let given = 0;
  for (const segment of segments) {
    if (bytes <= limit) break;
    if (segment.lastSequence <= wanted()) continue;
    bytes -= segment.bytes;
    given = segment.lastSequence;
  }
  const reason = isFull ? "the disk is full" : `they are more than ${bytesMax} bytes of the log behind (${limitName})`;
  if (given > 0) engine.passOver(given, reason);
  return wanted();
}
