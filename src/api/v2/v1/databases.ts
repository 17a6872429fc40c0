// The databases of a v1 client: what the mappings of its organization make of the names, as far as it may see the buckets.
import type { Principal } from "../../../metadata/access/principal.ts";
import type { V2Line } from "../../../metadata/line.ts";
import { type Bucket, bucketNeed, mappingNeeds } from "../../../metadata/resources/buckets.ts";
import type { Mapping } from "../../../metadata/resources/mappings.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { MappedDatabase } from "../../../model/query/query.ts";

export interface MappedBucket {
  readonly mapping: Mapping;
  readonly bucket: Bucket;
}

/** For one sender. */
export class V1Databases {
  private readonly orgID: string;

  constructor(
    private readonly line: V2Line,
    private readonly principal: Principal,
    /** Absent: that of the sender. Sessions, which have none, are not admitted then. */
    orgID = principal.orgID ?? "",
  ) {
    this.orgID = orgID;
  }

  /** Those that it may read. @param database null: all. */
  readable(database: string | null): MappedBucket[] {
    const found = database === null ? this.line.mappings.list(this.orgID) : this.line.mappings.ofDatabase(this.orgID, database);
    return found.flatMap((mapping) => {
      const bucket = this.line.buckets.find(mapping.bucketID);
      return bucket !== null && this.canRead(bucket) ? [{ mapping, bucket }] : [];
    });
  }

  /** What statements may read under the name; undefined: nothing. */
  mapped(database: string): MappedDatabase | undefined {
    const found = this.readable(database);
    if (found.length === 0) return undefined;
    const byDefault = found.find(({ mapping }) => mapping.isDefault);
    // of two of one policy the first counts
    const policies = new Map(found.toReversed().map(({ mapping }) => [mapping.retentionPolicy, mapping.bucketID]));
    return { policies, defaultName: byDefault?.mapping.bucketID ?? null };
  }

  /** The bucket that lines of the database go to, for a sender that may read or write it. @param policy null: the default one. @throws
   *  TsdbError not_found */
  target(database: string, policy: string | null): Bucket {
    const mapping = this.line.mappings.resolve(this.orgID, database, policy);
    const bucket = mapping === null ? null : this.line.buckets.find(mapping.bucketID);
    if (bucket !== null && (this.canRead(bucket) || (bucket.type === "user" && this.canWrite(bucket)))) return bucket;
    throw new TsdbError("not_found", "no dbrp mapping found");
  }

  canWrite(bucket: Bucket): boolean {
    return this.principal.allows(bucketNeed("write", bucket));
  }

  private canRead(bucket: Bucket): boolean {
    return mappingNeeds(bucket).every((need) => this.principal.allows(need));
  }
}
