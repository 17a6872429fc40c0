// Replays the write-ahead log into memory and reports to the server's log.
import { Replayer } from "../ingest/replay.ts";
import { type ReplayResult, replay } from "../storage/wal/replay.ts";
import type { Foundation } from "./foundation.ts";

const PROGRESS_LOG_MS = 1000;

/** @param onProgress receives one readable line, often. @throws TsdbError corrupt_file, io */
export async function replayLog(foundation: Foundation, onProgress: (progress: string) => void): Promise<ReplayResult> {
  const { config, kernel, catalog, tables, manifest, storage, paths } = foundation;
  const log = foundation.logs("replay");
  const replayer = new Replayer(kernel, catalog, tables, Date.now(), config.walReplayFailOnError);
  const startMs = performance.now();
  let loggedMs = startMs;
  const result = await replay(storage.walDisk, paths.wal, {
    afterSequence: manifest.flushedSequence,
    takenSequences: catalog.tombstones().map(({ sequence }) => sequence),
    failOnError: config.walReplayFailOnError,
    readOnly: config.readOnly,
    onFrame: (sequence, payload, segment) => replayer.frame(sequence, payload, segment),
    onProgress: (bytesDone, bytesTotal) => {
      const percent = bytesTotal === 0 ? 100 : Math.floor((bytesDone / bytesTotal) * 100);
      onProgress(`${percent} % of ${bytesTotal} bytes of log`);
      if (performance.now() - loggedMs < PROGRESS_LOG_MS) return;
      loggedMs = performance.now();
      log.info("replaying", { percent, rows: replayer.rowCount, bytesTotal });
    },
  });
  replayer.release();
  for (const damage of result.damage) log.warn(`the log was damaged: ${damage.reason}`, { ...damage });
  const { nameless } = replayer;
  if (nameless !== null) {
    const { count: framesLost, ...details } = nameless;
    log.warn("the log was damaged: frames are left out whose series only lost frames name", { framesLost, ...details });
  }
  const milliseconds = Math.round(performance.now() - startMs);
  if (replayer.rowCount > 0 || replayer.droppedRows > 0) {
    log.info("replayed", { rows: replayer.rowCount, droppedRows: replayer.droppedRows, bytes: result.payloadBytes, milliseconds });
  }
  return result;
}
