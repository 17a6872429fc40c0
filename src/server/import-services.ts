// Imports of Parquet files as a part of the server.
import { ImportLog } from "../imports/jobs/import-log.ts";
import { Imports } from "../imports/jobs/import-service.ts";
import { TsdbError } from "../model/errors.ts";
import { objectKeys } from "../storage/paths.ts";
import { ImportThreads } from "../workers/imports/import-threads.ts";
import type { BackgroundJobs } from "./background-jobs.ts";
import type { Foundation } from "./foundation.ts";

/** Null without --use-pacha-tree, and in the base edition. Goes on in the background with what an earlier process has left. */
export function createImports(foundation: Foundation, { flusher, compactor, indexer }: BackgroundJobs): Imports | null {
  const { config, catalog, manifest, tables, storage, paths, logs } = foundation;
  if (!config.hasUpgradedEngine || config.edition !== "enterprise") return null;
  const keys = objectKeys(config.nodeId);
  const log = logs("import");
  return new Imports(
    {
      ...{ catalog, manifest, tables, store: storage.store, engine: new ImportThreads() },
      ptKey: (fileId) => keys.ptFile(fileId),
      folder: config.objectStore === "memory" ? `${storage.tempDir}/imports` : paths.imports,
      barrier: (count) => flusher.barrier(count),
      pauseCompaction: () => compactor.pause(),
      spaceProblem: () => storage.space.problem,
      onImported: () => indexer.check(),
      nowMs: () => Date.now(),
      later: (milliseconds, run) => void setTimeout(run, milliseconds).unref(),
      ended: (details, error) => {
        if (error === null) log.info("import completed", details);
        else if (error instanceof TsdbError && error.kind === "bad_request")
          log.warn("import failed", { ...details, reason: error.message });
        else log.error("import failed", { ...details, err: error });
      },
    },
    new ImportLog(storage.store, keys.imports),
  );
}
