// The ceiling of memory for writes: a body waits here while rows or series have no room and a flush makes some; after that it is refused.
import type { SeriesMemory } from "../buffer/series-memory.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";

export interface AdmissionParts {
  /** Rows in memory may take this much. */
  readonly bytesMax: number;
  readonly bufferBytes: () => number;
  readonly seriesMemory: Pick<SeriesMemory, "hasRoom" | "full">;
  /** Kernel memory in use by everyone. */
  readonly kernelBytes: () => number;
  /** Starts a flush when one is due. */
  readonly flush: () => void;
  /** Resolves when the flush that runs has ended; at once when none runs. */
  readonly flushSettled: () => Promise<void>;
}

/** A body is copied, parsed to columns, encoded and buffered: each at most a few times its size. */
export const KERNEL_BYTES_PER_BODY_BYTE = 16;
const FLUSHES_WAITED_FOR = 3;

export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /** Undefined when there is room for a body of this size now, else a promise. @throws TsdbError overloaded */
  admit(bodyBytes: number): Promise<void> | undefined {
    return this.hasRoom(bodyBytes) ? undefined : this.wait(bodyBytes);
  }

  private hasRoom(bodyBytes: number): boolean {
    const { bufferBytes, seriesMemory, kernelBytes, bytesMax } = this.parts;
    const wanted = bodyBytes * KERNEL_BYTES_PER_BODY_BYTE;
    return seriesMemory.hasRoom && bufferBytes() < bytesMax && kernelBytes() + wanted < LIMITS.kernelBytesMax;
  }

  private async wait(bodyBytes: number): Promise<void> {
    const { flush, flushSettled, bufferBytes, seriesMemory, kernelBytes, bytesMax } = this.parts;
    for (let waited = 0; waited < FLUSHES_WAITED_FOR; waited++) {
      flush();
      await flushSettled();
      if (this.hasRoom(bodyBytes)) return;
    }
    if (!seriesMemory.hasRoom) throw seriesMemory.full();
    throw new TsdbError("overloaded", `the write buffer is full: ${bufferBytes()} of ${bytesMax} bytes; try again in a few seconds`, {
      bufferBytes: bufferBytes(),
      bufferBytesMax: bytesMax,
      kernelBytes: kernelBytes(),
    });
  }
}
