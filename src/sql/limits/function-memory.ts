// Memory that the functions of all running statements may take for text and lists, by the estimates of cost-limits.ts.
import { TsdbError } from "../../model/errors.ts";

/** Statements of less are not worth counting. */
const COUNTED_BYTES_MIN = 16 << 20;
const FUNCTION_BYTES_MIN = 1 << 30;

/** What functions may take in an engine with this memory. */
export function functionBytesOf(memoryBytes: number): number {
  return Math.max(FUNCTION_BYTES_MIN, memoryBytes);
}

export class FunctionMemory {
  private takenBytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** One that alone would be too much is refused elsewhere. @throws TsdbError overloaded when others have too much of it */
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
