// Replications: /api/v2/replications.
import { type Static, Type as t } from "@sinclair/typebox";
import type { Principal } from "../../../metadata/access/principal.ts";
import { type Replication, requireQueueRoom } from "../../../metadata/resources/replication/replications.ts";
import { parseId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { IdText, JsonBodies, type SearchParams } from "../app/params.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { given, optionalId, orgIn, requiredId, sameName } from "./remotes.ts";

const CHANGEABLE = {
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  remoteID: IdText,
  remoteBucketID: IdText,
  remoteBucketName: t.Optional(t.String()),
  maxQueueSizeBytes: t.Optional(t.Integer()),
  dropNonRetryableData: t.Optional(t.Boolean()),
  maxAgeSeconds: t.Optional(t.Integer()),
};
export const ReplicationBody = t.Object({ orgID: IdText, localBucketID: IdText, ...CHANGEABLE });
export const ReplicationUpdateBody = t.Object(CHANGEABLE);

const REPLICATIONS = "/api/v2/replications";
const ITEM = `${REPLICATIONS}/:replicationID`;
const QUEUE_BYTES_DEFAULT = 67_108_860;

export const replicationRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const stored = () => services.line().replications;
  const shown = (replication: Replication) => shownReplication(services, replication);
  return new V2Routes(services)
    .get(REPLICATIONS, ({ principal, search }) => {
      const found = stored().list(filterIn(search));
      const visible = found.filter((replication) => principal.allows(needOf("read", replication)));
      return json(200, { replications: found.length === 0 ? null : visible.map(shown) });
    })
    .post(REPLICATIONS, async ({ principal, request, search }) => {
      const made = { ...newReplication(await bodies.read(ReplicationBody, request)), sinceSequence: services.replicating().sequence() };
      principal.require({ action: "write", type: "replications", orgID: made.orgID });
      requireBucket(services, principal, made);
      requireRemote(services, principal, made);
      if (isValidation(search)) {
        await validated(services, made, "replication parameters fail validation: ");
        return noContent();
      }
      return sameName(async () => {
        const replication = await stored().create(made);
        return json(201, { ...shown(replication), currentQueueSizeBytes: 0, remainingBytesToBeSynced: 0 });
      });
    })
    .get(ITEM, ({ principal, params }) => {
      const replication = stored().get(pathId(params["replicationID"]!));
      principal.require(needOf("read", replication));
      return json(200, shown(replication));
    })
    .patch(ITEM, async ({ principal, params, request, search }) => {
      const id = pathId(params["replicationID"]!);
      const body = await bodies.read(ReplicationUpdateBody, request);
      const [remoteID, remoteBucketID] = [optionalId(body.remoteID), optionalId(body.remoteBucketID)];
      if (body.maxQueueSizeBytes !== undefined) requireQueueRoom(body.maxQueueSizeBytes);
      const before = stored().get(id);
      principal.require(needOf("write", before));
      const { name, description, remoteBucketName, maxQueueSizeBytes, dropNonRetryableData, maxAgeSeconds } = body;
      const changed = given({
        ...{ name, description, remoteID, remoteBucketID, remoteBucketName },
        ...{ maxQueueSizeBytes, dropNonRetryableData, maxAgeSeconds },
      });
      const after = { ...before, ...changed };
      if (remoteID !== undefined) requireRemote(services, principal, after);
      if (!isValidation(search)) return sameName(async () => json(200, shown(await stored().update(id, changed))));
      await validated(services, after, "validation fails after applying update: ");
      return noContent();
    })
    .delete(ITEM, async ({ principal, params }) => {
      const replication = stored().get(pathId(params["replicationID"]!));
      principal.require(needOf("write", replication));
      await stored().delete(replication.id);
      return noContent();
    })
    .post(`${ITEM}/validate`, async ({ principal, params }) => {
      const replication = stored().get(pathId(params["replicationID"]!));
      principal.require(needOf("read", replication));
      await validated(services, replication, "replication failed validation: ");
      return noContent();
    });
};

/** @throws TsdbError bad_request */
function newReplication(body: Static<typeof ReplicationBody>): Omit<Replication, "id" | "sinceSequence"> {
  const missing = "invalid id for permission: invalid ID";
  const maxQueueSizeBytes = body.maxQueueSizeBytes ?? QUEUE_BYTES_DEFAULT;
  requireQueueRoom(maxQueueSizeBytes);
  const remoteBucketID = optionalId(body.remoteBucketID) ?? null;
  return {
    orgID: requiredId(body.orgID, "invalid org id for permission: invalid ID"),
    name: body.name ?? "",
    description: body.description ?? null,
    remoteID: requiredId(body.remoteID, missing),
    localBucketID: requiredId(body.localBucketID, missing),
    remoteBucketID,
    // the id goes before the name
    remoteBucketName: remoteBucketID === null ? (body.remoteBucketName ?? "") : "",
    maxQueueSizeBytes,
    dropNonRetryableData: body.dropNonRetryableData ?? false,
    maxAgeSeconds: body.maxAgeSeconds ?? 0,
  };
}

/** @throws TsdbError bad_request */
function filterIn(search: SearchParams) {
  const orgID = orgIn(search);
  const [remoteID, localBucketID] = [idIn(search, "remoteID", "remote"), idIn(search, "localBucketID", "local bucket")];
  return { orgID, name: search.get("name"), remoteID, localBucketID };
}

function idIn(search: SearchParams, name: string, called: string): string | undefined {
  const text = search.get(name);
  if (text === undefined) return undefined;
  const id = parseId(text);
  if (id === null) throw new TsdbError("bad_request", `invalid ${called} ID`);
  return id;
}

const isValidation = (search: SearchParams): boolean => search.get("validate") === "true";

/** @throws TsdbError bad_request with what was wrong */
async function validated(services: V2Services, replication: Omit<Replication, "id">, head: string): Promise<void> {
  const { replications, remotes } = services.line();
  if (remotes.find(replication.remoteID) === null) {
    throw new TsdbError("bad_request", `remote "${replication.remoteID}" not found`);
  }
  replications.check(replication);
  try {
    await services.replicating().validate(replication);
  } catch (error) {
    if (!(error instanceof TsdbError) || error.kind !== "bad_request") throw error;
    throw new TsdbError("bad_request", head + error.message);
  }
}

/** Its rows go elsewhere. The right for the bucket's own organization counts. @throws TsdbError */
function requireBucket(
  services: V2Services,
  principal: Principal,
  { localBucketID: id, orgID }: Pick<Replication, "localBucketID" | "orgID">,
) {
  const bucket = services.line().buckets.find(id);
  principal.require({ action: "read", type: "buckets", id, orgID: bucket?.orgID ?? orgID });
  if (bucket === null) throw new TsdbError("bad_request", `local bucket "${id}" not found: bucket not found`);
}

/** Its token is used. @throws TsdbError */
function requireRemote(services: V2Services, principal: Principal, { remoteID: id, orgID }: Pick<Replication, "remoteID" | "orgID">) {
  const remote = services.line().remotes.find(id);
  principal.require({ action: "read", type: "remotes", id, orgID: remote?.orgID ?? orgID });
}

function pathId(text: string): string {
  const id = parseId(text);
  if (id === null) throw new TsdbError("bad_request", "replication ID is invalid");
  return id;
}

function needOf(action: "read" | "write", { id, orgID }: Replication) {
  return { action, type: "replications", id, orgID } as const;
}

function shownReplication(services: V2Services, replication: Replication) {
  const { id, orgID, name, description, remoteID, localBucketID, remoteBucketID, remoteBucketName, ...rest } = replication;
  const { queueBytes, remainingBytes, ...latest } = services.replicating().state(id);
  return {
    ...{ id, orgID, name, ...(description === null ? {} : { description }), remoteID, localBucketID, remoteBucketID },
    // the vendor's spelling; JavaScript clients read the documented one
    ...{ RemoteBucketName: remoteBucketName, remoteBucketName },
    ...{ maxQueueSizeBytes: rest.maxQueueSizeBytes, currentQueueSizeBytes: queueBytes, remainingBytesToBeSynced: remainingBytes },
    ...latest,
    ...{ dropNonRetryableData: rest.dropNonRetryableData, maxAgeSeconds: rest.maxAgeSeconds },
  };
}
