// POST /api/v2/query: scripts and InfluxQL statements over the buckets of an organization.
import type { Organization } from "../../metadata/resources/organizations.ts";
import { parseId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { BodyReader } from "../request/body.ts";
import { compressed, V2_RULE } from "../shared/gzip-answer.ts";
import { runQuery } from "../shared/run-query.ts";
import { errorAnswer } from "./app/errors.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { placeOf } from "./app/trace.ts";
import { noContentOf, withoutContent } from "./no-content.ts";
import { type QueryBody, readQueryBody } from "./query-body.ts";
import { organizationOf } from "./rows/bucket-write.ts";
import { Scripts } from "./scripts.ts";
import { runInfluxql } from "./v1/influxql-bodies.ts";

const SCRIPT_BYTES_MAX = 4 << 20;
const PATH = "/api/v2/query";
const DECODING = "failed to decode request body: ";

export const queryRoutes = (services: V2Services): V2Routes => {
  const reader = new BodyReader(SCRIPT_BYTES_MAX, services.now, true);
  const scripts = new Scripts(services);
  const take = async (call: V2Call): Promise<Response> => {
    const { organization, body } = await decoded(services, reader, call);
    const { request, server, principal } = call;
    const sender = { principal, orgID: organization.id, signal: request.signal };
    const run = () =>
      body.language === "flux" ? scripts.run(sender, { ...body, task: "query" }) : runInfluxql(services, call, organization.id, body);
    const noContent = noContentOf(request);
    if (noContent !== null) return withVary(await withoutContent(noContent, body.dialect, run));
    return withVary(
      await runQuery(services, {
        ...{ request, server, path: placeOf(request, PATH) },
        run: async () => compressed(await run(), request, server, V2_RULE),
        refused: (_, error) => errorAnswer(error),
      }),
    );
  };
  return new V2Routes(services).post(PATH, take);
};

/** Answers differ by what the client says of encodings, also where this one is not compressed. */
function withVary(response: Response): Response {
  response.headers.set("vary", "Accept-Encoding");
  return response;
}

interface DecodedCall {
  readonly organization: Organization;
  readonly body: QueryBody;
}

/** Problems with the organization are problems of the request too. @throws TsdbError bad_request */
async function decoded(services: V2Services, reader: BodyReader, call: V2Call): Promise<DecodedCall> {
  try {
    const body = await readQueryBody(call.request, reader, services.clockMs());
    return { organization: organizationOf(services.line(), call.search), body };
  } catch (error) {
    if (!(error instanceof TsdbError) || !["bad_request", "not_found", "empty_value"].includes(error.kind)) throw error;
    const isId = error.kind === "not_found" && parseId(call.search.get("org") ?? "") !== null;
    throw new TsdbError("bad_request", DECODING + (isId ? "organization not found" : error.message));
  }
}
