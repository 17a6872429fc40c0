// The kinds of records, and in which table and columns of the view each lies. A new resource adds its kind here, its table in migrations.ts
// and its file in resources/.

/** Times are RFC 3339 texts. Lists and objects are kept as JSON in the view. */
export interface RecordTypes {
  organization: {
    readonly name: string;
    readonly description: string;
    /** Of its databases. 0: what port 8181 sees. */
    readonly namespace: number;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  user: { readonly name: string; readonly status: Status /** Kept and shown. */; readonly oauthID: string };
  /** Under the user's id: an argon2id hash. */
  password: { readonly hash: string };
  /** What a database's own operations do not say of a bucket; under the bucket's id. */
  bucket: {
    readonly type: "user" | "system";
    readonly description: string;
    readonly rp: string;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  member: {
    readonly userID: string;
    readonly resourceType: ResourceType;
    readonly resourceID: string;
    readonly role: "owner" | "member";
  };
  authorization: AuthorizationRecord & {
    /** SHA-512 of the token, 128 hex digits. */
    readonly tokenHash: string;
    /** The encrypted token, for lists that show it; null with --v2-use-hashed-tokens. */
    readonly sealedToken: string | null;
  };
  /** Of v1 clients. */
  legacy_authorization: AuthorizationRecord & {
    readonly username: string;
    /** argon2id; null: it has no password, and nobody can use it. */
    readonly passwordHash: string | null;
  };
  label: { readonly orgID: string; readonly name: string; readonly properties: Readonly<Record<string, string>> };
  label_mapping: { readonly labelID: string; readonly resourceType: ResourceType; readonly resourceID: string };
  /** A stored mapping; virtual ones are made of buckets. */
  dbrp: {
    readonly orgID: string;
    readonly bucketID: string;
    readonly database: string;
    readonly retentionPolicy: string;
    readonly isDefault: boolean;
  };
  secret: { readonly orgID: string; readonly key: string; readonly sealedValue: string };
  /** A server whose metrics are read every minute. What it names may not be there. */
  scraper: {
    readonly orgID: string;
    readonly bucketID: string;
    readonly name: string;
    readonly type: string;
    readonly url: string;
    readonly allowInsecure: boolean;
  };
  /** A server that replications send rows to. */
  remote: {
    readonly orgID: string;
    readonly name: string;
    /** Null: never given. */
    readonly description: string | null;
    readonly remoteURL: string;
    readonly remoteOrgID: string | null;
    readonly allowInsecureTLS: boolean;
    /** Encrypted. */
    readonly sealedToken: string;
  };
  replication: {
    readonly orgID: string;
    readonly name: string;
    readonly description: string | null;
    readonly remoteID: string;
    readonly localBucketID: string;
    /** Null: the name is given. */
    readonly remoteBucketID: string | null;
    readonly remoteBucketName: string;
    readonly maxQueueSizeBytes: number;
    readonly dropNonRetryableData: boolean;
    /** Not above 0: no limit. */
    readonly maxAgeSeconds: number;
    /** Rows of later frames of the log are sent. */
    readonly sinceSequence: number;
  };
  check: AlertRecord & OwnedRecord;
  /** Its organization may be missing. What is secret in it is a secret of the organization. */
  notification_endpoint: AlertRecord;
  /** Its endpoint may be deleted. */
  notification_rule: AlertRecord & OwnedRecord & { readonly endpointID: string };
  dashboard: {
    readonly orgID: string;
    readonly name: string;
    readonly description: string;
    readonly cells: readonly DashboardCell[];
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  variable: {
    readonly orgID: string;
    readonly name: string;
    readonly description: string;
    readonly arguments: VariableArgumentsRecord;
    readonly selected: readonly string[] | null;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  telegraf: {
    readonly orgID: string;
    readonly name: string;
    readonly description: string;
    /** TOML, as it came. */
    readonly config: string;
    /** `buckets`: the names of those that it writes to; other members as they came. */
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  notebook: {
    readonly orgID: string;
    readonly name: string;
    /** Of the interface that shows it, as JSON: a text costs the collector of memory nothing, its parts would. */
    readonly spec: string;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  /** Of annotations. */
  annotation_stream: {
    readonly orgID: string;
    readonly name: string;
    readonly description: string;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  /** What happened in a range of times, for people. Its times have nine digits of the second: texts are ordered as times. */
  annotation: {
    readonly orgID: string;
    readonly streamID: string;
    readonly summary: string;
    readonly message: string;
    readonly stickers: Readonly<Record<string, string>>;
    readonly startTime: string;
    readonly endTime: string;
  };
  /** A server whose data pages show. Its organization may be missing. */
  source: {
    readonly orgID: string;
    readonly isDefault: boolean;
    readonly name: string;
    /** `self`, `v1`, `v2`, or any text that a client has sent. */
    readonly type: string;
    readonly url: string;
    readonly metaUrl: string;
    readonly telegraf: string;
    readonly defaultRP: string;
    readonly username: string;
    readonly insecureSkipVerify: boolean;
    /** Encrypted: the JSON of its token, password and shared secret. */
    readonly sealedSecrets: string;
  };
  task: {
    readonly orgID: string;
    /** The user with whose rights it runs; may be deleted: then it may do nothing. */
    readonly ownerID: string;
    /** What it was made for: those of checks and rules are not listed. */
    readonly kind: "task" | "check" | "rule";
    readonly name: string;
    readonly description: string;
    readonly status: Status;
    readonly flux: string;
    /** As the script has them; null: it has none. */
    readonly every: string | null;
    readonly cron: string | null;
    readonly offset: string | null;
    readonly createdAt: string;
    /** Null: never changed. */
    readonly updatedAt: string | null;
  };
  /** Under the task's id. Small, because every run changes it. */
  task_state: {
    /** All runs that are due until then have ended. */
    readonly latestCompleted: string;
    /** Times behind it whose runs have ended. */
    readonly doneAhead: readonly string[];
    readonly lastRunStatus: "success" | "failed" | "canceled" | null;
    readonly lastRunError: string | null;
    /** What the last run that succeeded was for. */
    readonly lastSuccess: string | null;
  };
  /** A run that a client asked for, until it has ended. */
  task_run: { readonly taskID: string; readonly scheduledFor: string; readonly requestedAt: string };
  /** What templates have made. */
  stack: { readonly orgID: string; readonly createdAt: string; readonly events: readonly StackEvent[] };
}

/** The state of a stack after something has changed it. */
export interface StackEvent {
  readonly eventType: "create" | "update" | "uninstall";
  readonly name: string;
  readonly description: string;
  readonly resources: readonly StackResource[];
  readonly sources: readonly string[];
  readonly urls: readonly string[];
  readonly updatedAt: string;
}

export interface StackResource {
  readonly apiVersion: string;
  readonly resourceID: string;
  /** A category of templates, or any text that a client has sent. */
  readonly kind: string;
  readonly templateMetaName: string;
  readonly associations: readonly { readonly kind: string; readonly metaName: string }[];
  /** It was there before the stack, which does not delete it. */
  readonly isAttached: boolean;
}

export interface DashboardCell {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly name: string;
  /** Of its view, as the client gave them; null: none. */
  readonly properties: object | null;
  /** Of a cell that was made with its dashboard and had a view: the name that it had. Dashboards without views show it. */
  readonly firstName?: string;
}

type VariableArgumentsRecord =
  | { readonly type: "constant"; readonly values: readonly string[] }
  | { readonly type: "map"; readonly values: Readonly<Record<string, string>> }
  | { readonly type: "query"; readonly values: { readonly query: string; readonly language: string } };

interface AlertRecord {
  readonly orgID: string;
  readonly name: string;
  readonly description: string;
  readonly status: Status;
  /** What there is for its type, as `alerts/` defines it. */
  readonly settings: object;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** It runs as a task. */
interface OwnedRecord {
  /** With whose rights. */
  readonly ownerID: string;
  readonly taskID: string;
}

export interface AuthorizationRecord {
  readonly orgID: string;
  /** The user may be deleted: the authorization stays, and is refused. */
  readonly userID: string;
  readonly status: Status;
  readonly description: string;
  readonly permissions: readonly RecordPermission[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type Status = "active" | "inactive";

export interface RecordPermission {
  readonly action: "read" | "write";
  readonly resource: { readonly type: ResourceType; readonly id?: string; readonly orgID?: string };
}

/** In the order in which /api/v2/resources lists them. */
export const RESOURCE_TYPES = [
  ...(["authorizations", "buckets", "dashboards", "orgs", "sources", "tasks", "telegrafs", "users", "variables", "scrapers"] as const),
  ...(["secrets", "labels", "views", "documents", "notificationRules", "notificationEndpoints", "checks", "dbrp"] as const),
  ...(["notebooks", "annotations", "remotes", "replications", "instance"] as const),
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export type RecordKind = keyof RecordTypes;

type Columns<K extends RecordKind> = readonly (keyof RecordTypes[K] & string)[];
type KindTable = {
  readonly [K in RecordKind]: {
    readonly table: string;
    readonly columns: Columns<K>;
    /** Other columns, made of a record: lists read them instead of the whole. */
    readonly derived?: Readonly<Record<string, (record: RecordTypes[K]) => unknown>>;
  };
};

const ALERT = ["orgID", "name", "description", "status", "settings", "createdAt", "updatedAt"] as const;
const AUTHORIZATION = ["orgID", "userID", "status", "description", "permissions", "createdAt", "updatedAt"] as const;

/** In an order in which a record comes after those that it refers to. */
export const KINDS: KindTable = {
  organization: { table: "organizations", columns: ["name", "description", "namespace", "createdAt", "updatedAt"] },
  user: { table: "users", columns: ["name", "status", "oauthID"] },
  password: { table: "passwords", columns: ["hash"] },
  bucket: { table: "bucketRecords", columns: ["type", "description", "rp", "createdAt", "updatedAt"] },
  member: { table: "members", columns: ["userID", "resourceType", "resourceID", "role"] },
  authorization: { table: "authorizations", columns: [...AUTHORIZATION, "tokenHash", "sealedToken"] },
  legacy_authorization: { table: "legacyAuthorizations", columns: [...AUTHORIZATION, "username", "passwordHash"] },
  label: { table: "labels", columns: ["orgID", "name", "properties"] },
  label_mapping: { table: "labelMappings", columns: ["labelID", "resourceType", "resourceID"] },
  dbrp: { table: "dbrps", columns: ["orgID", "bucketID", "database", "retentionPolicy", "isDefault"] },
  secret: { table: "secrets", columns: ["orgID", "key", "sealedValue"] },
  dashboard: {
    table: "dashboards",
    columns: ["orgID", "name", "description", "cells", "createdAt", "updatedAt"],
    derived: { cellPlaces: ({ cells }) => cells.map(({ name: _, properties: __, ...place }) => place) },
  },
  variable: { table: "variables", columns: ["orgID", "name", "description", "arguments", "selected", "createdAt", "updatedAt"] },
  telegraf: { table: "telegrafs", columns: ["orgID", "name", "description", "config", "metadata"] },
  notebook: { table: "notebooks", columns: ["orgID", "name", "spec", "createdAt", "updatedAt"] },
  annotation_stream: { table: "annotationStreams", columns: ["orgID", "name", "description", "createdAt", "updatedAt"] },
  annotation: { table: "annotations", columns: ["orgID", "streamID", "summary", "message", "stickers", "startTime", "endTime"] },
  source: {
    table: "sources",
    columns: [
      ...(["orgID", "isDefault", "name", "type", "url", "metaUrl", "telegraf", "defaultRP", "username"] as const),
      ...(["insecureSkipVerify", "sealedSecrets"] as const),
    ],
  },
  task: {
    table: "tasks",
    columns: [
      ...(["orgID", "ownerID", "kind", "name", "description", "status", "flux", "every", "cron", "offset"] as const),
      ...(["createdAt", "updatedAt"] as const),
    ],
  },
  task_state: { table: "taskStates", columns: ["latestCompleted", "doneAhead", "lastRunStatus", "lastRunError", "lastSuccess"] },
  task_run: { table: "taskRuns", columns: ["taskID", "scheduledFor", "requestedAt"] },
  scraper: { table: "scrapers", columns: ["orgID", "bucketID", "name", "type", "url", "allowInsecure"] },
  remote: {
    table: "remotes",
    columns: ["orgID", "name", "description", "remoteURL", "remoteOrgID", "allowInsecureTLS", "sealedToken"],
  },
  replication: {
    table: "replications",
    columns: [
      ...(["orgID", "name", "description", "remoteID", "localBucketID", "remoteBucketID", "remoteBucketName"] as const),
      ...(["maxQueueSizeBytes", "dropNonRetryableData", "maxAgeSeconds", "sinceSequence"] as const),
    ],
  },
  check: { table: "checks", columns: [...ALERT, "ownerID", "taskID"] },
  notification_endpoint: { table: "notificationEndpoints", columns: ALERT },
  notification_rule: { table: "notificationRules", columns: [...ALERT, "ownerID", "taskID", "endpointID"] },
  stack: { table: "stacks", columns: ["orgID", "createdAt", "events"] },
};
