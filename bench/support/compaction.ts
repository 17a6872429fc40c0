// Controls compaction for benchmarks: prevents it during other measurements, or waits until every file is in its final form.

import type { TestServer } from "../../test/support/servers/server.ts";
import { dataFiles, isCompacted } from "../../test/support/storage/data-files.ts";

/** Flags that prevent merging: the first check happens after a day. */
export const NO_COMPACTION = ["--compaction-check-interval", "24h"] as const;
/** Flags that make compaction act immediately, and delete replaced files immediately. */
export const EAGER_COMPACTION = [
  "--compaction-check-interval",
  "200ms",
  "--compaction-delay",
  "0s",
  "--compaction-cleanup-wait",
  "0s",
] as const;

/** A merge of a day takes about a second. */
const DEADLINE_MS = 240_000;
const POLL_MS = 200;

/** Flushes, restarts with eager compaction and waits until every day, all of which are in the past, is one compacted block. @throws
 *  Error if that takes more than four minutes */
export async function compactAll(server: TestServer): Promise<void> {
  await server.restart(EAGER_COMPACTION);
  await compacted(server);
}

/** Waits for the same on a server that was started with eager compaction. */
export async function compacted(server: TestServer): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    if (isCompacted(server.dataDir)) return;
    if (performance.now() > deadlineMs) throw new Error(`not compacted: ${JSON.stringify(dataFiles(server.dataDir))}`);
    await Bun.sleep(POLL_MS);
  }
}
