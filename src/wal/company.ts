// How long a group of frames waits for others before it is written: a write and a sync cost much the same for one small frame and for a
// hundred, so a group should have what comes anyway. Clients that write one body after the other come back as soon as they are answered.

/** A group of this size gains nothing from more. */
const ENOUGH_BYTES = 256 << 10;
/** So many turns of the event loop in a row that bring nothing end the first wait. */
const QUIET_TURNS = 2;
/** A stream of frames that never pauses must not hold up the first one. */
const TURNS_MS_MAX = 1;
/** Where a sync takes this long, those who were just answered are back before it would have ended: they are waited for as long, at most. */
const SLOW_SYNC_MS = 2;
const RETURN_MS_MAX = 20;
/** Groups that are written without that wait after one in which most did not come back. */
const GROUPS_ALONE = 8;

export interface WaitingGroup {
  readonly frameCount: number;
  readonly usedBytes: number;
}

export interface CompanyClock {
  /** Monotonic. */
  nowMs(): number;
  /** Runs `run` after `ms`, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

const SYSTEM_CLOCK: CompanyClock = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export class Company {
  private syncMs = 0;
  /** Frames of clients that wait or were answered when the last group became durable. */
  private everyone = 0;
  private groupsAlone = 0;
  private returned: { readonly group: WaitingGroup; readonly resolve: () => void } | undefined;

  constructor(private readonly clock: CompanyClock = SYSTEM_CLOCK) {}

  /** A group has become durable, which took `syncMs`; meanwhile `waitingFrames` have come. */
  answered({ frameCount }: WaitingGroup, syncMs: number, waitingFrames: number): void {
    this.syncMs = syncMs;
    this.everyone = frameCount + waitingFrames;
  }

  /** Resolves when the group should be written. */
  async gather(group: WaitingGroup): Promise<void> {
    if (group.usedBytes >= ENOUGH_BYTES) return;
    await this.untilQuiet(group);
    if (this.isComplete(group) || this.syncMs < SLOW_SYNC_MS) return;
    if (this.groupsAlone > 0) {
      this.groupsAlone -= 1;
      return;
    }
    const missing = this.everyone - group.frameCount;
    await this.untilReturned(group, Math.min(this.syncMs, RETURN_MS_MAX));
    if (this.everyone - group.frameCount > missing / 2) this.groupsAlone = GROUPS_ALONE;
  }

  /** A frame has joined a group. */
  joined(group: WaitingGroup): void {
    if (this.returned?.group === group && this.isComplete(group)) this.hurry();
  }

  /** Ends a wait for those who were answered. */
  hurry(): void {
    this.returned?.resolve();
  }

  private isComplete({ frameCount, usedBytes }: WaitingGroup): boolean {
    return frameCount >= this.everyone || usedBytes >= ENOUGH_BYTES;
  }

  private untilQuiet(group: WaitingGroup): Promise<void> {
    return new Promise((resolve) => {
      const endMs = this.clock.nowMs() + TURNS_MS_MAX;
      let seen = group.frameCount;
      let quiet = 0;
      const turned = () => {
        quiet = group.frameCount === seen ? quiet + 1 : 0;
        seen = group.frameCount;
        if (quiet >= QUIET_TURNS || this.clock.nowMs() >= endMs) resolve();
        else setImmediate(turned);
      };
      setImmediate(turned);
    });
  }

  private untilReturned(group: WaitingGroup, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.returned = undefined;
        resolve();
      };
      const cancel = this.clock.after(ms, end);
      this.returned = { group, resolve: end };
    });
  }
}
