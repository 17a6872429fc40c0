// Buckets: /api/v2/buckets.
import { type Static, Type as t } from "@sinclair/typebox";
import type { Principal } from "../../metadata/access/principal.ts";
import { type Bucket, type BucketUpdate, bucketNeed } from "../../metadata/resources/buckets.ts";
import { type Retention, requirePositive } from "../../metadata/resources/retention.ts";
import { readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { goQuoted } from "../../model/query/go-quoted.ts";
import { json, noContent } from "./app/answers.ts";
import { pageLinks, readPage } from "./app/paging.ts";
import { IdText, idIn, JsonBodies, type SearchParams } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { addLabelRoutes } from "./labels.ts";
import { addMemberRoutes } from "./members.ts";
import { parentId } from "./organizations.ts";
import { shownBucket } from "./shown.ts";

const nullable = <T extends ReturnType<typeof t.String | typeof t.Integer>>(schema: T) => t.Optional(t.Union([schema, t.Null()]));
const Rules = t.Array(
  t.Object({ type: nullable(t.String()), everySeconds: nullable(t.Integer()), shardGroupDurationSeconds: nullable(t.Integer()) }),
);
export const BucketBody = t.Object({
  orgID: IdText,
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  rp: t.Optional(t.String()),
  schemaType: t.Optional(t.Unknown()),
  retentionRules: t.Optional(Rules),
});
export const BucketUpdateBody = t.Object({
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  retentionRules: t.Optional(Rules),
});

const BUCKETS = "/api/v2/buckets";
const HEAD = "failed to unmarshal json: ";
/** The vendor's command line client sends an empty list so. */
const NULLS = { retentionRules: [] };

export const bucketRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const shown = (bucket: Bucket) => shownBucket(bucket, line().labels.ofResource("buckets", bucket.id));
  const routes = new V2Routes(services)
    .get(BUCKETS, ({ principal, search }) => {
      const page = readPage(search);
      const found = listed(services, search).filter((bucket) => canRead(principal, bucket));
      const filters = {
        ...{ bucket: search.get("name"), id: search.id("id"), org: search.get("org"), orgID: search.id("orgID") },
        sortBy: search.get("sortBy"),
      };
      return json(200, { links: pageLinks(BUCKETS, page, found.length, filters), buckets: found.map(shown) });
    })
    .post(BUCKETS, async ({ principal, request }) => {
      const body = await bodies.read(BucketBody, request, HEAD, NULLS);
      if (body.orgID === undefined) throw new TsdbError("bad_request", "organization id must be provided");
      const orgID = idIn(body.orgID);
      const { name = "", description = "", rp = "" } = body;
      const retention = readRetention(body.retentionRules, services.options.defaultRetentionSeconds);
      principal.require({ action: "write", type: "buckets", orgID });
      return json(201, shown(await line().buckets.create({ orgID, name, description, rp, retention })));
    })
    .get(`${BUCKETS}/:bucketID`, ({ principal, params }) => {
      const bucket = line().buckets.get(readId(params["bucketID"]!));
      principal.require(bucketNeed("read", bucket));
      return json(200, shown(bucket));
    })
    .patch(`${BUCKETS}/:bucketID`, async ({ principal, params, request }) => {
      const id = readId(params["bucketID"]!);
      const update = readUpdate(await bodies.read(BucketUpdateBody, request));
      const bucket = line().buckets.get(id);
      // the name is looked at, as recorded
      if (update.name !== undefined) principal.require(bucketNeed("read", bucket));
      principal.require({ action: "write", type: "buckets", id, orgID: bucket.orgID });
      // without its labels, as recorded
      return json(200, shownBucket(await line().buckets.update(id, update), []));
    })
    .delete(`${BUCKETS}/:bucketID`, async ({ principal, params }) => {
      const id = readId(params["bucketID"]!);
      const bucket = line().buckets.get(id);
      principal.require({ action: "write", type: "buckets", id, orgID: bucket.orgID });
      await line().buckets.delete(id);
      return noContent();
    });
  const parent = (call: V2Call) => parentBucket(services, call);
  addLabelRoutes(routes, services, { path: BUCKETS, param: "bucketID", type: "buckets", parent });
  return addMemberRoutes(routes, services, { path: BUCKETS, type: "buckets", parent });
};

/** Those that the filters mean; an id goes before all others. @throws TsdbError bad_request, not_found */
function listed(services: V2Services, search: SearchParams): Bucket[] {
  const { buckets, organizations } = services.line();
  const page = readPage(search);
  const [id, givenOrg] = [search.id("id"), search.id("orgID")];
  if (id !== undefined) return [buckets.get(id)];
  const [name, org] = [search.get("name"), search.get("org")];
  const orgID = givenOrg ?? (org === undefined ? undefined : organizations.byName(org).id);
  if (orgID === undefined || name === undefined) {
    return buckets.list({ ...(orgID === undefined ? {} : { orgID }), ...(name === undefined ? {} : { name }) }, page);
  }
  // there is one, on whatever page
  const found = buckets.findByName(orgID, name);
  if (found === null) throw new TsdbError("not_found", `bucket ${goQuoted(name)} not found`);
  return [found];
}

/** The bucket that a path below /api/v2/buckets is about: a bucket that the sender may not see does not exist.
 *  @throws TsdbError bad_request, not_found */
export function parentBucket(services: V2Services, { params, principal }: Pick<V2Call, "params" | "principal">): Bucket {
  const bucket = services.line().buckets.find(parentId(params["bucketID"]!));
  if (bucket === null || !canRead(principal, bucket)) throw new TsdbError("not_found", "404 page not found");
  return bucket;
}

/** True if the principal may read the bucket. */
export function canRead(principal: Principal, bucket: Bucket): boolean {
  return principal.allows(bucketNeed("read", bucket));
}

type RuleList = Static<typeof Rules>;

/** A list without rules is how the vendor's clients say "for ever", `null` its command line; the default is for bodies without a list.
 *  @throws TsdbError unprocessable */
function readRetention(rules: RuleList | undefined, defaultSeconds: number): Retention {
  if (rules === undefined) return { everySeconds: defaultSeconds, shardSeconds: null };
  const { everySeconds, shardGroupDurationSeconds } = onlyRule(rules) ?? {};
  const retention = { everySeconds: everySeconds ?? 0, shardSeconds: shardGroupDurationSeconds ?? null };
  requirePositive(retention.everySeconds, retention.shardSeconds ?? undefined);
  return retention;
}

function onlyRule(rules: RuleList): RuleList[number] | undefined {
  if (rules.length > 1) throw new TsdbError("unprocessable", "buckets cannot have more than one retention rule at this time");
  return rules[0];
}

/** @throws TsdbError unprocessable */
function readUpdate({ name, description, retentionRules = [] }: Static<typeof BucketUpdateBody>): BucketUpdate {
  const rule = onlyRule(retentionRules);
  requirePositive(rule?.everySeconds ?? 0, rule?.shardGroupDurationSeconds ?? 0);
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(typeof rule?.everySeconds === "number" ? { everySeconds: rule.everySeconds } : {}),
    ...(typeof rule?.shardGroupDurationSeconds === "number" ? { shardSeconds: rule.shardGroupDurationSeconds } : {}),
  };
}
