// Log retention for triggers that lag: segments are kept up to a limit, beyond which rows are skipped.
import type { Wal } from "../storage/wal/wal.ts";
import type { TriggerEngine } from "./trigger-engine.ts";

export interface LogHoldParts {
  readonly engine: Pick<TriggerEngine, "positions" | "passOver">;
  readonly wal: Pick<Wal, "closedSegments">;
  readonly bytesMax: number;
  /** True if the disk is full: no segments are retained for triggers then. */
  readonly isDiskFull: () => boolean;
}

/** `flushed`: frames up to here are in files. Returns the sequence up to which the log may be cut. @throws TsdbError io */
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
