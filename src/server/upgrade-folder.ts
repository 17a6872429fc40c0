// Upgrades a data folder of an older server to the current formats, and reports it in the server's log.
import { upgradeFiles } from "../storage/compaction/upgrade-files.ts";
import { objectKeys } from "../storage/paths.ts";
import type { Foundation } from "./foundation.ts";

/** Must run before anything reads data files: workers know only the current format. @throws TsdbError unavailable */
export async function upgradeFolder({ config, kernel, manifest, storage, logs }: Foundation): Promise<void> {
  if (config.readOnly) return;
  const { store, objectSource } = storage;
  const keys = objectKeys(config.nodeId);
  const log = logs("store");
  await upgradeFiles({
    ...{ kernel, manifest, store, objectSource },
    ptKey: (fileId) => keys.ptFile(fileId),
    onUpgraded: (report) => log.info("rewrote data files of an older format", { ...report }),
    onError: ({ key }, err) => log.error("cannot rewrite a data file of an older format; its rows cannot be read", { key, err }),
  });
}
