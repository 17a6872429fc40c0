// Buckets: the databases of an organization's namespace, with what the v2 line adds to them. Made in either place they are seen in both.
import { TsdbError } from "../../model/errors.ts";
import { bucketNameError } from "../../model/names.ts";
import { type CatalogOperation, systemNamespace } from "../../storage/catalog/operations.ts";
import { freshPolicies } from "../../storage/catalog/policies.ts";
import { checkDatabaseLimit } from "../../storage/catalog/schema-limits.ts";
import type { Need } from "../access/permissions.ts";
import { usualShardNs } from "../store/database-rows.ts";
import { bucketIdOf, databaseIdOf } from "../store/ids.ts";
import type { Change, Metadata } from "../store/metadata.ts";
import type { Labels } from "./labels.ts";
import type { Mappings } from "./mappings.ts";
import { type Page, pageClause } from "./page.ts";
import type { Replications } from "./replication/replications.ts";
import { checkRetention, checkUpdatedRetention, type Retention, secondsNs } from "./retention.ts";

export interface Bucket {
  readonly id: string;
  readonly orgID: string;
  readonly name: string;
  readonly type: "user" | "system";
  /** "" = none. */
  readonly description: string;
  /** "" = none. */
  readonly rp: string;
  /** 0 = for ever. */
  readonly retentionSeconds: number;
  readonly shardSeconds: number;
  /** Null for a database that port 8181 made. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

export interface NewBucket {
  readonly orgID: string;
  readonly name: string;
  readonly description: string;
  readonly rp: string;
  /** Checked when the bucket is made. */
  readonly retention: Retention;
}

export interface BucketUpdate {
  readonly name?: string;
  readonly description?: string;
  readonly everySeconds?: number;
  readonly shardSeconds?: number;
}

export interface BucketFilter {
  readonly orgID?: string;
  readonly name?: string;
}

export interface BucketLimits {
  /** Of an organization, without its system buckets; null = no limit. */
  readonly countMax: number | null;
  /** Null = no limit. */
  readonly retentionSecondsMax: number | null;
}

export const NO_BUCKET_LIMITS: BucketLimits = { countMax: null, retentionSecondsMax: null };

/** What a request needs to read or to change it. System buckets are seen by who sees their organization. */
export function bucketNeed(action: "read" | "write", { id, orgID, type }: Pick<Bucket, "id" | "orgID" | "type">): Need {
  return type === "system" && action === "read" ? { action, type: "orgs", id: orgID } : { action, type: "buckets", id, orgID };
}

/** What a request needs to read it through its mappings: of a system bucket more than to see it. */
export function mappingNeeds(bucket: Pick<Bucket, "id" | "orgID" | "type">): readonly Need[] {
  const { id, orgID } = bucket;
  return [bucketNeed("read", bucket), { action: "read", type: "buckets", id, orgID }];
}

type Place = { readonly id: string; readonly namespace: number };
type Deletion = { readonly databaseId: number };

const COLUMNS = "id, orgID, name, type, description, rp, retentionSeconds, shardSeconds, createdAt, updatedAt";
const SYSTEM_BUCKETS = [
  { name: "_monitoring", description: "System bucket for monitoring logs", everySeconds: 7 * 86_400 },
  { name: "_tasks", description: "System bucket for task logs", everySeconds: 3 * 86_400 },
] as const;

/** Characters. Lists hold the names of all. */
const NAME_LENGTH_MAX = 65_536;

/** Lists of organizations that scripts ask for again and again: each script gets the names of all buckets. */
const KNOWN_LISTS_MAX = 64;
/** A longer list is asked for by few scripts. */
const KNOWN_BUCKETS_MAX = 64;
/** Single ones, and names that no bucket has. A statement asks four times, and tasks run hundreds of statements a second. */
const KNOWN_SINGLE_MAX = 4096;
/** Characters: a request may name any bucket. */
const KNOWN_KEY_MAX = 256;

/** Creates, finds, changes and deletes buckets. */
export class BucketService {
  /** By organization, of `knownRevision`. */
  private readonly lists = new Map<string, readonly Bucket[]>();
  /** By id, and by organization and name; of `knownRevision`. */
  private readonly singles = new Map<string, Bucket | null>();
  private knownRevision = -1;

  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels; readonly mappings: Mappings; readonly replications: Replications },
    private readonly limits: BucketLimits,
    /** Is told of databases that are to be dropped, when that is durable. */
    private readonly onDropped: (databaseIds: readonly number[]) => void,
  ) {}

  get count(): number {
    return this.metadata.view.count("from buckets");
  }

  find(id: string): Bucket | null {
    return this.single(`id ${id}`, () => this.metadata.view.get<Bucket>(`select ${COLUMNS} from buckets where id = ?`, id));
  }

  /** @throws TsdbError not_found */
  get(id: string): Bucket {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "bucket not found");
    return found;
  }

  findByName(orgID: string, name: string): Bucket | null {
    const sql = `select ${COLUMNS} from buckets where orgID = ? and name = ?`;
    return this.single(`${orgID.length} ${orgID} ${name}`, () => this.metadata.view.get<Bucket>(sql, orgID, name));
  }

  countOf(orgID: string): number {
    const known = this.known(orgID);
    return known === undefined ? this.metadata.view.count("from buckets where orgID = ?", orgID) : known.length;
  }

  /** All of an organization, by name. */
  allOf(orgID: string): readonly Bucket[] {
    const known = this.known(orgID);
    if (known !== undefined) return known;
    const found = this.metadata.view.all<Bucket>(`select ${COLUMNS} from buckets where orgID = ? order by name`, orgID);
    if (found.length > KNOWN_BUCKETS_MAX) return found;
    if (this.lists.size >= KNOWN_LISTS_MAX) this.lists.clear();
    this.lists.set(orgID, found);
    return found;
  }

  /** The list that was read since the last change. */
  private known(orgID: string): readonly Bucket[] | undefined {
    this.forgetChanged();
    return this.lists.get(orgID);
  }

  /** What was read since the last change, or is read now. */
  private single(key: string, read: () => Bucket | null): Bucket | null {
    this.forgetChanged();
    const known = this.singles.get(key);
    if (known !== undefined) return known;
    const found = read();
    if (this.singles.size >= KNOWN_SINGLE_MAX) this.singles.clear();
    if (key.length <= KNOWN_KEY_MAX) this.singles.set(key, found);
    return found;
  }

  private forgetChanged(): void {
    const { revision } = this.metadata;
    if (revision === this.knownRevision) return;
    this.lists.clear();
    this.singles.clear();
    this.knownRevision = revision;
  }

  /** By name within an organization; otherwise by id. @throws TsdbError bad_request */
  list({ orgID, name }: BucketFilter, page: Page): Bucket[] {
    if (orgID !== undefined && name === undefined && page.after !== null) return this.listAfter(orgID, page.after, page);
    const conditions: string[] = [];
    const bound: string[] = [];
    if (orgID !== undefined) {
      conditions.push("orgID = ?");
      bound.push(orgID);
    }
    if (name !== undefined) {
      conditions.push("name = ?");
      bound.push(name);
    }
    if (orgID === undefined && name !== undefined && page.offset > 0) return this.listBeyond(name, page);
    const order = orgID !== undefined && page.after === null ? "name" : "id";
    const { clause, values } = pageClause(page, conditions, bound, order);
    return this.metadata.view.all<Bucket>(`select ${COLUMNS} from buckets ${clause}`, ...values);
  }

  /** Those of a name in all organizations. As recorded, the offset is within the list of all buckets. */
  private listBeyond(name: string, page: Page): Bucket[] {
    const { clause, values } = pageClause({ ...page, limit: -1 });
    const order = page.isDescending ? "desc" : "asc";
    const sql = `select ${COLUMNS} from (select * from buckets ${clause}) where name = ? order by id ${order} limit ?`;
    return this.metadata.view.all<Bucket>(sql, ...values, name, page.limit);
  }

  /** Those that follow a bucket in the order of the list; none for an unknown one, and for one within the offset. */
  private listAfter(orgID: string, after: string, { limit, offset, isDescending }: Page): Bucket[] {
    const order = isDescending ? "desc" : "asc";
    const all = this.metadata.view.all<{ id: string }>(`select id from buckets where orgID = ? order by name ${order}`, orgID);
    const rest = all.slice(offset);
    const at = rest.findIndex(({ id }) => id === after);
    return at < 0 ? [] : rest.slice(at + 1, at + 1 + limit).map(({ id }) => this.get(id));
  }

  /** @throws TsdbError already_exists, bad_request, limit_exceeded; forbidden beyond the limits of an organization */
  async create(bucket: NewBucket): Promise<Bucket> {
    checkBucketName(bucket.name);
    const id = await this.metadata.change((change) => {
      const place = this.metadata.view.get<Place>("select id, namespace from organizations where id = ?", bucket.orgID);
      if (place === null) throw new TsdbError("not_found", "organization not found");
      return this.planCreate(change, place, bucket);
    });
    return this.get(id);
  }

  /** The id of a new bucket. @param madeBefore buckets of the same change, which are not counted yet */
  planCreate(change: Change, place: Place, bucket: NewBucket, madeBefore = 0): string {
    checkBucketName(bucket.name);
    if (this.findByName(place.id, bucket.name) !== null) {
      throw new TsdbError("already_exists", `bucket with name ${bucket.name} already exists`);
    }
    const retention = checkRetention(bucket.retention);
    this.checkQuota(place.id, madeBefore);
    this.checkMaximum(retention.everySeconds);
    return this.plan(change, place, { ...bucket, retention, type: "user" }, madeBefore);
  }

  /** A bucket, unless there is a database of its name, made by port 8181: then that one. */
  planAdopt(change: Change, place: Place, bucket: NewBucket): string {
    const existing = this.metadata.catalog.findDatabase(bucket.name, place.namespace);
    checkBucketName(bucket.name);
    this.checkMaximum(bucket.retention.everySeconds);
    if (existing === undefined) return this.plan(change, place, { ...bucket, type: "user" });
    const id = bucketIdOf(existing.id);
    change.put("bucket", id, {
      type: "user",
      description: bucket.description,
      rp: bucket.rp,
      createdAt: change.now,
      updatedAt: change.now,
    });
    return id;
  }

  planSystemBuckets(change: Change, place: Place): void {
    for (const { name, description, everySeconds } of SYSTEM_BUCKETS) {
      const retention = checkRetention({ everySeconds });
      this.plan(change, place, { orgID: place.id, name, description, rp: "", retention, type: "system" });
    }
  }

  /** @throws TsdbError not_found, bad_request, unprocessable; forbidden beyond the maximum retention */
  async update(id: string, changed: BucketUpdate): Promise<Bucket> {
    await this.metadata.change((change) => this.planUpdate(change, id, changed));
    return this.get(id);
  }

  /** @throws as `update` */
  planUpdate(change: Change, id: string, changed: BucketUpdate): void {
    const bucket = this.get(id);
    const databaseId = databaseIdOf(id)!;
    if (changed.name !== undefined && changed.name !== bucket.name) {
      change.apply({ kind: "rename_database", id: databaseId, name: this.newName(bucket, changed.name) });
    }
    change.apply(...this.retentionOperations(databaseId, bucket, changed));
    const { type, rp } = bucket;
    const description = changed.description ?? bucket.description;
    change.put("bucket", id, { type, description, rp, createdAt: bucket.createdAt ?? change.now, updatedAt: change.now });
  }

  /** @throws TsdbError not_found, bad_request for a system bucket */
  async delete(id: string): Promise<void> {
    this.onDropped([await this.metadata.change((change) => this.planDeleteOne(change, id))]);
  }

  /** Its database; `dropped` is to be called when the change is durable. @throws as `delete` */
  planDeleteOne(change: Change, id: string): number {
    if (this.get(id).type === "system") throw new TsdbError("bad_request", "system buckets cannot be deleted");
    return this.planDelete(change, id).databaseId;
  }

  /** The databases of all buckets of an organization. `dropped` is to be called when the change is durable. */
  planDeleteAll(change: Change, orgID: string): number[] {
    const buckets = this.metadata.view.all<{ id: string }>("select id from buckets where orgID = ?", orgID);
    return buckets.map(({ id }) => this.planDelete(change, id).databaseId);
  }

  dropped(databaseIds: readonly number[]): void {
    if (databaseIds.length > 0) this.onDropped(databaseIds);
  }

  /** Removes what is left of buckets whose databases port 8181 has dropped. */
  forgetDropped(): Promise<void> {
    return this.metadata.change((change) => {
      const { view } = this.metadata;
      const isGone = "not in (select id from databases)";
      for (const [kind, table] of [
        ["member", "members"],
        ["label_mapping", "labelMappings"],
      ] as const) {
        const rows = view.all<{ id: string }>(`select id from ${table} where resourceType = 'buckets' and resourceID ${isGone}`);
        for (const { id } of rows) change.remove(kind, id);
      }
      const replications = `select id from replications where localBucketID ${isGone}`;
      for (const { id } of view.all<{ id: string }>(replications)) change.remove("replication", id);
      for (const { id } of view.all<{ id: string }>(`select id from dbrps where bucketID ${isGone}`)) change.remove("dbrp", id);
      for (const { id } of view.all<{ id: string }>(`select id from bucketRecords where id ${isGone}`)) change.remove("bucket", id);
    });
  }

  /** @throws TsdbError bad_request, unprocessable */
  private newName({ orgID, type }: Bucket, name: string): string {
    if (type === "system") throw new TsdbError("bad_request", "system buckets cannot be renamed");
    checkBucketName(name);
    if (this.findByName(orgID, name) !== null) throw new TsdbError("already_exists", "bucket name is not unique");
    return name;
  }

  private retentionOperations(databaseId: number, bucket: Bucket, { everySeconds, shardSeconds }: BucketUpdate): CatalogOperation[] {
    if (everySeconds === undefined && shardSeconds === undefined) return [];
    const every = everySeconds ?? bucket.retentionSeconds;
    if (everySeconds !== undefined) this.checkMaximum(everySeconds);
    checkUpdatedRetention(every, shardSeconds, bucket.shardSeconds);
    const shardNs = secondsNs(shardSeconds ?? bucket.shardSeconds);
    const policies = this.metadata.catalog.policies(databaseId);
    return [
      { kind: "set_retention", of: "database", id: databaseId, retentionNs: String(secondsNs(every)) },
      { ...policies, kind: "set_policies", databaseId, shardNs: String(shardNs) },
    ];
  }

  /** @throws TsdbError forbidden */
  private checkQuota(orgID: string, madeBefore: number): void {
    const { countMax } = this.limits;
    const count = "from buckets where orgID = ? and type = 'user'";
    if (countMax === null || this.metadata.view.count(count, orgID) + madeBefore < countMax) return;
    throw new TsdbError("forbidden", `bucket quota exceeded: the organization may have ${countMax} buckets`);
  }

  /** @throws TsdbError forbidden */
  private checkMaximum(everySeconds: number): void {
    const { retentionSecondsMax } = this.limits;
    if (retentionSecondsMax === null || (everySeconds > 0 && everySeconds <= retentionSecondsMax)) return;
    const message = `retention exceeds the organization's maximum of ${retentionSecondsMax} seconds`;
    throw new TsdbError("forbidden", message, { everySeconds });
  }

  /** The database is deleted as by port 8181 with immediate hard deletion. */
  private planDelete(change: Change, id: string): Deletion {
    const { view, catalog } = this.metadata;
    const databaseId = databaseIdOf(id)!;
    const { name } = catalog.databaseById(databaseId)!;
    const deletedMs = Date.parse(change.now);
    // ids are never reused, so this name is free
    change.apply({ kind: "soft_delete", of: "database", id: databaseId, name: `${name}-${id}`, deletedMs, hardDeleteMs: deletedMs });
    const members = "select id from members where resourceType = 'buckets' and resourceID = ?";
    for (const member of view.all<{ id: string }>(members, id)) change.remove("member", member.id);
    this.parts.labels.planRemoveAll(change, "buckets", id);
    this.parts.mappings.planRemoveOfBucket(change, id);
    this.parts.replications.planRemoveOfBucket(change, id);
    if (view.get("select id from bucketRecords where id = ?", id) !== null) change.remove("bucket", id);
    return { databaseId };
  }

  private plan(change: Change, { namespace }: Place, bucket: NewBucket & Pick<Bucket, "type">, madeBefore = 0): string {
    const { catalog } = this.metadata;
    checkDatabaseLimit({ databaseCount: catalog.databaseCount + madeBefore }, catalog.limits);
    const databaseId = change.newDatabaseId();
    const { everySeconds, shardSeconds } = bucket.retention;
    const retentionNs = secondsNs(everySeconds);
    const shardNs = shardSeconds === null ? usualShardNs(retentionNs) : secondsNs(shardSeconds);
    const operations: CatalogOperation[] = [
      {
        kind: "create_database",
        id: databaseId,
        namespace: bucket.type === "system" ? systemNamespace(namespace) : namespace,
        name: bucket.name,
      },
      { kind: "set_retention", of: "database", id: databaseId, retentionNs: String(retentionNs) },
      { kind: "set_policies", databaseId, ...freshPolicies(databaseId), shardNs: String(shardNs) },
    ];
    change.apply(...operations);
    const id = bucketIdOf(databaseId);
    const { type, description, rp } = bucket;
    change.put("bucket", id, { type, description, rp, createdAt: change.now, updatedAt: change.now });
    return id;
  }
}

/** @throws TsdbError bad_request, too_large */
function checkBucketName(name: string): void {
  if (name.length > NAME_LENGTH_MAX) throw new TsdbError("too_large", `the name of a bucket may have ${NAME_LENGTH_MAX} characters`);
  const message = bucketNameError(name);
  if (message !== null) throw new TsdbError("bad_request", message);
}
