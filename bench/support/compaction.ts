// Compaction as a bench sees it: kept away while something else is measured, or waited for until every file is in its final form.
import { dataFiles, isCompacted } from "../../test/support/data-files.ts";
import type { TestServer } from "../../test/support/server.ts";

/** Flags under which no file is merged: the first check comes after a day. */
export const NO_COMPACTION = ["--compaction-check-interval", "24h"] as const;
/** Flags under which compaction does what it can at once, and files that it has replaced go at once. */
export const EAGER_COMPACTION = [
  "--compaction-check-interval",
  "200ms",
  "--compaction-delay",
  "0s",
  "--compaction-cleanup-wait",
  "0s",
] as const;

/** A merge of a day takes a second or so. */
const DEADLINE_MS = 240_000;
const POLL_MS = 200;

/** Flushes, starts again with eager compaction and waits until every day, all of which are over, is in one block that compaction wrote.
 *  @throws Error when that takes more than four minutes */
export async function compactAll(server: TestServer): Promise<void> {
  await server.restart(EAGER_COMPACTION);
  await compacted(server);
}

/** Waits for the same of a server that was started with eager compaction. */
export async function compacted(server: TestServer): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    if (isCompacted(server.dataDir)) return;
    if (performance.now() > deadlineMs) throw new Error(`not compacted: ${JSON.stringify(dataFiles(server.dataDir))}`);
    await Bun.sleep(POLL_MS);
  }
}
