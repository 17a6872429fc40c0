// Statistics of the most recent SQL statement of each token and user: nobody sees those of another.
import type { QueryTelemetry } from "./query-telemetry.ts";

/** The tokens whose statements ended last are kept. */
const TOKENS_MAX = 1000;

/** By the id of a token, or the text of a user; null: without authentication. */
export class LatestTelemetry {
  private readonly ofToken = new Map<number | string | null, QueryTelemetry>();

  constructor(private readonly tokensMax = TOKENS_MAX) {}

  set(callerId: number | string | null, telemetry: QueryTelemetry): void {
    this.ofToken.delete(callerId);
    this.ofToken.set(callerId, telemetry);
    for (const oldest of this.ofToken.keys()) {
      if (this.ofToken.size <= this.tokensMax) break;
      this.ofToken.delete(oldest);
    }
  }

  of(callerId: number | string | null): QueryTelemetry | undefined {
    return this.ofToken.get(callerId);
  }
}
