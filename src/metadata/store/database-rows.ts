// Databases of the catalog as rows of the view: a bucket is a database.
import { DAY_NS, HOUR_NS } from "../../model/time/time-units.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { organizationNamespace, SERVER_NAMESPACE } from "../../storage/catalog/operations.ts";
import { bucketIdOf } from "./ids.ts";
import type { MetadataView } from "./view.ts";

export interface DatabaseRow {
  /** The bucket's. */
  readonly id: string;
  /** The organization's. */
  readonly namespace: number;
  readonly name: string;
  readonly isDeleted: boolean;
  /** 0 = for ever. */
  readonly retentionSeconds: number;
  readonly shardSeconds: number;
}

const SECOND_NS = 1_000_000_000n;

/** @param databaseIds only these; dropped ones are left out */
export function databaseRows(catalog: Catalog, databaseIds?: ReadonlySet<number>): DatabaseRow[] {
  const deleted = () => catalog.deleted().flatMap(({ of, def }) => (of === "database" ? [def.id] : []));
  const rows: DatabaseRow[] = [];
  for (const databaseId of databaseIds ?? [...catalog.allDatabases().map(({ id }) => id), ...deleted()]) {
    const def = catalog.databaseById(databaseId);
    if (def === undefined || def.namespace === SERVER_NAMESPACE) continue;
    const retentionNs = catalog.retentionNs("database", databaseId) ?? 0n;
    const { shardNs } = catalog.policies(databaseId);
    const isDeleted = catalog.findDeletedDatabase(def.name, def.namespace) !== undefined;
    rows.push({
      ...{ id: bucketIdOf(databaseId), namespace: organizationNamespace(def.namespace), name: def.name, isDeleted },
      // never shorter than what the rows are kept for
      retentionSeconds: Number((retentionNs + SECOND_NS - 1n) / SECOND_NS),
      shardSeconds: Number((shardNs === null ? usualShardNs(retentionNs) : BigInt(shardNs)) / SECOND_NS),
    });
  }
  return rows;
}

/** Inserts or replaces the row of a database. */
export function putDatabase(view: MetadataView, { id, namespace, name, isDeleted, retentionSeconds, shardSeconds }: DatabaseRow): void {
  view.run(
    `insert into databases (id, namespace, name, isDeleted, retentionSeconds, shardSeconds) values (?, ?, ?, ?, ?, ?)
     on conflict (id) do update set name = excluded.name, isDeleted = excluded.isDeleted, retentionSeconds = excluded.retentionSeconds,
       shardSeconds = excluded.shardSeconds`,
    ...[id, namespace, name, isDeleted ? 1 : 0, retentionSeconds, shardSeconds],
  );
}

/** What the vendor chooses for a bucket: only shown, nothing depends on it here. */
export function usualShardNs(retentionNs: bigint): bigint {
  if (retentionNs === 0n || retentionNs >= 180n * DAY_NS) return 7n * DAY_NS;
  return retentionNs >= 2n * DAY_NS ? DAY_NS : HOUR_NS;
}
