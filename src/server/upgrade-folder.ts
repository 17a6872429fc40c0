// Brings a data folder that an older server wrote to the current formats, and says so in the server's log.
import { upgradeFiles } from "../storage/compaction/upgrade-files.ts";
import { objectKeys } from "../storage/paths.ts";
import type { Foundation } from "./foundation.ts";

/** Before anything reads data files: workers know the current format alone. @throws TsdbError unavailable */
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
