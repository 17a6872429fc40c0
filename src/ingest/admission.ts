// Memory limit of writes: a body waits here while rows or series have no room and a flush makes some; eventually it is rejected. Checked
// twice: when a body begins, for its bytes, and after it was received, for the cost of its lines (body-cost.ts).

import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { SeriesMemory } from "../storage/buffer/series-memory.ts";
import { bodyCost, COST_PER_BYTE_MAX } from "./body-cost.ts";

export interface AdmissionParts {
  /** Maximum memory of buffered rows. */
  readonly bytesMax: number;
  readonly bufferBytes: () => number;
  readonly seriesMemory: Pick<SeriesMemory, "hasRoom" | "full">;
  /** Kernel memory in use, in total. */
  readonly kernelBytes: () => number;
  /** Starts a flush if one is due. */
  readonly flush: () => void;
  /** Resolves when the running flush has ended; immediately if none is running. */
  readonly flushSettled: () => Promise<void>;
}

/** A received body in memory. */
export interface ReceivedText {
  readonly byteCount: number;
  /** Borrowed. */
  readonly bytes: Uint8Array;
}

const FLUSHES_WAITED_FOR = 3;

/** Delays writes while memory is short, for a few flushes and at most `waitMsMax`; then the write fails with `overloaded`. */
export class Admission {
  constructor(
    private readonly parts: AdmissionParts,
    private readonly waitMsMax: number = LIMITS.admissionWaitSeconds * 1000,
  ) {}

  /** Undefined if a body of this size may be received now, otherwise a promise. @throws TsdbError overloaded */
  receive(bodyBytes: number): Promise<void> | undefined {
    return this.hasRoom(bodyBytes) ? undefined : this.wait(bodyBytes);
  }

  /** Undefined if a received body may be stored now, otherwise a promise. @throws TsdbError overloaded; too_large if no flush could make
   *  room for its lines */
  store(body: ReceivedText): Promise<void> | undefined {
    if (this.hasRoom(body.byteCount * COST_PER_BYTE_MAX)) return undefined;
    const cost = bodyCost(body.bytes);
    if (this.hasRoom(cost)) return undefined;
    if (cost + body.byteCount > LIMITS.kernelBytesMax) return Promise.reject(tooManyLines(body.byteCount, cost));
    return this.wait(cost);
  }

  private hasRoom(wantedBytes: number): boolean {
    const { bufferBytes, seriesMemory, kernelBytes, bytesMax } = this.parts;
    return seriesMemory.hasRoom && bufferBytes() < bytesMax && kernelBytes() + wantedBytes < LIMITS.kernelBytesMax;
  }

  private async wait(wantedBytes: number): Promise<void> {
    const { flush, flushSettled } = this.parts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), this.waitMsMax);
    });
    try {
      for (let waited = 0; waited < FLUSHES_WAITED_FOR; waited++) {
        flush();
        const end = await Promise.race([flushSettled(), late]);
        if (this.hasRoom(wantedBytes)) return;
        if (end === "late") break;
      }
    } finally {
      clearTimeout(timer);
    }
    throw this.overloaded(wantedBytes);
  }

  private overloaded(wantedBytes: number): TsdbError {
    const { bufferBytes, seriesMemory, kernelBytes, bytesMax } = this.parts;
    if (!seriesMemory.hasRoom) return seriesMemory.full();
    const [buffered, used] = [bufferBytes(), kernelBytes()];
    const what =
      buffered < bytesMax
        ? `memory is full: ${used} of ${LIMITS.kernelBytesMax} bytes, ${wantedBytes} wanted`
        : `the write buffer is full: ${buffered} of ${bytesMax} bytes`;
    const details = { bufferBytes: buffered, bufferBytesMax: bytesMax, kernelBytes: used, wantedBytes };
    return new TsdbError("overloaded", `${what}; try again in a few seconds`, details);
  }
}

function tooManyLines(bodyBytes: number, cost: number): TsdbError {
  const message =
    `the lines of a body of ${bodyBytes} bytes would take about ${cost} bytes of memory, more than there is: ` +
    "send it as several smaller ones";
  return new TsdbError("too_large", message, { bodyBytes, wantedBytes: cost });
}
