// Memory for what other servers send: an answer may have 32 MiB, and hundreds of scripts may ask at a time.

/** Memory of all answers that are arriving, but the first bytes of each. */
export class AnswerMemory {
  private takenBytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** @throws Error: too many large answers at a time */
  take(bytes: number): void {
    if (this.takenBytes + bytes > this.bytesMax) {
      throw new Error(`answers that are arriving would take more than ${this.bytesMax} bytes; try again`);
    }
    this.takenBytes += bytes;
  }

  release(bytes: number): void {
    this.takenBytes -= bytes;
  }
}

/** Of this thread. */
export const answerMemory = new AnswerMemory(256 * 1024 * 1024);
