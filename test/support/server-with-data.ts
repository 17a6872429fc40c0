// The server as src/program.ts starts it, with a second port for what has no endpoint of its own: deletions and retention. It compacts
// whatever it can, and closes days at once. Started by data-server.ts, never imported.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { createLogs } from "../../src/cli/logger.ts";
import { COMPACTION_LIMITS } from "../../src/maintain/plan-compaction.ts";
import type { DataOwner, DeleteRequest } from "../../src/model/deletion.ts";
import { describeError } from "../../src/model/errors.ts";
import { Server } from "../../src/server.ts";
import { spawnQueryWorker } from "../../src/workers/spawn.ts";

/** Nanoseconds are decimal texts. */
export type DataCall =
  | { readonly call: "deleteRows"; readonly request: Omit<DeleteRequest, "range"> & { readonly range: { minNs: string; maxNs: string } } }
  | { readonly call: "deleteData"; readonly request: DataOwner }
  | { readonly call: "setRetention"; readonly request: DataOwner & { readonly retentionNs: string | null } };

Object.assign(COMPACTION_LIMITS, { closeAfterMs: 0, quietMs: 0, lateMs: 0, mergeRunsMin: 2, mergeGrowth: 1, tombstoneMs: 0 });

const command = parseCommandLine(process.argv.slice(2), process.env);
if (command.name !== "serve") throw new Error("want the arguments of serve");
const { config } = command;
const started = Promise.withResolvers<Server>();

function perform(server: Server, { call, request }: DataCall): Promise<void> {
  const ns = (text: string) => BigInt(text);
  if (call === "deleteData") return server.data.deleteData(request);
  if (call === "setRetention") {
    const { retentionNs, ...owner } = request;
    return server.data.setRetention(owner, retentionNs === null ? null : ns(retentionNs));
  }
  return server.data.deleteRows({ ...request, range: { minNs: ns(request.range.minNs), maxNs: ns(request.range.maxNs) } });
}

const port = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    try {
      await perform(await started.promise, (await request.json()) as DataCall);
      return new Response(null, { status: 204 });
    } catch (error) {
      return Response.json(describeError(error), { status: 500 });
    }
  },
});
writeFileSync(join(dirname(config.dataDir), "data-port"), port.url.href);

const { server, ready } = await Server.start(
  config,
  createLogs({ filter: config.logFilter, format: config.logFormat }),
  spawnQueryWorker(),
);
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
void server.failed.then(() => process.exit(1));
await ready;
started.resolve(server);
