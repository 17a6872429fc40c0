// /api/v3/configure/query_concurrency_limit: how many statements run at a time, until the server starts again.
import { t } from "elysia";
import { TsdbError } from "../../../model/errors.ts";
import { LIMITS } from "../../../model/limits.ts";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import { readQueryString } from "../../request/query-string.ts";
import type { AppServices } from "../../services.ts";
import { json } from "../../shared/respond.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers, configureFailed } from "./configure-route.ts";

const PATH = "/api/v3/configure/query_concurrency_limit";
/** Fewer are an error of typing more often than they are wanted. */
const UNFORCED_MIN = 16;

const LimitQuery = t.Object({
  force: t.Optional(t.Boolean({ default: false, description: `Accepts fewer than ${UNFORCED_MIN}.` })),
});
const LimitBody = t.Object({
  max_concurrent_queries: t.Optional(
    t.Union([t.Integer({ minimum: 1, maximum: LIMITS.concurrentQueriesMax }), t.Null()], {
      description: "Others wait in order of arrival. Null or absent: as --max-concurrent-queries says.",
    }),
  ),
});
const LimitAnswer = t.Object({
  max_concurrent_queries: t.Optional(t.Integer({ description: `Absent: the most there may be, ${LIMITS.concurrentQueriesMax}.` })),
});

const COMMON = { tag: "Server", access: "admin" } as const;

/** Only with the extended edition. */
export const queryConcurrencyRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  return routes
    .get(
      PATH,
      operation({
        ...{ ...COMMON, summary: "Get the number of statements that run at a time" },
        answers: { ...configureAnswers({}), 200: { description: "The number.", content: { "application/json": LimitAnswer } } },
      }),
      (call) => {
        try {
          const { concurrentMax } = services.queryConcurrency(call.caller);
          return json(200, concurrentMax === LIMITS.concurrentQueriesMax ? {} : { max_concurrent_queries: concurrentMax });
        } catch (error) {
          return configureFailed(services, call, error);
        }
      },
    )
    .put(
      PATH,
      operation({
        ...{ ...COMMON, summary: "Set the number of statements that run at a time", query: LimitQuery },
        description: "At once, and until the server starts again. Statements that run already go on.",
        body: { "application/json": LimitBody },
        answers: configureAnswers({ 204: "Set.", 400: "The body cannot be understood, or the number is too small or too large." }),
      }),
      (call) =>
        configure(services, call, 204, async () => {
          const { force = false } = readQueryString(LimitQuery, call.target.search) ?? {};
          const { max_concurrent_queries: countMax = null } = await readJsonBody(LimitBody, call.request, reader);
          if (countMax !== null && countMax < UNFORCED_MIN && !force) {
            throw new TsdbError("bad_request", `max_concurrent_queries: ${countMax} is less than ${UNFORCED_MIN}; force=true accepts it`);
          }
          services.queryConcurrency(call.caller).limitConcurrent(countMax);
        }),
    )
    .delete(
      PATH,
      operation({
        ...{ ...COMMON, summary: "Reset the number of statements that run at a time" },
        description: "To what --max-concurrent-queries says.",
        answers: configureAnswers({ 204: "Reset." }),
      }),
      (call) => configure(services, call, 204, async () => services.queryConcurrency(call.caller).limitConcurrent(null)),
    );
};
