// GET and POST /query, the endpoint of v1 clients: InfluxQL statements in, results out as JSON, CSV or MessagePack.

import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { v1Refusal } from "../../encode/v1/encode.ts";
import { TsdbError } from "../../model/errors.ts";
import { V1_CONTENT_TYPES, type V1Shape } from "../../model/query/v1-answer.ts";
import { hidden, operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import type { AppServices } from "../services.ts";
import { versionHeaders } from "../shared/aliases.ts";
import { sizedResponse } from "../shared/body-size.ts";
import { type Failure, failureOf, STATUS } from "../shared/errors.ts";
import { compressed } from "../shared/gzip-answer.ts";
import { errorMembers } from "../shared/respond.ts";
import { type AnyCall, type Call, Routes } from "../shared/route.ts";
import { runQuery } from "../shared/run-query.ts";
import { requireReady } from "../shared/write.ts";
import { ErrorBody } from "../shared/write-schemas.ts";
import { runStatement } from "../tsdbql/run-statement.ts";
import { type QueryForm, readQueryForm } from "./query-form.ts";
import { headerText, readV1Query, shapeOf, type V1Query } from "./query-request.ts";
import { requestIds } from "./request-id.ts";
import { Statements } from "./statements.ts";

const PATH = "/query";
const NS_PER_MS = 1_000_000n;

const optional = (description: string, more: object = {}) => t.Optional(t.String({ description, ...more }));

const V1QueryFields = {
  q: t.String({ description: "Statements, `;` between them.", examples: ["SHOW DATABASES"] }),
  db: optional("Database of statements that do not name one."),
  rp: optional("Retention policy; empty: the default one. autogen and default are the database itself, any other the database `db/rp`."),
  epoch: optional("Unit of times as whole numbers; absent: RFC 3339, in CSV nanoseconds.", {
    enum: ["ns", "u", "µ", "ms", "s", "m", "h", "d", "w"],
  }),
  chunked: optional("`true`: a document for each stretch of rows and for each series.", { default: "false" }),
  chunk_size: optional("Rows of a document at most.", { default: "10000" }),
  pretty: optional("`true`: JSON with line breaks.", { default: "false" }),
  params: optional("Values of `$name` placeholders, a JSON object."),
  async: optional("`true`: answers 204 at once; nobody learns how the statements end."),
};

const V1QueryQuery = t.Object({
  ...V1QueryFields,
  u: optional("User name; ignored."),
  p: optional("Password: the token."),
});

const V1QueryBody = t.Object(V1QueryFields);

const V1Results = t.Object({
  results: t.Array(
    t.Object({
      statement_id: Type.Integer(),
      series: t.Optional(
        t.Array(
          t.Object({
            name: t.Optional(t.String()),
            tags: t.Optional(t.Record(t.String(), t.String())),
            columns: t.Array(t.String()),
            values: t.Optional(t.Array(t.Array(t.Any()))),
            partial: t.Optional(t.Boolean()),
          }),
        ),
      ),
      messages: t.Optional(t.Array(t.Object({ level: t.String(), text: t.String() }))),
      partial: t.Optional(t.Boolean()),
      error: t.Optional(t.String()),
    }),
  ),
});

async function takeQuery(services: AppServices, reader: BodyReader, call: Call<"database">): Promise<Response> {
  const { request, server } = call;
  const headers = { ...versionHeaders(services.edition), ...requestIds(request) };
  let shape: V1Shape = shapeOf(request, {});
  let isAsync = false;
  const response = await runQuery(services, {
    ...{ request, server, path: PATH },
    run: async () => {
      const form: QueryForm = await readQueryForm(call, reader);
      shape = shapeOf(request, form);
      const query = readV1Query(request, form);
      requireReady(services.status());
      const statements = statementsOf(services, call, query);
      if (!query.isAsync) {
        const answer = await compressed(await statements.answer(), request, server);
        return { ...answer, headers: { ...headers, ...answer.headers } };
      }
      isAsync = true;
      statements.drain().catch((error) => {
        if (failureOf(error).isOurs) services.report(error, `${PATH}, async`);
      });
      return { contentType: V1_CONTENT_TYPES[shape.form], body: new Uint8Array(0), headers };
    },
    refused: (failure) => refused(failure, shape, headers),
  });
  return isAsync && response.status === 200 ? sizedResponse(null, { status: 204, headers: response.headers }) : response;
}

function statementsOf(services: AppServices, { caller, request }: Call<"database">, query: V1Query): Statements {
  const nowNs = BigInt(Date.now()) * NS_PER_MS;
  const { database, retentionPolicy, params } = query;
  return new Statements(query, {
    signal: request.signal,
    rowsMax: services.v1RowsMax,
    run: (placed, answer, signal) => {
      const context = { caller, policies: services.policies(), database, retentionPolicy, params, nowNs, signal };
      return runStatement(services, context, placed, { format: "json", answer: { v1: answer } });
    },
    report: (error) => services.report(error, PATH),
  });
}

function refused({ status, message, headers: more }: Failure, shape: V1Shape, headers: Readonly<Record<string, string>>): Response {
  const isAccess = status === STATUS.unauthenticated || status === STATUS.forbidden;
  const body = isAccess && shape.form === "json" ? JSON.stringify(errorMembers({ status, message })) : v1Refusal(shape, message);
  return sizedResponse(body as string | Uint8Array<ArrayBuffer>, {
    status,
    headers: { "content-type": V1_CONTENT_TYPES[shape.form], ...headers, ...more, "X-Influxdb-Error": headerText(message) },
  });
}

const json = (description: string) => ({ description, content: { "application/json": ErrorBody } });

const ANSWERS = {
  200: {
    description:
      "A result for each statement; an error of a statement is in its result, and the statements behind it are not executed. Long answers are streamed.",
    content: { "application/json": V1Results, "application/csv": t.String(), "application/x-msgpack": t.String({ format: "binary" }) },
  },
  204: { description: "With `async=true`: the statements are under way." },
  400: json("The statements cannot be parsed, or a parameter or the body cannot be understood."),
  405: json("Another method than GET or POST."),
  413: json("The body is larger than --max-http-request-size."),
  503: json("The server is replaying its log, stopping, or has too many statements."),
};

const QueryHeaders = t.Object({
  Accept: optional("Form of the answer: application/json (default), application/csv, text/csv or application/x-msgpack."),
  "Accept-Encoding": optional("With gzip, long answers are compressed for clients on other machines."),
});

/** Routes of the v1 query endpoint. */
export const v1QueryRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const take = (call: Call<"database">) => takeQuery(services, reader, call);
  const notAllowed = ({ request }: AnyCall) => {
    const { status, message, ...failure } = failureOf(new TsdbError("method_not_allowed", "method not allowed"));
    const headers = { ...versionHeaders(services.edition), ...requestIds(request), allow: "GET, POST" };
    return refused({ status: status ?? STATUS.method_not_allowed, message, ...failure }, { form: "json", isPretty: false }, headers);
  };
  const about = {
    access: "database",
    takesPassword: true,
    tag: "Query",
    summary: "Query with the v1-style language (v1)",
    headers: QueryHeaders,
    answers: ANSWERS,
  } as const;
  return new Routes(services.access)
    .get(PATH, operation({ ...about, query: V1QueryQuery }), take)
    .post(
      PATH,
      operation({
        ...about,
        query: t.Partial(V1QueryQuery),
        body: {
          "application/x-www-form-urlencoded": V1QueryBody,
          "multipart/form-data": V1QueryBody,
          "application/json": V1QueryBody,
          "application/vnd.tsdbql": t.String({ description: "The statements." }),
        },
      }),
      take,
    )
    .head(PATH, hidden("any token", { takesPassword: true }), notAllowed)
    .all(PATH, hidden("any token", { takesPassword: true }), notAllowed);
};
