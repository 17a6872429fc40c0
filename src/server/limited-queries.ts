// Statements of one listener within limits of their own: so many run, so many wait, and each holds so many bytes of rows.
import { watchStream } from "../api/shared/watched-stream.ts";
import type { V2QueryLimits } from "../cli/flags/v2-config.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryRequest, QueryService } from "../model/query/query.ts";
import { Permits } from "../workers/query/permits.ts";

/** Those that wait are served in order of arrival. What only inspects a script is never made to wait. */
export class LimitedQueries implements QueryService {
  private readonly permits: Permits | null;

  constructor(
    private readonly queries: QueryService,
    private readonly limits: V2QueryLimits,
  ) {
    this.permits = limits.concurrentMax === null ? null : new Permits(limits.concurrentMax);
  }

  /** @throws TsdbError too_many_requests when the queue is full, cancelled; what the statement's service throws */
  async query(request: QueryRequest): Promise<QueryAnswer> {
    const { memoryBytesMax } = this.limits;
    const bounded = memoryBytesMax === null ? request : { ...request, memoryBytesMax };
    if (this.permits === null || (request.flux !== undefined && request.flux.task !== "query")) return this.queries.query(bounded);
    await this.turn(this.permits, request.signal);
    return this.held(this.permits, bounded);
  }

  private async turn(permits: Permits, signal: AbortSignal): Promise<void> {
    const { concurrentMax, waitingMax } = this.limits;
    const { ready, giveUp } = permits.take();
    if (ready === undefined) return;
    if (waitingMax !== null && permits.waitingCount > waitingMax) {
      giveUp(
        new TsdbError(
          "too_many_requests",
          `queue length exceeded: ${concurrentMax} queries run and ${waitingMax} wait (--v2-query-concurrency, --v2-query-queue-size)`,
          { retryAfterSeconds: 1 },
        ),
      );
    }
    const leave = () => giveUp(new TsdbError("cancelled", "the client left while its query waited"));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    await ready.finally(() => signal.removeEventListener("abort", leave));
  }

  /** The permit is held until the answer has been read, or its reader has left. */
  private async held(permits: Permits, request: QueryRequest): Promise<QueryAnswer> {
    let answer: QueryAnswer;
    try {
      answer = await this.queries.query(request);
    } catch (error) {
      permits.release();
      throw error;
    }
    if (answer.body instanceof Uint8Array) {
      permits.release();
      return answer;
    }
    let isHeld = true;
    const release = () => {
      if (isHeld) permits.release();
      isHeld = false;
      request.signal.removeEventListener("abort", release);
    };
    // a client that has left may never ask for the rest
    if (request.signal.aborted) release();
    else request.signal.addEventListener("abort", release);
    return { ...answer, body: watchStream(answer.body, release) };
  }
}
