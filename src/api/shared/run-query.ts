// Runs a query for HTTP: counts it until its answer has ended, and disables the idle timeout of its connection meanwhile.
import type { Server } from "bun";
import type { QueryAnswer } from "../../model/query/query.ts";
import type { Metrics, QueryOutcome } from "../metrics/metrics.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { loopTurns } from "../request/loop-turns.ts";
import type { AppServices } from "../services.ts";
import { StreamSize, sized } from "./body-size.ts";
import { type Failure, failureOf, queryOutcome } from "./errors.ts";
import { bodyOfBytes } from "./respond.ts";
import { watchStream } from "./watched-stream.ts";

export interface QueryCall {
  readonly request: Request;
  /** Null without a socket. */
  readonly server: Server<unknown> | null;
  /** The route, for the log. */
  readonly path: string;
  /** Produces the answer; called once. Its headers are added to the content type. */
  readonly run: () => Promise<QueryAnswer & { readonly headers?: Readonly<Record<string, string>> }>;
  /** The response to an error before the first byte. */
  readonly refused: (failure: Failure, error: unknown) => Response;
}

/** Notified of queries. */
export interface QueryReports extends Pick<AppServices, "now" | "report"> {
  readonly metrics: Pick<Metrics, "queryStarted" | "queryAnswered" | "queryEnded">;
}

/** Runs the query and returns its response; errors become `refused` responses. */
export async function runQuery(services: QueryReports, call: QueryCall): Promise<Response> {
  const { path } = call;
  const startedMs = services.now();
  const seconds = () => (services.now() - startedMs) / 1000;
  let restoreIdleLimit = () => {};
  const ended = (outcome: QueryOutcome, bytes: number) => {
    restoreIdleLimit();
    services.metrics.queryEnded(outcome, { seconds: seconds(), bytes });
  };
  services.metrics.queryStarted();
  loopTurns.noteStatement();
  try {
    restoreIdleLimit = liftIdleLimit(call.server, call.request);
    const { contentType, body, headers = {} } = await call.run();
    services.metrics.queryAnswered(seconds());
    if (body instanceof Uint8Array) {
      ended("answered", body.byteLength);
      return sized(new Response(bodyOfBytes(body), { headers: { "content-type": contentType, ...headers } }), body.byteLength);
    }
    const size = new StreamSize();
    const watched = watchStream(body, (how, bytes, error) => {
      const outcome = how === "complete" ? "answered" : how === "left" ? "cancelled" : queryOutcome(error);
      if (outcome === "failed") services.report(error, `${path}, half way`);
      ended(outcome, bytes);
      size.ended(bytes);
    });
    return sized(new Response(watched, { headers: { "content-type": contentType, ...headers } }), size);
  } catch (error) {
    const failure = failureOf(error);
    ended(queryOutcome(error), 0);
    if (failure.isOurs) services.report(error, path);
    return call.refused(failure, error);
  }
}
