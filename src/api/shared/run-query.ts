// A query on its way through HTTP: counted from its start until its answer is over, its connection allowed to be silent meanwhile.
import type { Server } from "bun";
import type { QueryAnswer } from "../../model/query/query.ts";
import type { QueryOutcome } from "../metrics/metrics.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import type { AppServices } from "../services.ts";
import { type Failure, failureOf, queryOutcome } from "./errors.ts";
import { watchStream } from "./watched-stream.ts";

export interface QueryCall {
  readonly request: Request;
  /** Null without a socket. */
  readonly server: Server<unknown> | null;
  /** The route, for the log. */
  readonly path: string;
  /** What answers; called once. Its headers stand beside the content type. */
  readonly run: () => Promise<QueryAnswer & { readonly headers?: Readonly<Record<string, string>> }>;
  /** What is told of an error before the first byte. */
  readonly refused: (failure: Failure, error: unknown) => Response;
}

export async function runQuery(services: AppServices, call: QueryCall): Promise<Response> {
  const { path } = call;
  const startedMs = services.now();
  const seconds = () => (services.now() - startedMs) / 1000;
  let restoreIdleLimit = () => {};
  const ended = (outcome: QueryOutcome, bytes: number) => {
    restoreIdleLimit();
    services.metrics.queryEnded(outcome, { seconds: seconds(), bytes });
  };
  services.metrics.queryStarted();
  try {
    restoreIdleLimit = liftIdleLimit(call.server, call.request);
    const { contentType, body, headers = {} } = await call.run();
    services.metrics.queryAnswered(seconds());
    if (body instanceof Uint8Array) {
      ended("answered", body.byteLength);
      return new Response(body, { headers: { "content-type": contentType, ...headers } });
    }
    const watched = watchStream(body, (how, bytes, error) => {
      const outcome = how === "complete" ? "answered" : how === "left" ? "cancelled" : queryOutcome(error);
      if (outcome === "failed") services.report(error, `${path}, half way`);
      ended(outcome, bytes);
    });
    return new Response(watched, { headers: { "content-type": contentType, ...headers } });
  } catch (error) {
    const failure = failureOf(error);
    ended(queryOutcome(error), 0);
    if (failure.isOurs) services.report(error, path);
    return call.refused(failure, error);
  }
}
