// Limits the memory that functions of all running statements take for text and lists, as estimated by cost-limits.ts.
import { TsdbError } from "../../model/errors.ts";

/** Smaller statements are not counted. */
const COUNTED_BYTES_MIN = 16 << 20;
const FUNCTION_BYTES_MIN = 1 << 30;

/** The limit for an engine with this memory. */
export function functionBytesOf(memoryBytes: number): number {
  return Math.max(FUNCTION_BYTES_MIN, memoryBytes);
}

/** The function memory of one engine. */
export class FunctionMemory {
  private takenBytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Reserves memory; a statement that exceeds the limit by itself is rejected elsewhere. @throws TsdbError overloaded if other
   *  statements use too much */
  take(bytes: number): void {
    if (bytes < COUNTED_BYTES_MIN) return;
    if (this.takenBytes > 0 && this.takenBytes + bytes > this.bytesMax) {
      throw new TsdbError("overloaded", "Resources exhausted: other statements make large texts and lists; try again");
    }
    this.takenBytes += bytes;
  }

  give(bytes: number): void {
    if (bytes >= COUNTED_BYTES_MIN) this.takenBytes -= bytes;
  }
}
