// The body of an answer while it arrives.
import { AnswerShare, answerMemory } from "./answer-memory.ts";

const FIRST_BYTES = 16 * 1024;

/** One body, in one array that grows: kept as chunks, those of a byte would take a hundred times their size. To be ended. */
export class AnswerBody {
  private bytes = new Uint8Array(FIRST_BYTES);
  private length = 0;
  private readonly share: AnswerShare;

  /** @param bytesMax of this body */
  constructor(
    private readonly bytesMax: number,
    memory = answerMemory,
  ) {
    this.share = new AnswerShare(memory);
  }

  /** @throws Error: more than the limit, no memory, or the request has been given up */
  append(part: Uint8Array): void {
    const length = this.length + part.length;
    if (length > this.bytesMax) throw new Error(`the answer is longer than ${this.bytesMax} bytes`);
    if (length > this.bytes.length) this.grow(length);
    this.bytes.set(part, this.length);
    this.length = length;
  }

  /** The whole body, owned by the caller. */
  whole(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  /** Releases the memory; no effect the second time. */
  end(): void {
    this.share.end();
  }

  private grow(length: number): void {
    let capacity = this.bytes.length;
    while (capacity < length) capacity *= 2;
    this.share.hold(capacity);
    const grown = new Uint8Array(capacity);
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}
