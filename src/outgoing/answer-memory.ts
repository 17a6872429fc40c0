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

/** Not counted of each answer, so that large ones do not make small ones fail. */
const FREE_BYTES = 16 * 1024;

/** What one answer takes of the memory. To be ended. */
export class AnswerShare {
  private takenBytes = 0;
  private isEnded = false;

  constructor(private readonly memory: AnswerMemory) {}

  /** @param bytes of the whole answer so far @throws Error: too many large answers at a time, or the request has been given up */
  hold(bytes: number): void {
    if (this.isEnded) throw new Error("the request has been given up");
    const more = bytes - FREE_BYTES - this.takenBytes;
    if (more <= 0) return;
    this.memory.take(more);
    this.takenBytes += more;
  }

  /** Releases all of it; no effect the second time. */
  end(): void {
    this.isEnded = true;
    this.memory.release(this.takenBytes);
    this.takenBytes = 0;
  }
}

/** Of this thread. */
export const answerMemory = new AnswerMemory(256 * 1024 * 1024);
