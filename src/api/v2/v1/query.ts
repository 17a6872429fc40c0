// /query on port 8086: InfluxQL statements over the buckets that mappings name.
import { TsdbError } from "../../../model/errors.ts";
import type { QueryAnswer } from "../../../model/query/query.ts";
import type { V1Form } from "../../../model/query/v1-answer.ts";
import type { Statement } from "../../../tsdbql/parse/ast.ts";
import { BodyReader } from "../../request/body.ts";
import { compressed, V2_RULE } from "../../shared/gzip-answer.ts";
import { runQuery } from "../../shared/run-query.ts";
import type { QueryForm } from "../../v1/query-form.ts";
import { readV1Query, type V1Query } from "../../v1/query-request.ts";
import { Statements } from "../../v1/statements.ts";
import { errorAnswer } from "../app/errors.ts";
import { type OpenCall, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { placeOf } from "../app/trace.ts";
import { BucketStatements } from "./bucket-statements.ts";
import { admitV1 } from "./credentials.ts";
import { readForm } from "./query-form.ts";

const PATH = "/query";
const NS_PER_MS = 1_000_000n;
/** The answer to deletions alone, or to no statement, in chunks. */
const NOTHING = new Uint8Array(0);
/** The same at once, as recorded. */
const NO_RESULTS = new TextEncoder().encode("{}\n");
/** By the whole Accept header; any other one is answered as JSON. */
const FORMS: ReadonlyMap<string, V1Form> = new Map([
  ["application/csv", "csv"],
  ["text/csv", "csv"],
  ["application/x-msgpack", "msgpack"],
]);
/** Lists that are made before they are written: a chunk has all names of a series, as recorded. */
const IN_WHOLE_SERIES: ReadonlySet<Statement["kind"]> = new Set([
  ...(["show databases", "show retention policies", "show measurements", "show tag keys", "show tag values"] as const),
]);
/** Nanoseconds; any other one is nanoseconds. */
const EPOCHS: ReadonlyMap<string, number> = new Map(Object.entries({ u: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 }));

export const v1QueryRoutes = (services: V2Services): V2Routes => {
  const reader = new BodyReader(services.options.maxRequestBytes, services.now, true);
  const take = (call: OpenCall) => takeQuery(services, reader, call);
  return (
    new V2Routes(services)
      .ownCredentials("GET", PATH, take)
      .ownCredentials("POST", PATH, take)
      .ownCredentials("HEAD", PATH, take)
      // any other method, as recorded
      .ownCredentials("ALL", PATH, take)
  );
};

async function takeQuery(services: V2Services, reader: BodyReader, call: OpenCall): Promise<Response> {
  const principal = await admitV1(services, call);
  const { request, server } = call;
  return runQuery(services, {
    ...{ request, server, path: PATH },
    run: async () => {
      const query = readQuery(request, await readForm(call, reader));
      const statements = new BucketStatements(services, principal, query, BigInt(services.clockMs()) * NS_PER_MS);
      const answer = await answerOf(services, statements, query, request);
      return compressed(answer, request, server, V2_RULE);
    },
    refused: (_, error) => errorAnswer(renamed(error)),
  });
}

/** @throws TsdbError bad_request, bad_query */
function readQuery(request: Request, form: QueryForm): V1Query {
  const query = readV1Query(request, form, "2.x");
  const { epoch = "" } = form;
  const answer = {
    form: FORMS.get(request.headers.get("accept") ?? "") ?? "json",
    isPretty: false,
    epochNs: epoch === "" ? null : (EPOCHS.get(epoch) ?? 1),
  };
  return { ...query, isReadOnly: false, isAsync: false, answer: { ...query.answer, ...answer } };
}

async function answerOf(
  services: V2Services,
  statements: BucketStatements,
  query: V1Query,
  request: Request,
): Promise<QueryAnswer & { readonly contentType: string }> {
  const runner = new Statements(query, {
    ...{ signal: request.signal, rowsMax: 0, countsFromFailure: true, report: (error) => services.report(error, placeOf(request, PATH)) },
    run: (placed, answer, signal) => statements.run(placed, answer, signal),
    inWholeSeries: IN_WHOLE_SERIES,
  });
  const answer = await runner.answer();
  const { form } = query.answer;
  const isCsvText = request.headers.get("accept") === "text/csv";
  const hasNoResults = form === "json" && statements.deletionCount === query.statements.length;
  if (hasNoResults && query.answer.chunkRows !== null) return { ...answer, body: NOTHING };
  return { ...answer, ...(isCsvText ? { contentType: "text/csv" } : {}), ...(hasNoResults ? { body: NO_RESULTS } : {}) };
}

/** Parsing errors in this port's words. */
function renamed(error: unknown): unknown {
  if (!(error instanceof TsdbError) || error.kind !== "bad_query") return error;
  return new TsdbError("bad_query", error.message.replace(/^error parsing query: /, "failed to parse query: "), error.details);
}
