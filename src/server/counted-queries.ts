// Statements of port 8086 as /metrics has them: how many run, how they end, how long they take.

import type { QueryResult, V2Metrics } from "../api/metrics/v2-metrics.ts";
import { watchStream } from "../api/shared/watched-stream.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryRequest, QueryService } from "../model/query/query.ts";

/** Counts each statement once, when its answer has been read or its client has left. */
export class CountedQueries implements QueryService {
  constructor(
    private readonly queries: QueryService,
    private readonly metrics: Pick<V2Metrics, "queryBegins">,
    /** Milliseconds of a clock that never goes back. */
    private readonly nowMs: () => number,
  ) {}

  /** @throws TsdbError what the statement's service throws */
  async query(request: QueryRequest): Promise<QueryAnswer> {
    const startedMs = this.nowMs();
    const end = this.metrics.queryBegins();
    const ended = (result: QueryResult, bytes: number) => end(result, bytes, (this.nowMs() - startedMs) / 1000);
    let answer: QueryAnswer;
    try {
      answer = await this.queries.query(request);
    } catch (error) {
      ended(resultOf(error), 0);
      throw error;
    }
    if (answer.body instanceof Uint8Array) {
      ended("success", answer.body.byteLength);
      return answer;
    }
    let isOver = false;
    const over = (result: QueryResult, bytes: number) => {
      if (!isOver) ended(result, bytes);
      isOver = true;
      request.signal.removeEventListener("abort", left);
    };
    // a client that has left may never ask for the rest
    const left = () => over("runtime_error", 0);
    if (request.signal.aborted) left();
    else request.signal.addEventListener("abort", left);
    const body = watchStream(answer.body, (how, bytes) => over(how === "complete" ? "success" : "runtime_error", bytes));
    return { ...answer, body };
  }
}

function resultOf(error: unknown): QueryResult {
  if (!(error instanceof TsdbError)) return "runtime_error";
  if (error.kind === "too_many_requests") return "queue_error";
  return error.kind === "bad_query" || error.kind === "bad_request" ? "compile_error" : "runtime_error";
}
