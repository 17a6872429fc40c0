// Restore: /api/v2/restore. Operators alone may; what they send is checked as a whole before anything changes.
import { type Static, Type as t } from "@sinclair/typebox";
import type { BucketManifest } from "../../backup/bucket-manifests.ts";
import { readShardId } from "../../backup/shard-id.ts";
import { checkRetention, type Retention } from "../../metadata/resources/retention.ts";
import { readId } from "../../metadata/store/ids.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import { BodyReader } from "../request/body.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { tokenIn } from "./app/admit.ts";
import { json } from "./app/answers.ts";
import { idIn, JsonBodies } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { readDatabaseInfo } from "./database-info.ts";

/** Metadata are read as a whole. */
const METADATA_BYTES_MAX = 512 << 20;
/** Of a bucket with all its shards. */
const MANIFEST_BYTES_MAX = 64 << 20;

const Shard = t.Object({ id: t.Integer() });
const Group = t.Object({ startTime: t.String(), shards: t.Union([t.Array(Shard), t.Null()]) });
const Policy = t.Object({
  duration: t.Integer(),
  shardGroupDuration: t.Optional(t.Integer()),
  shardGroups: t.Union([t.Array(Group), t.Null()]),
});
/** `BucketManifest`, as far as it is read. */
export const Manifest = t.Object({
  organizationID: t.Optional(t.String()),
  organizationName: t.Optional(t.String()),
  bucketName: t.Optional(t.String()),
  description: t.Optional(t.String()),
  retentionPolicies: t.Optional(t.Array(Policy)),
});

export const restoreRoutes = (services: V2Services): V2Routes => {
  const metadata = new BodyReader(METADATA_BYTES_MAX, services.now, true);
  const shards = new BodyReader(Number.MAX_SAFE_INTEGER, services.now, true);
  const manifests = new JsonBodies(services.now, MANIFEST_BYTES_MAX);
  // parsing a large one holds the event loop, which only operators may do
  const refusable = new JsonBodies(services.now);
  const restoreBucket = (call: V2Call) => restoreMetadata(services, call.principal.isOperator ? manifests : refusable, call);
  const restoreOldBucket = (call: V2Call) => restoreDatabaseInfo(services, metadata, call);
  return new V2Routes(services)
    .post("/api/v2/restore/kv", (call) =>
      patiently(call, async () => {
        const kv = await metadata.readWhole(call.request);
        return json(200, { token: await services.backup().restoreMetadata(kv, tokenIn(call.request)) });
      }),
    )
    .post("/api/v2/restore/sql", (call) =>
      patiently(call, async () => {
        services.backup().checkSql(await metadata.readWhole(call.request));
        return new Response(null);
      }),
    )
    .post("/api/v2/restore/shards/:shardID", (call) =>
      patiently(call, async () => {
        await services.backup().restoreShard(readShardId(call.params["shardID"]!), shards.pieces(call.request));
        return new Response(null);
      }),
    )
    .post("/api/v2/restore/bucketMetadata", restoreBucket)
    .post("/api/v2/restore/bucket-metadata", restoreBucket)
    .post("/api/v2/restore/bucket/:bucketID", restoreOldBucket)
    .post("/api/v2/restore/buckets/:bucketID", restoreOldBucket);
};

/** Large bodies come, and are worked on, for longer than an idle connection lives. */
async function patiently(call: V2Call, run: () => Promise<Response>): Promise<Response> {
  call.principal.requireOperator();
  const restore = liftIdleLimit(call.server, call.request);
  try {
    return await run();
  } finally {
    restore();
  }
}

/** A new bucket, and the numbers that the shards of the backed-up one have in it. The organization is looked up first, as recorded: one
 *  that the sender may not see does not exist. */
async function restoreMetadata(services: V2Services, bodies: JsonBodies, { principal, request }: V2Call): Promise<Response> {
  const manifest = await bodies.read(Manifest, request);
  const { organizations, buckets } = services.line();
  const { organizationID, bucketName: name = "", description = "", retentionPolicies = [] } = manifest;
  const orgID = organizationID === undefined ? null : idIn(organizationID);
  const organization = orgID === null ? null : organizations.find(orgID);
  if (organization === null || !principal.allows({ action: "read", type: "orgs", id: organization.id })) {
    throw new TsdbError("not_found", "organization not found");
  }
  principal.requireOperator();
  if (name === "") throw new TsdbError("bad_request", "the manifest has no bucketName");
  const retention = readRetention(retentionPolicies);
  const shards = retentionPolicies
    .flatMap(({ shardGroups }) => shardGroups ?? [])
    .flatMap(({ startTime, shards }) => (shards ?? []).map(({ id }) => ({ id, startNs: readStart(startTime) })));
  const bucket = await buckets.create({ orgID: organization.id, name, description, rp: "", retention });
  const newIds = services.backup().shardNumbers(
    bucket,
    shards.map(({ startNs }) => startNs),
  );
  const oldIds = shards.map(({ id }) => id);
  const shardMappings = newIds.map((newId, i) => ({ oldId: oldIds[i]!, newId: Number(newId) }));
  return json(201, { id: bucket.id, name: bucket.name, shardMappings });
}

/** The form of version 2.0: the bucket is there, and the answer is a map of numbers. */
async function restoreDatabaseInfo(services: V2Services, reader: BodyReader, call: V2Call): Promise<Response> {
  call.principal.requireOperator();
  const bucket = services.line().buckets.get(readId(call.params["bucketID"]!));
  const shards = readDatabaseInfo(await reader.readWhole(call.request));
  const newIds = services.backup().shardNumbers(
    bucket,
    shards.map(({ startNs }) => startNs),
  );
  const map = Object.fromEntries(shards.map(({ id }, i) => [String(id), Number(newIds[i])]));
  return new Response(`${JSON.stringify(map)}\n`, { headers: { "content-type": "application/octet-stream" } });
}

/** A bucket has one policy. @throws TsdbError bad_request, unprocessable */
function readRetention(policies: readonly Static<typeof Policy>[]): Retention {
  if (policies.length !== 1) {
    const message = `bucket must have 1 retention policy; attempting to restore ${policies.length} retention policies`;
    throw new TsdbError("bad_request", message);
  }
  // away from 0, which is for ever: what is below it stays so, and is refused
  const seconds = (ns: number) => Math.sign(ns) * Math.ceil(Math.abs(ns) / Number(SECOND_NS));
  const { duration = 0, shardGroupDuration = 0 } = policies[0] ?? {};
  return checkRetention({ everySeconds: seconds(duration), shardSeconds: seconds(shardGroupDuration) });
}

/** @throws TsdbError bad_request */
function readStart(text: BucketManifest["retentionPolicies"][number]["shardGroups"][number]["startTime"]): bigint {
  const ms = Date.parse(text);
  const ns = Number.isNaN(ms) ? null : BigInt(ms) * 1_000_000n;
  // the first shard of 64 bits of nanoseconds begins before them
  const spanNs = 3650n * 86_400n * SECOND_NS;
  if (ns !== null && ns >= I64_MIN - spanNs && ns <= I64_MAX) return ns;
  throw new TsdbError("bad_request", `the start of a shard group is ${JSON.stringify(near(text))}, want a time as 2026-01-02T03:04:05Z`);
}
