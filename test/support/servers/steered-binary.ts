// Builds the servers that tests steer as an executable: a start of the sources costs 1.7 s of processor time, one of this 0.6 s, and the
// tests of row states start hundreds.
import { join } from "node:path";
import { buildKept, currentBinary, type KeptBinary } from "../../../src/tools/build.ts";

const ROOT = join(import.meta.dir, "../../..");
const ENTRY_POINT = join(import.meta.dir, "steered-program.ts");

const STEERED: KeptBinary = {
  name: "tsdb-steered",
  entryPoint: ENTRY_POINT,
  sourceFolder: join(ROOT, "src"),
  root: ROOT,
  others: ["steered-program", "steered-server", "data-server-process", "halting-server-process"].map(
    (name) => `test/support/servers/${name}.ts`,
  ),
};

const binary = currentBinary(STEERED);

/** The program with its first arguments; from the sources, if they have changed since it was built. */
export function steered(name: "data" | "halting"): string[] {
  return binary === undefined ? [process.execPath, ENTRY_POINT, name] : [binary, name];
}

if (import.meta.main && binary === undefined) await buildKept(STEERED);
