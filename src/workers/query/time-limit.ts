// The time limit of a statement: it counts while the statement waits for a permit or runs, but not while its answer waits for the reader.
/** A timer that can be paused, in milliseconds. Starts when it is created. */
export class TimeLimit {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private leftMs: number;
  private resumedMs = 0;
  private onOver: () => void = () => {};

  /** @param limitMs 0: no limit */
  constructor(readonly limitMs: number) {
    this.leftMs = limitMs;
    this.resume();
  }

  /** Sets the callback for its end; replaces an earlier one. */
  whenOver(onOver: () => void): void {
    this.onOver = onOver;
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.leftMs -= performance.now() - this.resumedMs;
  }

  resume(): void {
    if (this.limitMs === 0 || this.timer !== undefined) return;
    this.resumedMs = performance.now();
    this.timer = setTimeout(() => this.onOver(), Math.max(0, this.leftMs));
  }

  /** For messages. */
  get text(): string {
    return this.limitMs % 1000 === 0 ? `${this.limitMs / 1000} s` : `${this.limitMs} ms`;
  }
}
