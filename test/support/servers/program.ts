// The program that tests start: the executable of `npm test`'s first step, whose start costs a third of the processor time that the
// sources cost, or the sources if they have changed since.
import { join } from "node:path";
import { currentBinary } from "../../../src/tools/build.ts";

const ROOT = join(import.meta.dir, "../../..");
const binary = currentBinary();

/** The program with its first arguments. */
export const PROGRAM: readonly string[] = binary === undefined ? [process.execPath, join(ROOT, "src/main.ts")] : [binary];

/** Where the executable unpacks DuckDB: once for all tests, and not in the user's cache. */
export const PROGRAM_CACHE = join(ROOT, "dist/cache");
