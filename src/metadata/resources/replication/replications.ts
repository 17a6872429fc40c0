// Replications: which bucket's new rows are sent to which remote connection. `replications/` sends them.
import { TsdbError } from "../../../model/errors.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";

export type Replication = RecordTypes["replication"] & { readonly id: string };
type ReplicationRow = Omit<Replication, "dropNonRetryableData"> & { readonly dropNonRetryableData: number };

export interface ReplicationFilter {
  readonly orgID?: string | undefined;
  readonly name?: string | undefined;
  readonly remoteID?: string | undefined;
  readonly localBucketID?: string | undefined;
}

/** Of the queue of a replication, and of what was sent last. */
export interface ReplicationState {
  /** The queue's files on disk. */
  readonly queueBytes: number;
  readonly remainingBytes: number;
  /** Absent before anything was sent since the start. */
  readonly latestResponseCode?: number;
  readonly latestErrorMessage?: string;
}

/** Where a replication sends to. */
export type ReplicationTarget = Pick<Replication, "remoteID" | "remoteBucketID" | "remoteBucketName">;

/** What runs the replications. */
export interface ReplicationService {
  state(id: string): ReplicationState;
  /** The position of a replication that is made now. */
  sequence(): number;
  /** Sends no rows, to see whether the remote takes them. @throws TsdbError bad_request with what it answered */
  validate(target: ReplicationTarget): Promise<void>;
}

/** The least that the vendor's server takes. */
const QUEUE_BYTES_LEAST = 33_554_430;

/** Creates, finds, changes and deletes replications. */
export class Replications {
  constructor(private readonly metadata: Metadata) {}

  get count(): number {
    return this.metadata.view.count("from replications");
  }

  /** Grows with every change of any record. */
  get version(): number {
    return this.metadata.version;
  }

  /** Grows when all records are replaced. */
  get generation(): number {
    return this.metadata.generation;
  }

  find(id: string): Replication | null {
    const row = this.metadata.view.get<ReplicationRow>("select * from replications where id = ?", id);
    return row === null ? null : replicationOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Replication {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "replication not found");
    return found;
  }

  /** In order of creation. */
  list({ orgID, name, remoteID, localBucketID }: ReplicationFilter = {}): Replication[] {
    const sql = `select * from replications where (?1 is null or orgID = ?1) and (?2 is null or name = ?2)
      and (?3 is null or remoteID = ?3) and (?4 is null or localBucketID = ?4) order by id`;
    const filters = [orgID ?? null, name ?? null, remoteID ?? null, localBucketID ?? null];
    return this.metadata.view.all<ReplicationRow>(sql, ...filters).map(replicationOf);
  }

  /** @throws TsdbError as `check` */
  create(replication: RecordTypes["replication"]): Promise<Replication> {
    return this.metadata.change((change) => this.planPut(change, change.newId(), replication));
  }

  /** @throws TsdbError not_found; as `check` */
  update(id: string, changed: Partial<RecordTypes["replication"]>): Promise<Replication> {
    return this.metadata.change((change) => {
      const { id: _, ...before } = this.get(id);
      return this.planPut(change, id, { ...before, ...changed });
    });
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      change.remove("replication", id);
    });
  }

  planRemoveOfBucket(change: Change, localBucketID: string): void {
    for (const { id } of this.list({ localBucketID })) change.remove("replication", id);
  }

  /** Whether it may be stored, but for its name. @throws TsdbError bad_request, unprocessable */
  check({ maxQueueSizeBytes, maxAgeSeconds, remoteID, remoteBucketID, remoteBucketName }: RecordTypes["replication"]): void {
    requireQueueRoom(maxQueueSizeBytes);
    for (const [name, value] of Object.entries({ maxQueueSizeBytes, maxAgeSeconds })) {
      if (!Number.isSafeInteger(value)) throw new TsdbError("bad_request", `${name} is ${value}, want a whole number below 2^53`);
    }
    if (remoteBucketID === null && remoteBucketName === "") {
      throw new TsdbError("unprocessable", "one of remote_bucket_id, remote_bucket_name should be provided");
    }
    if (this.metadata.view.get("select id from remotes where id = ?", remoteID) === null) {
      throw new TsdbError("bad_request", `remote "${remoteID}" not found: FOREIGN KEY constraint failed`);
    }
  }

  /** @throws TsdbError already_exists */
  checkName({ orgID, name }: { readonly orgID: string; readonly name: string }, ownId: string | null): void {
    const same = "select id from replications where orgID = ? and name = ? and id is not ?";
    if (this.metadata.view.get(same, orgID, name, ownId) === null) return;
    throw new TsdbError("already_exists", "UNIQUE constraint failed: replications.org_id, replications.name");
  }

  private planPut(change: Change, id: string, record: RecordTypes["replication"]): Replication {
    this.check(record);
    this.checkName(record, id);
    change.put("replication", id, record);
    return { id, ...record };
  }
}

function replicationOf({ dropNonRetryableData, ...row }: ReplicationRow): Replication {
  return { ...row, dropNonRetryableData: dropNonRetryableData !== 0 };
}

/** @throws TsdbError bad_request */
export function requireQueueRoom(maxQueueSizeBytes: number): void {
  if (maxQueueSizeBytes >= QUEUE_BYTES_LEAST) return;
  throw new TsdbError("bad_request", `maxQueueSize too small, must be at least ${QUEUE_BYTES_LEAST}`);
}
