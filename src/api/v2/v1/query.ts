// GET and POST /query on port 8086: InfluxQL statements over the buckets that mappings name.
import { TsdbError } from "../../../model/errors.ts";
import type { QueryAnswer } from "../../../model/query/query.ts";
import { BodyReader } from "../../request/body.ts";
import { compressed, V2_RULE } from "../../shared/gzip-answer.ts";
import { runQuery } from "../../shared/run-query.ts";
import { readQueryForm } from "../../v1/query-form.ts";
import { readV1Query, type V1Query } from "../../v1/query-request.ts";
import { Statements } from "../../v1/statements.ts";
import { errorAnswer } from "../app/errors.ts";
import { type OpenCall, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { placeOf } from "../app/trace.ts";
import { BucketStatements } from "./bucket-statements.ts";
import { admitV1 } from "./credentials.ts";

const PATH = "/query";
const NS_PER_MS = 1_000_000n;
/** The answer to deletions alone, as recorded. */
const NO_RESULTS = new TextEncoder().encode("{}\n");

export const v1QueryRoutes = (services: V2Services): V2Routes => {
  const reader = new BodyReader(services.options.maxRequestBytes, services.now);
  const take = (call: OpenCall) => takeQuery(services, reader, call);
  return new V2Routes("v1-query", services).ownCredentials("GET", PATH, take).ownCredentials("POST", PATH, take);
};

async function takeQuery(services: V2Services, reader: BodyReader, call: OpenCall): Promise<Response> {
  const principal = await admitV1(services, call);
  const { request, server } = call;
  return runQuery(services, {
    ...{ request, server, path: PATH },
    run: async () => {
      const query: V1Query = { ...readV1Query(request, await readQueryForm(call, reader)), isReadOnly: false, isAsync: false };
      const statements = new BucketStatements(services, principal, query, BigInt(services.clockMs()) * NS_PER_MS);
      const answer = await answerOf(services, statements, query, request);
      const encoded = await compressed(answer, request, server, V2_RULE);
      return { ...encoded, headers: { ...encoded.headers, vary: "Accept-Encoding" } };
    },
    refused: (_, error) => errorAnswer(renamed(error)),
  });
}

async function answerOf(
  services: V2Services,
  statements: BucketStatements,
  query: V1Query,
  request: Request,
): Promise<QueryAnswer & { readonly contentType: string }> {
  const runner = new Statements(query, {
    ...{ signal: request.signal, rowsMax: 0, report: (error) => services.report(error, placeOf(request, PATH)) },
    run: (placed, answer, signal) => statements.run(placed, answer, signal),
  });
  const answer = await runner.answer();
  const { form } = query.answer;
  const isCsvText = form === "csv" && (request.headers.get("accept") ?? "").trimStart().toLowerCase().startsWith("text/csv");
  const hasNoResults = form === "json" && statements.deletionCount > 0 && statements.deletionCount === query.statements.length;
  return { ...answer, ...(isCsvText ? { contentType: "text/csv" } : {}), ...(hasNoResults ? { body: NO_RESULTS } : {}) };
}

/** Parsing errors in this port's words. */
function renamed(error: unknown): unknown {
  if (!(error instanceof TsdbError) || error.kind !== "bad_query") return error;
  return new TsdbError("bad_query", error.message.replace(/^error parsing query: /, "failed to parse query: "), error.details);
}
