// A server with a second port (steered-server.ts) for operations without an endpoint: deletions, retention, an immediate flush and
// compaction. It compacts eagerly and closes days immediately. Started by data-server.ts, never imported.

import type { DataOwner, DeleteRequest } from "../../../src/model/rows/deletion.ts";
import type { Server } from "../../../src/server/server.ts";
import { COMPACTION_LIMITS } from "../../../src/storage/compaction/plan-compaction.ts";
import { steerServer } from "./steered-server.ts";

/** Nanoseconds are decimal texts. */
export type DataCall =
  | { readonly call: "deleteRows"; readonly request: Omit<DeleteRequest, "range"> & { readonly range: { minNs: string; maxNs: string } } }
  | { readonly call: "deleteData"; readonly request: DataOwner }
  | { readonly call: "setRetention"; readonly request: DataOwner & { readonly retentionNs: string | null } }
  | { readonly call: "flush"; readonly request: null }
  | { readonly call: "compact"; readonly request: null };

Object.assign(COMPACTION_LIMITS, { closeAfterMs: 0, quietMs: 0, lateMs: 0, mergeRunsMin: 2, mergeGrowth: 1, tombstoneMs: 0 });

function perform(server: Server, { call, request }: DataCall): Promise<void> {
  const ns = (text: string) => BigInt(text);
  if (call === "flush") return server["running"]().backgroundJobs.flusher.flushAll();
  if (call === "compact") return server["running"]().backgroundJobs.compactor.compactAll();
  if (call === "deleteData") return server.data.deleteData(request);
  if (call === "setRetention") {
    const { retentionNs, ...owner } = request;
    return server.data.setRetention(owner, retentionNs === null ? null : ns(retentionNs));
  }
  return server.data.deleteRows({ ...request, range: { minNs: ns(request.range.minNs), maxNs: ns(request.range.maxNs) } });
}

await steerServer("data-port", async (text, started) => {
  await perform(await started, JSON.parse(text) as DataCall);
  return new Response(null, { status: 204 });
});
