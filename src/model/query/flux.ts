// The part of a statement in Flux that its text does not hold.

/** A bucket that the sender may read. */
export interface FluxBucket {
  /** 16 hexadecimal digits; also its name in the statement's scope. */
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** 0 = for ever. */
  readonly retentionPeriodNs: bigint;
  /** True if the sender may not write it. */
  readonly isReadOnly?: boolean;
}

/** A v1 client's name for one of the buckets. */
export interface FluxDatabase {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly isDefault: boolean;
  readonly bucketId: string;
}

export interface FluxDialect {
  readonly header: boolean;
  /** One character. */
  readonly delimiter: string;
  readonly annotations: readonly ("datatype" | "group" | "default")[];
}

/** query: annotated CSV. run: the same without an answer, so that every error is one of the statement. rehearse: a run
 *  that asks nothing of other servers. prepare: nothing, but a later run finds the script compiled. ast: the tree as JSON. analyze: the
 *  errors of syntax as JSON. suggestions: all functions, or the function that the text names, as JSON. */
export type FluxTask = "query" | "run" | "rehearse" | "prepare" | "ast" | "analyze" | "suggestions";

/** Values by key, of the organization, null where the server cannot decrypt one; or why the sender may not read them. */
export type FluxSecrets = { readonly values: Readonly<Record<string, string | null>> } | { readonly refusal: string };

export interface FluxOptions {
  readonly task: FluxTask;
  /** 16 hexadecimal digits; empty for a task that reads no rows. */
  readonly organizationId: string;
  readonly organizationName: string;
  /** Names in the script of organizations that the sender may see. */
  readonly otherOrganizations: readonly string[];
  /** Value of now(). */
  readonly nowNs: bigint;
  readonly dialect: FluxDialect;
  /** JSON of the files that stand before the script; null: none. */
  readonly extern: string | null;
  /** JSON of a package that is the script; the text is empty then. Null: the text is the script. */
  readonly ast: string | null;
  readonly buckets: readonly FluxBucket[];
  /** False: the organization has more, whose names the text does not show. A statement that wants them fails with NEEDS_BUCKETS. */
  readonly hasAllBuckets: boolean;
  /** Names of v1 clients for the buckets; null where no source of the script can ask for them. */
  readonly databases: readonly FluxDatabase[] | null;
  readonly secrets: FluxSecrets;
  /** Its requests may go to loopback and private addresses. */
  readonly allowsPrivateNetwork: boolean;
  /** Folder of the SQLite files that it may open; null: none. */
  readonly sqliteFolder: string | null;
  /** False: operators of the script are not left to the scan. For comparisons. */
  readonly pushesDown?: boolean;
}

/** A detail of the error of a statement whose options lack buckets. */
export const NEEDS_BUCKETS = "needsBuckets";
