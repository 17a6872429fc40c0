// Statements that are answered in another way than by 1.6.7: by intent, with the reason, or not yet as they should be
// (test/golden/tsdbql/differential-open.json: `UPDATE_OPEN=1` with the test takes out of it what is mended).
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const OPEN_FILE = join(import.meta.dir, "../golden/tsdbql/differential-open.json");

const OURS: Readonly<Record<string, readonly string[]>> = {
  "a retention policy is a database of its own, so its tables have their own columns": [
    "SELECT * FROM diff.short.cpu",
    "SELECT * FROM short.cpu",
    "SELECT * FROM diff.short././",
  ],
};

export const INTENDED: ReadonlySet<string> = new Set(Object.values(OURS).flat());
export const OPEN: ReadonlySet<string> = new Set(JSON.parse(readFileSync(OPEN_FILE, "utf8")) as string[]);
