// A statement's time: it runs while the statement waits for its turn or is worked on, not while its answer waits for the reader.
/** A timer that can be paused, in milliseconds. It runs from the moment it is made. */
export class TimeLimit {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private leftMs: number;
  private resumedMs = 0;
  private onOver: () => void = () => {};

  /** 0: there is none. */
  constructor(readonly limitMs: number) {
    this.leftMs = limitMs;
    this.resume();
  }

  /** What happens when it is over; the last one given counts. */
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

  /** In words. */
  get text(): string {
    return this.limitMs % 1000 === 0 ? `${this.limitMs / 1000} s` : `${this.limitMs} ms`;
  }
}
