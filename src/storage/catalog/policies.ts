// What v1 clients are told of a database as a retention policy and of its other policies, which are the databases `db/rp`. Part of the
// catalog's state: no clock, no I/O.
import { badValue, readCount, readNs, readObject, readText } from "../../object-store/operation-values.ts";

/** As it was set last. */
export interface PolicySettings {
  /** Which of the databases `db/rp` calls mean that name no policy: its `rp`, in small letters. null: the database itself. */
  readonly defaultPolicy: string | null;
  /** Where the database itself stands among its policies: before those whose ids are greater. null: it is none of them. */
  readonly place: number | null;
  /** What the policy is called when it is shown; null: by the database's name. */
  readonly label: string | null;
  /** Only shown. null: as follows from how long rows are kept. */
  readonly shardNs: string | null;
  /** Only shown. */
  readonly replicas: number;
}

export interface SetPolicies extends PolicySettings {
  readonly kind: "set_policies";
  readonly databaseId: number;
}

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
