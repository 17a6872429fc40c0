// Mappings of a v1 client's database and retention policy to a bucket (DBRP). Stored ones are made by requests. Every other bucket has a
// virtual one, of its own name: bucket `d` is database `d`, policy `autogen`; bucket `d/p` is database `d`, policy `p`.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";

export interface Mapping {
  /** That of the bucket for a virtual one. */
  readonly id: string;
  readonly orgID: string;
  readonly bucketID: string;
  readonly database: string;
  readonly retentionPolicy: string;
  /** Used where a client names no policy; at most one of a database is it. */
  readonly isDefault: boolean;
  readonly isVirtual: boolean;
}

export type NewMapping = Pick<Mapping, "orgID" | "bucketID" | "database" | "retentionPolicy" | "isDefault">;

export interface MappingUpdate {
  readonly isDefault?: boolean;
  readonly retentionPolicy?: string;
}

type Row = Omit<RecordTypes["dbrp"], "isDefault"> & { readonly id: string; readonly isDefault: number };
interface NamedBucket {
  readonly id: string;
  readonly orgID: string;
  readonly name: string;
}

const OWN_POLICY = "autogen";
/** Without those whose bucket is deleted; in order of creation. */
const BUCKETS = "select id, orgID, name from buckets where orgID = ?1";
const STORED = "select m.* from dbrps m join buckets b on b.id = m.bucketID and b.orgID = m.orgID";

/** Creates, finds, changes and deletes mappings. */
export class Mappings {
  constructor(private readonly metadata: Metadata) {}

  /** Stored ones in order of creation, then virtual ones in the order of their buckets' names. */
  list(orgID: string): Mapping[] {
    const buckets = this.metadata.view.all<NamedBucket>(`${BUCKETS} order by name`, orgID);
    return joined(this.stored(orgID), buckets);
  }

  /** Those of one database, in the same order. */
  ofDatabase(orgID: string, database: string): Mapping[] {
    // `0` follows `/`
    const sql = `${BUCKETS} and (name = ?2 or (name >= ?3 and name < ?4)) order by name`;
    const buckets = this.metadata.view.all<NamedBucket>(sql, orgID, database, `${database}/`, `${database}0`);
    return joined(this.stored(orgID, database), buckets).filter((mapping) => mapping.database === database);
  }

  /** By its id, or a virtual one by that of its bucket, also behind a stored one. Null: there is none in the organization. */
  find(orgID: string, id: string): Mapping | null {
    const stored = this.stored(orgID).find((mapping) => mapping.id === id);
    if (stored !== undefined) return stored;
    const bucket = this.metadata.view.get<NamedBucket>(`${BUCKETS} and id = ?2`, orgID, id);
    return bucket === null ? null : virtualMapping(bucket);
  }

  /** @throws TsdbError not_found */
  get(orgID: string, id: string): Mapping {
    const found = this.find(orgID, id);
    if (found === null) throw new TsdbError("not_found", "unable to find DBRP");
    return found;
  }

  /** The mapping that a v1 client means; of two of one policy, the first. @param retentionPolicy null: the default one. */
  resolve(orgID: string, database: string, retentionPolicy: string | null): Mapping | null {
    const isMeant = (mapping: Mapping) => (retentionPolicy === null ? mapping.isDefault : mapping.retentionPolicy === retentionPolicy);
    return this.ofDatabase(orgID, database).find(isMeant) ?? null;
  }

  /** The first one of a database becomes its default one. @throws TsdbError not_found, bad_request, already_exists */
  create(mapping: NewMapping): Promise<Mapping> {
    return this.metadata.change((change) => {
      const { orgID, bucketID, database } = mapping;
      if (this.metadata.view.get("select id from organizations where id = ?", orgID) === null) {
        throw new TsdbError("not_found", "organization not found");
      }
      if (this.metadata.view.get("select id from buckets where id = ? and orgID = ?", bucketID, orgID) === null) {
        throw new TsdbError("not_found", "bucket not found");
      }
      const isDefault = mapping.isDefault || this.stored(orgID, database).length === 0;
      return this.put(change, { ...mapping, isDefault, isVirtual: false, id: change.newId() });
    });
  }

  /** A virtual mapping is stored with its id, and shown as before. If the default ceases to be the default, the first other mapping of its
   *  database becomes it; the only mapping stays the default. @throws TsdbError not_found, bad_request, already_exists */
  update(orgID: string, id: string, { isDefault, retentionPolicy }: MappingUpdate): Promise<Mapping> {
    return this.metadata.change((change) => {
      const before = this.get(orgID, id);
      const named = { ...before, retentionPolicy: retentionPolicy ?? before.retentionPolicy };
      const changed = { ...named, isDefault: isDefault ?? before.isDefault };
      if (changed.isDefault === before.isDefault && changed.retentionPolicy === before.retentionPolicy) return before;
      return this.put(change, changed);
    });
  }

  /** A virtual one stays as long as its bucket. @throws TsdbError not_found */
  delete(orgID: string, id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(orgID, id);
      if (this.metadata.view.get("select id from dbrps where id = ?", id) !== null) change.remove("dbrp", id);
    });
  }

  /** Before the bucket itself goes. */
  planRemoveOfBucket(change: Change, bucketID: string): void {
    this.removeAll(change, "select id from dbrps where bucketID = ?", bucketID);
  }

  /** Before the organization itself goes. */
  planRemoveOfOrganization(change: Change, orgID: string): void {
    this.removeAll(change, "select id from dbrps where orgID = ?", orgID);
  }

  private removeAll(change: Change, sql: string, value: string): void {
    for (const { id } of this.metadata.view.all<{ id: string }>(sql, value)) change.remove("dbrp", id);
  }

  /** Of a database the default one is that which was made it, otherwise the first. */
  private stored(orgID: string, database: string | null = null): Mapping[] {
    const where = "where m.orgID = ?1 and (?2 is null or m.database = ?2) order by m.id";
    const rows = this.metadata.view.all<Row>(`${STORED} ${where}`, orgID, database);
    const defaults = new Map<string, string>();
    for (const row of rows) if (row.isDefault === 1 || !defaults.has(row.database)) defaults.set(row.database, row.id);
    return rows.map((row) => ({ ...row, isDefault: defaults.get(row.database) === row.id, isVirtual: row.id === row.bucketID }));
  }

  private put(change: Change, mapping: Mapping): Mapping {
    const { id, orgID, database, retentionPolicy, isDefault } = mapping;
    checkMapping(mapping);
    const others = this.stored(orgID, database).filter((other) => other.id !== id);
    if (others.some((other) => other.retentionPolicy === retentionPolicy)) {
      throw new TsdbError("already_exists", "another DBRP mapping with same orgID, db, and rp exists");
    }
    const [first] = others;
    const store = ({ isVirtual: _, id: own, ...record }: Mapping) => change.put("dbrp", own, record);
    if (isDefault) for (const other of others) if (other.isDefault) store({ ...other, isDefault: false });
    store(mapping);
    if (!isDefault && first !== undefined && !others.some((other) => other.isDefault)) store({ ...first, isDefault: true });
    return mapping;
  }
}

/** Virtual mappings stand behind stored ones, and give way to those of their database and policy. Of buckets `d` and `d/autogen`, which
 *  have the same pair, the former has it. @param buckets by name */
function joined(stored: readonly Mapping[], buckets: readonly NamedBucket[]): Mapping[] {
  const databases = new Set(stored.map(({ database }) => database));
  const pairs = new Set(stored.map(pairOf));
  const virtual = buckets.map(virtualMapping).filter((mapping) => {
    const isFirst = !pairs.has(pairOf(mapping));
    pairs.add(pairOf(mapping));
    return isFirst;
  });
  return [...stored, ...virtual.map((mapping) => ({ ...mapping, isDefault: mapping.isDefault && !databases.has(mapping.database) }))];
}

function pairOf({ database, retentionPolicy }: Pick<Mapping, "database" | "retentionPolicy">): string {
  return `${database}/${retentionPolicy}`;
}

function virtualMapping({ id, orgID, name }: NamedBucket): Mapping {
  const slash = name.indexOf("/");
  const [database, retentionPolicy] = slash < 0 ? [name, OWN_POLICY] : [name.slice(0, slash), name.slice(slash + 1)];
  return { id, orgID, bucketID: id, database, retentionPolicy, isDefault: slash < 0, isVirtual: true };
}

/** The names of a mapping. @throws TsdbError bad_request */
export function checkMapping({ database, retentionPolicy }: Pick<Mapping, "database" | "retentionPolicy">): void {
  checkName("database", database);
  checkName("retentionPolicy", retentionPolicy);
}

/** @throws TsdbError bad_request in the vendor's words, whose rule is wider than they say */
function checkName(member: string, name: string): void {
  if (name !== "" && name !== "." && name !== ".." && !/[/\\\p{C}]|(?! )\p{Z}/u.test(name)) return;
  const rule = "must contain at least one character and only be letters, numbers, '_', '-', and '.'";
  throw new TsdbError("bad_request", `DBRP provided is invalid: ${member} ${rule}`);
}
