// How far the log may be cut while triggers are behind: its segments are kept for them up to a limit, beyond which rows are passed over.
import type { Wal } from "../storage/wal/wal.ts";
import type { TriggerEngine } from "./trigger-engine.ts";

export interface LogHoldParts {
  readonly engine: Pick<TriggerEngine, "positions" | "passOver">;
  readonly wal: Pick<Wal, "closedSegments">;
  readonly bytesMax: number;
  /** The disk takes nothing new: nothing is kept for triggers then. */
  readonly isDiskFull: () => boolean;
}

/** `flushed`: frames up to here are in files. Returns up to where the log may be cut. @throws TsdbError io */
export async function cutThrough(flushed: number, { engine, wal, bytesMax, isDiskFull }: LogHoldParts): Promise<number> {
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
  const reason = isFull ? "the disk is full" : `they are more than ${bytesMax} bytes of the log behind (--trigger-log-limit)`;
  if (given > 0) engine.passOver(given, reason);
  return wanted();
}
