// Finds a Python with a module: the machine's own, or the one created by `.ci/clients`.
import { existsSync } from "node:fs";
import { join } from "node:path";

const PYTHONS = ["python3", join(import.meta.dir, "../../../node_modules/.native-clients/python/bin/python")];

/** Null if none has it. */
export function pythonWith(module: string): string | null {
  const has = (python: string) => {
    const path = existsSync(python) ? python : Bun.which(python);
    return path !== null && Bun.spawnSync([path, "-c", `import ${module}`], { stdout: "ignore", stderr: "ignore" }).success;
  };
  return PYTHONS.find(has) ?? null;
}
