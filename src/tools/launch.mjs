// Starts Bun from node_modules in the place of this process. Works when lifecycle scripts were off and the `bun` package's own launcher is
// still a placeholder: the platform package holds the binary then. Plain JavaScript, because Node runs it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const PARENT_CHECK_MS = 100;
const FAILED = 1;

/** Never returns where the platform can replace a process (Node 22.15 and later, not on Windows). Elsewhere Bun is a child that gets this
 *  process's signals and gives it its exit code. `bound`: the program reads TSDB_PARENT and ends with that process, which cannot pass on
 *  the signal that kills it. */
export function launch(args, { bound = false } = {}) {
  const bun = candidates().find(isBinary);
  const runner = bound && isScript(process.env) && process.platform !== "win32" ? process.ppid : null;
  if (bun !== undefined && typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(bun, [bun, ...args], environmentWith(runner));
  }
  const child = spawn(bun ?? "bun", args, { stdio: "inherit", env: environmentWith(bound ? process.pid : null) });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  if (runner !== null) {
    const timer = setInterval(() => {
      if (process.ppid === runner) return;
      clearInterval(timer);
      child.kill("SIGTERM");
    }, PARENT_CHECK_MS);
  }
  child.on("error", (error) => {
    console.error(`cannot start Bun (${bun ?? "bun"}): ${error.message}; run \`npm install\` first`);
    process.exit(FAILED);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? FAILED)));
}

/** True for a script of package.json: npm waits for this process, so it must stay; any other caller may end first. The scripts begin with
 *  `exec`, so that no shell is between them, and exec.cmd is that word for Windows. */
export function isScript({ npm_lifecycle_script: script }) {
  return script?.includes("src/tools/tsdb.mjs") === true;
}

function environmentWith(parent) {
  return parent === null ? process.env : { ...process.env, TSDB_PARENT: String(parent) };
}

function candidates() {
  const found = [];
  const windows = process.platform === "win32" ? ".exe" : "";
  try {
    const folder = dirname(require.resolve("bun/package.json"));
    found.push(join(folder, "bin", "bun.exe"), join(folder, "bin", `bun${windows}`));
    const optional = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).optionalDependencies ?? {};
    for (const name of Object.keys(optional)) {
      try {
        found.push(join(dirname(require.resolve(`${name}/package.json`)), "bin", `bun${windows}`));
      } catch {
        // a package for another platform
      }
    }
  } catch {
    // not installed: the PATH
  }
  return found;
}

/** The placeholder is a short text file; the real binary is tens of megabytes. */
function isBinary(path) {
  return existsSync(path) && statSync(path).size > 1_000_000;
}
