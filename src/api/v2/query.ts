// POST /api/v2/query: scripts and InfluxQL statements over the buckets of an organization.
import type { V2Line } from "../../metadata/line.ts";
import { bucketNeed } from "../../metadata/resources/buckets.ts";
import type { Organization } from "../../metadata/resources/organizations.ts";
import { ReadableBuckets } from "../../metadata/resources/readable-buckets.ts";
import { parseId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { type FluxBucket, type FluxDatabase, type FluxSecrets, NEEDS_BUCKETS } from "../../model/query/flux.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import { BodyReader } from "../request/body.ts";
import { compressed } from "../shared/gzip-answer.ts";
import { runQuery } from "../shared/run-query.ts";
import { errorAnswer } from "./app/errors.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { placeOf } from "./app/trace.ts";
import { noContentOf, withoutContent } from "./no-content.ts";
import { type QueryBody, readQueryBody } from "./query-body.ts";
import { BucketLines } from "./rows/bucket-lines.ts";
import { organizationOf } from "./rows/bucket-write.ts";
import { runInfluxql } from "./v1/influxql-bodies.ts";

/** Organizations with more do not send the list with every script. */
const BUCKETS_SENT_MAX = 64;
const SCRIPT_BYTES_MAX = 4 << 20;
const SECRETS_PACKAGE = "influxdata/influxdb/secrets";
const PATH = "/api/v2/query";
const DECODING = "failed to decode request body: ";

export const queryRoutes = (services: V2Services): V2Routes => {
  const reader = new BodyReader(SCRIPT_BYTES_MAX, services.now);
  const lines = new BucketLines(services);
  const take = async (call: V2Call): Promise<Response> => {
    const { organization, body } = await decoded(services, reader, call);
    const run = () =>
      body.language === "flux"
        ? new ScriptCall(services, lines, call, organization).run(body)
        : runInfluxql(services, call, organization.id, body);
    const { request, server } = call;
    const noContent = noContentOf(request);
    if (noContent !== null) return withVary(await withoutContent(noContent, body.dialect, run));
    return withVary(
      await runQuery(services, {
        ...{ request, server, path: placeOf(request, PATH) },
        run: async () => compressed(await run(), request, server),
        refused: (_, error) => errorAnswer(error),
      }),
    );
  };
  return new V2Routes("query", services).post(PATH, take);
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

/** A script of one request: what it may read, write and know. */
class ScriptCall {
  private readonly line: V2Line;

  constructor(
    private readonly services: V2Services,
    private readonly lines: BucketLines,
    private readonly call: V2Call,
    private readonly organization: Organization,
  ) {
    this.line = services.line();
  }

  async run(body: QueryBody): Promise<QueryAnswer> {
    const { buckets } = this.line;
    if (buckets.countOf(this.organization.id) <= BUCKETS_SENT_MAX) return this.send(body, true);
    try {
      return await this.send(body, false);
    } catch (error) {
      if (!(error instanceof TsdbError) || error.details[NEEDS_BUCKETS] !== true) throw error;
      return this.send(body, true);
    }
  }

  private send({ text, dialect, extern, ast, nowNs }: QueryBody, hasAllBuckets: boolean): Promise<QueryAnswer> {
    const { principal, request } = this.call;
    const { id: orgID } = this.organization;
    const buckets = readableBuckets(this.line, principal, orgID, hasAllBuckets ? null : namesIn(text));
    const secrets = this.secrets([text, extern, ast]);
    const databases = this.databases([text, extern, ast]);
    const { fluxAllowsPrivateNetwork: allowsPrivateNetwork, fluxSqliteFolder: sqliteFolder } = this.services.options;
    const granted = { buckets, hasAllBuckets, databases, secrets, allowsPrivateNetwork, sqliteFolder };
    return this.services.query.query({
      ...{ database: orgID, statement: text, format: "csv", params: {}, queryType: "flux", signal: request.signal },
      scope: new ReadableBuckets(this.line.buckets, principal),
      flux: { task: "query", organizationId: orgID, nowNs, dialect, extern, ast, ...granted },
      write: (bucketId, lines) => this.write(bucketId, lines),
    });
  }

  /** None unless a source of the script imports their package: they do not leave this thread without need. */
  private secrets(sources: readonly (string | null)[]): FluxSecrets {
    const { id: orgID } = this.organization;
    if (!sources.some((source) => source?.includes(SECRETS_PACKAGE))) return { values: {} };
    if (!this.call.principal.allows({ action: "read", type: "secrets", orgID }))
      return { refusal: `read:orgs/${orgID}/secrets is unauthorized` };
    const { secrets } = this.line;
    return { values: Object.fromEntries(secrets.keys(orgID).map((key) => [key, secrets.value(orgID, key)!])) };
  }

  private databases(sources: readonly (string | null)[]): FluxDatabase[] | null {
    if (!sources.some((source) => source?.includes("databases"))) return null;
    const mappings = this.line.mappings.list(this.organization.id);
    return mappings.map(({ database, retentionPolicy, isDefault, bucketID: bucketId }) => ({
      database,
      retentionPolicy,
      isDefault,
      bucketId,
    }));
  }

  /** @throws TsdbError not_found, forbidden */
  private async write(bucketId: string, lines: string): Promise<string | null> {
    const bucket = this.services.line().buckets.find(bucketId);
    if (bucket === null) throw new TsdbError("not_found", `bucket not found: ${bucketId}`);
    return this.lines.store(new TextEncoder().encode(lines), this.call.principal, bucket);
  }
}

/** Texts in a script that may be names or ids of buckets. */
function namesIn(text: string): readonly string[] {
  return [...new Set(text.match(/"[^"\\\n]{1,256}"/g)?.slice(0, 256) ?? [])].map((literal) => literal.slice(1, -1));
}

/** @param names null: all of the organization */
function readableBuckets(line: V2Line, principal: V2Call["principal"], orgID: string, names: readonly string[] | null): FluxBucket[] {
  const found =
    names === null
      ? line.buckets.allOf(orgID)
      : names.flatMap((name) => line.buckets.findByName(orgID, name) ?? line.buckets.find(name) ?? []);
  return found
    .filter((bucket) => bucket.orgID === orgID && principal.allows(bucketNeed("read", bucket)))
    .map(({ id, name, retentionSeconds }) => ({
      id,
      name,
      organizationId: orgID,
      retentionPeriodNs: BigInt(retentionSeconds) * 1_000_000_000n,
    }));
}
