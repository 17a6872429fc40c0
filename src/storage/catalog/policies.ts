// Settings of a database's retention policies, which are the databases `db/rp`, as shown to v1 clients. Part of the catalog's state: no
// clock, no I/O.
import { badValue, readCount, readNs, readObject, readText } from "../../object-store/operation-values.ts";

/** The settings last written. */
export interface PolicySettings {
  /** The database `db/rp` that calls without a policy use: its `rp`, in lower case. null: the database itself. */
  readonly defaultPolicy: string | null;
  /** Position of the database itself among its policies: before those with greater ids. null: it is not one of them. */
  readonly place: number | null;
  /** Displayed name of the policy; null: the database's name. */
  readonly label: string | null;
  /** Displayed only. null: derived from the retention period. */
  readonly shardNs: string | null;
  /** Displayed only. */
  readonly replicas: number;
}

export interface SetPolicies extends PolicySettings {
  readonly kind: "set_policies";
  readonly databaseId: number;
}

/** The settings of a database for which none were written. */
export function freshPolicies(databaseId: number): PolicySettings {
  return { defaultPolicy: null, place: databaseId, label: null, shardNs: null, replicas: 1 };
}

/** @throws TsdbError corrupt_file */
export function readSetPolicies(value: unknown): SetPolicies {
  const item = readObject("set_policies", value);
  return { kind: "set_policies", databaseId: readCount("databaseId", item["databaseId"]), ...readPolicies(item) };
}

/** @throws TsdbError corrupt_file */
export function readPolicies(value: unknown): PolicySettings {
  const { defaultPolicy, place, label, shardNs, replicas } = readObject("policies", value);
  const shard = shardNs === null ? null : readNs("shardNs", shardNs);
  if (shard !== null && shard < 0n) badValue("shardNs", shardNs, "0 or more");
  return {
    defaultPolicy: defaultPolicy === null ? null : readText("defaultPolicy", defaultPolicy),
    place: place === null ? null : readCount("place", place),
    label: label === null ? null : readText("label", label),
    shardNs: shard === null ? null : String(shard),
    replicas: readCount("replicas", replicas),
  };
}
