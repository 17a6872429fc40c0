// How much of an answer its reader takes: the worker waits for a slow one.

/** Credit of one answer. */
export class AnswerCredit {
  private wake: (() => void) | null = null;

  /** @param signal ends all waits */
  constructor(
    private bytes: number,
    private readonly signal: AbortSignal,
  ) {}

  spend(bytes: number): void {
    this.bytes -= bytes;
  }

  add(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > 0) this.wake?.();
  }

  /** Resolves to false when the statement is stopped, to true once the reader takes more. */
  async wait(): Promise<boolean> {
    while (this.bytes <= 0) {
      if (this.signal.aborted) return false;
      // once: an answer of 10 GB waits 80,000 times, and each listener is compared with those before it
      if (this.wake === null) this.signal.addEventListener("abort", () => this.wake?.(), { once: true });
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return true;
  }
}
