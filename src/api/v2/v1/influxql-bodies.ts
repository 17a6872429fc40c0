// POST /api/v2/query with `type: "influxql"`: the statements of version 1.x over a bucket, answered as their CSV.
import type { Bucket } from "../../../metadata/resources/buckets.ts";
import { bucketNeed } from "../../../metadata/resources/buckets.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../../../model/query/go-quoted.ts";
import type { QueryAnswer } from "../../../model/query/query.ts";
import { NO_PARAMS } from "../../../tsdbql/parse/params.ts";
import { parseQuery } from "../../../tsdbql/parse/parser.ts";
import type { V1Query } from "../../v1/query-request.ts";
import { Statements } from "../../v1/statements.ts";
import type { V2Call } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { BucketStatements } from "./bucket-statements.ts";

const CSV = "text/csv; charset=utf-8";

export interface InfluxqlBody {
  readonly text: string;
  /** Name or id of the bucket that statements mean which name none; null: they name a database. */
  readonly bucket: string | null;
  readonly nowNs: bigint;
}

/** @throws TsdbError bad_query: the text is no statement; not_found: there is no such bucket that the sender may read; what the first
 *  statement fails with, before a long answer */
export async function runInfluxql(services: V2Services, call: V2Call, orgID: string, body: InfluxqlBody): Promise<QueryAnswer> {
  const { principal, request } = call;
  const bucket = body.bucket === null ? null : readableBucket(services, call, orgID, body.bucket);
  const names =
    bucket === null
      ? undefined
      : services
          .line()
          .mappings.list(orgID)
          .find(({ bucketID }) => bucketID === bucket.id);
  const statements = parseQuery(body.text, NO_PARAMS, "2.x");
  const query: V1Query = {
    statements,
    ...{ database: names?.database ?? "", retentionPolicy: names?.retentionPolicy ?? null },
    ...{ params: null, isReadOnly: false, isAsync: false },
    answer: { form: "csv", isPretty: false, epochNs: null, chunkRows: null, statementCount: statements.length },
  };
  const run = new BucketStatements(services, principal, query, body.nowNs, orgID);
  let failure: unknown;
  const answer = await new Statements(query, {
    ...{ signal: request.signal, rowsMax: 0, report: (error) => services.report(error, "/api/v2/query") },
    run: async (placed, each, signal) => {
      try {
        return await run.run(placed, each, signal);
      } catch (error) {
        failure ??= error;
        throw error;
      }
    },
  }).answer();
  // CSV has no place for an error
  if (failure !== undefined) throw failure;
  return { ...answer, contentType: CSV };
}

function readableBucket(services: V2Services, { principal }: V2Call, orgID: string, wanted: string): Bucket {
  const { buckets } = services.line();
  const bucket = buckets.findByName(orgID, wanted) ?? buckets.find(wanted);
  if (bucket !== null && bucket.orgID === orgID && principal.allows(bucketNeed("read", bucket))) return bucket;
  throw new TsdbError("not_found", `bucket ${goQuoted(near(wanted))} not found`);
}
