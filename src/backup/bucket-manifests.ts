// The part `buckets` of a backup: every bucket with its retention and the shards that have rows, in the vendor's words. The command line
// client reads it and fetches each shard.

import type { V2Line } from "../metadata/line.ts";
import type { Organization } from "../metadata/resources/organizations.ts";
import { databaseIdOf } from "../metadata/store/ids.ts";
import { SECOND_NS } from "../model/time/time-units.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import { shardIdOf, windowOf } from "./shard-id.ts";

export interface ShardGroup {
  readonly id: number;
  readonly startTime: string;
  readonly endTime: string;
  readonly shards: readonly { readonly id: number; readonly shardOwners: readonly unknown[] }[];
}

export interface BucketManifest {
  readonly organizationID: string;
  readonly organizationName: string;
  readonly bucketID: string;
  readonly bucketName: string;
  readonly description?: string;
  readonly defaultRetentionPolicy: string;
  readonly retentionPolicies: readonly {
    readonly name: string;
    readonly replicaN: number;
    /** Nanoseconds. */
    readonly duration: number;
    readonly shardGroupDuration: number;
    readonly shardGroups: readonly ShardGroup[];
    readonly subscriptions: readonly unknown[];
  }[];
}

const POLICY = "autogen";
const ALL = { limit: -1, offset: 0, after: null, isDescending: false };

/** Of what is in files. */
export function bucketManifests({ buckets, organizations }: V2Line, catalog: Catalog, manifest: Manifest): BucketManifest[] {
  const names = new Map(organizations.list({}, ALL).map(({ id, name }: Organization) => [id, name]));
  return buckets.list({}, ALL).map(({ id, orgID, name, description, retentionSeconds, shardSeconds }) => ({
    organizationID: orgID,
    organizationName: names.get(orgID)!,
    bucketID: id,
    bucketName: name,
    ...(description === "" ? {} : { description }),
    defaultRetentionPolicy: POLICY,
    retentionPolicies: [
      {
        name: POLICY,
        replicaN: 1,
        duration: retentionSeconds * Number(SECOND_NS),
        shardGroupDuration: shardSeconds * Number(SECOND_NS),
        shardGroups: shardGroups(catalog, manifest, databaseIdOf(id)!, BigInt(shardSeconds) * SECOND_NS),
        subscriptions: [],
      },
    ],
  }));
}

function shardGroups(catalog: Catalog, manifest: Manifest, databaseId: number, durationNs: bigint): ShardGroup[] {
  const ends = new Map<bigint, bigint>();
  for (const { id } of catalog.tables(databaseId)) {
    for (const { block } of manifest.blocksOf(id)) {
      // a block is of one day: of the shards of an hour it may touch 24, some of them empty
      let { startNs, endNs } = windowOf(block.minTimeNs, durationNs);
      for (; startNs <= block.maxTimeNs; [startNs, endNs] = [endNs, endNs + durationNs]) ends.set(startNs, endNs);
    }
  }
  return [...ends]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([startNs, endNs]) => {
      const id = Number(shardIdOf(databaseId, startNs));
      return { id, startTime: timeText(startNs), endTime: timeText(endNs), shards: [{ id, shardOwners: [] }] };
    });
}

/** RFC 3339 in seconds: shards begin with one. */
function timeText(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString().replace(/\.\d+Z$/, "Z");
}
