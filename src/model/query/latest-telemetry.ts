// Statistics of the most recent SQL statement of each token: nobody sees those of another.
import type { QueryTelemetry } from "./query-telemetry.ts";

/** The tokens whose statements ended last are kept. */
const TOKENS_MAX = 1000;

/** By token id; null: without authentication. */
export class LatestTelemetry {
  private readonly ofToken = new Map<number | null, QueryTelemetry>();

  constructor(private readonly tokensMax = TOKENS_MAX) {}

  set(tokenId: number | null, telemetry: QueryTelemetry): void {
    this.ofToken.delete(tokenId);
    this.ofToken.set(tokenId, telemetry);
    for (const oldest of this.ofToken.keys()) {
      if (this.ofToken.size <= this.tokensMax) break;
      this.ofToken.delete(oldest);
    }
  }

  of(tokenId: number | null): QueryTelemetry | undefined {
    return this.ofToken.get(tokenId);
  }
}
