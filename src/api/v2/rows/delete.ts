// POST /api/v2/delete: rows of a bucket within a range of times whose tags fit a predicate.
import { type Static, Type as t } from "@sinclair/typebox";
import type { V2Line } from "../../../metadata/line.ts";
import type { Bucket } from "../../../metadata/resources/buckets.ts";
import { databaseIdOf, parseId, readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../../../model/query/go-quoted.ts";
import type { TimeRange } from "../../../model/query/scan.ts";
import { parseTimeText } from "../../../sql/parse/time-text.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "../../../tsdbql/plan/time-range.ts";
import { noContent } from "../app/answers.ts";
import { checkedMembers, JsonBodies, type SearchParams } from "../app/params.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { rowsOrganizationOf } from "./bucket-write.ts";
import { parseDeletePredicate } from "./delete-predicate.ts";

export const DeleteBody = t.Object({
  start: t.Optional(t.String()),
  stop: t.Optional(t.String()),
  predicate: t.Optional(t.String()),
});
const HEAD = "error decoding json body: ";
const RFC_3339 = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:[0-5]\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

export const deleteRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  return new V2Routes(services).post("/api/v2/delete", async ({ principal, request, search }) => {
    const { value, rest } = await bodies.first(request, HEAD);
    const body = checkedMembers(DeleteBody, value ?? {}, HEAD);
    const range = rangeOf(body);
    const predicate = parseDeletePredicate(body.predicate ?? "");
    if (rest !== "") {
      const character = String.fromCodePoint(rest.codePointAt(0)!);
      throw new TsdbError("bad_request", `error decoding json body for predicate: invalid character '${character}' after top-level value`);
    }
    const { id, orgID } = bucketOf(services.line(), search);
    if (!principal.allows({ action: "write", type: "buckets", id, orgID })) {
      throw new TsdbError("forbidden", "insufficient permissions to delete");
    }
    if (predicate !== null && range.minNs <= range.maxNs) {
      const rows = services.rows();
      const { measurement, condition } = predicate;
      const tables = rows.tables(databaseIdOf(id)!).filter(({ name }) => measurement === null || name === measurement);
      await rows.deleteRows(tables, { range, condition }, request.signal, { forgetsEmptied: true });
    }
    return noContent();
  });
};

/** Both ends belong to it. @throws TsdbError bad_request */
function rangeOf({ start, stop }: Static<typeof DeleteBody>): TimeRange {
  const minNs = timeOf(start, { field: "start", example: "2009-01-02T23:00:00Z", limit: "before 1677-09-21T00:12:43.145224194Z" });
  const maxNs = timeOf(stop, { field: "stop", example: "2009-01-01T23:00:00Z", limit: "after 2262-04-11T23:47:16.854775806Z" });
  return { minNs, maxNs };
}

interface TimeTexts {
  readonly field: string;
  readonly example: string;
  readonly limit: string;
}

/** @throws TsdbError bad_request, also for a time that no row can have, with the limit of the field, as recorded */
function timeOf(text: string | undefined, { field, example, limit }: TimeTexts): bigint {
  const time = text === undefined || !RFC_3339.test(text) ? null : parseTimeText(text.replace(",", "."));
  if (time === null) {
    const format = `please format your time with RFC3339Nano format, example: ${example}`;
    throw new TsdbError("bad_request", `${HEAD}invalid RFC3339Nano for field ${field}, ${format}`);
  }
  if (time !== "range" && time >= TIME_MIN_NS && time <= TIME_MAX_NS) return time;
  throw new TsdbError("bad_request", `${HEAD}invalid ${field} time, ${field} time must not be ${limit}`);
}

/** By `bucketID`, or by `bucket`, an id of any organization or a name within the named organization. @throws TsdbError bad_request,
 *  not_found */
function bucketOf(line: V2Line, search: SearchParams): Bucket {
  const { id: orgID } = rowsOrganizationOf(line, search);
  const [bucketID, bucket] = [search.get("bucketID"), search.get("bucket")];
  if (bucketID !== undefined) return line.buckets.get(readId(bucketID));
  if (bucket === undefined) throw new TsdbError("bad_request", "Please provide either bucketID or bucket");
  const id = parseId(bucket);
  const found = (id === null ? null : line.buckets.find(id)) ?? line.buckets.findByName(orgID, bucket);
  if (found === null) throw new TsdbError("not_found", id === null ? `bucket ${goQuoted(bucket)} not found` : "bucket not found");
  return found;
}
