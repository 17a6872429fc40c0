// How many requests the listener of port 8086 answers: at a time, and of one organization within a minute.
import type { Principal } from "../../../metadata/access/principal.ts";
import { TsdbError } from "../../../model/errors.ts";

export interface RequestLimitOptions {
  /** Being answered at a time; null = no limit. */
  readonly concurrentMax: number | null;
  /** Of an organization; null = no limit. */
  readonly perMinuteMax: number | null;
}

const MINUTE_MS = 60_000;
const KNOWN_MAX = 10_000;
/** Of sums of shares. */
const ROUNDING_MS = 1e-3;
/** Load balancers and scrapers learn about a server that has too much to do. */
const EXEMPT: ReadonlySet<string> = new Set(["/health", "/ready", "/ping", "/metrics"]);

const NOT_COUNTED = () => {};

/** Counts requests, in total and by organization, and refuses those beyond the limits. */
export class RequestLimits {
  private active = 0;
  /** By sender: when all its requests so far have had their share of time. Source: ITU-T I.371, generic cell rate algorithm. */
  private readonly freeMs = new Map<string, number>();

  constructor(
    private readonly options: RequestLimitOptions,
    /** Milliseconds of a clock that never goes back. */
    private readonly nowMs: () => number,
  ) {}

  /** A request begins; the result is called when it is answered. @throws TsdbError overloaded */
  begin(path: string): () => void {
    const { concurrentMax } = this.options;
    if (concurrentMax === null || EXEMPT.has(path)) return NOT_COUNTED;
    if (this.active >= concurrentMax) {
      throw new TsdbError("overloaded", `${concurrentMax} requests are being answered, which --v2-max-requests allows; try again`);
    }
    this.active += 1;
    return () => {
      this.active -= 1;
    };
  }

  /** A request of this sender is let in. What is not used adds up to the requests of one minute. @throws TsdbError too_many_requests */
  spend({ orgID, userID }: Pick<Principal, "orgID" | "userID">): void {
    const { perMinuteMax } = this.options;
    if (perMinuteMax === null) return;
    const nowMs = this.nowMs();
    const key = orgID ?? `user ${userID}`;
    const intervalMs = MINUTE_MS / perMinuteMax;
    const freeMs = Math.max(this.freeMs.get(key) ?? nowMs, nowMs);
    const waitMs = freeMs + intervalMs - MINUTE_MS - nowMs;
    if (waitMs > ROUNDING_MS) {
      const message = `an organization may send ${perMinuteMax} requests a minute (--v2-max-requests-per-minute)`;
      throw new TsdbError("too_many_requests", message, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
    }
    if (this.freeMs.size >= KNOWN_MAX) this.freeMs.clear();
    this.freeMs.set(key, freeMs + intervalMs);
  }
}
