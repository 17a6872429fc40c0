// What clients of version 2.0 send to restore a bucket: a message of protocol buffers with the shards of its retention policies.
import { TsdbError } from "../../model/errors.ts";
import { message, plain, repeatedMessage } from "../flight/wire/protobuf.ts";

const ShardInfo = message("internal.ShardInfo", { id: plain(1, "uint64") });
const ShardGroupInfo = message("internal.ShardGroupInfo", { startTime: plain(2, "int64"), shards: repeatedMessage(5, ShardInfo) });
const RetentionPolicyInfo = message("internal.RetentionPolicyInfo", { shardGroups: repeatedMessage(5, ShardGroupInfo) });
const DatabaseInfo = message("internal.DatabaseInfo", { retentionPolicies: repeatedMessage(3, RetentionPolicyInfo) });

/** The shards, with the times at which their groups begin. @throws TsdbError bad_request */
export function readDatabaseInfo(bytes: Uint8Array): { readonly id: bigint; readonly startNs: bigint }[] {
  const { retentionPolicies } = DatabaseInfo.decode(bytes);
  if (retentionPolicies.length === 0) throw new TsdbError("bad_request", "the description of a database has no retention policy");
  return retentionPolicies.flatMap(({ shardGroups }) =>
    shardGroups.flatMap(({ startTime, shards }) => shards.map(({ id }) => ({ id, startNs: startTime }))),
  );
}
