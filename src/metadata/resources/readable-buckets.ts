// The buckets that the statements of one sender may read.
import { TsdbError } from "../../model/errors.ts";
import type { DatabaseScope } from "../../model/query/query.ts";
import type { Principal } from "../access/principal.ts";
import { databaseIdOf } from "../store/ids.ts";
import { type BucketService, bucketNeed } from "./buckets.ts";

/** Statements name buckets of any organization by their ids. A bucket that the sender may not read is not told from a missing one. */
export class ReadableBuckets implements DatabaseScope {
  constructor(
    private readonly buckets: Pick<BucketService, "find">,
    private readonly principal: Pick<Principal, "allows">,
  ) {}

  /** @throws TsdbError unknown_database */
  databaseId(bucketId: string): number {
    const bucket = this.buckets.find(bucketId);
    if (bucket !== null && this.principal.allows(bucketNeed("read", bucket))) {
      return databaseIdOf(bucket.id)!;
    }
    throw new TsdbError("unknown_database", `bucket not found: ${bucketId}`, { bucket: bucketId });
  }
}
