// Starts Bun from node_modules with the given arguments. Works when lifecycle scripts were off and the `bun` package's own launcher is
// still a placeholder: the platform package holds the binary then. Plain JavaScript, because Node runs it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

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
    // not installed: the PATH below
  }
  return found;
}

/** The placeholder is a short text file; the real binary is tens of megabytes. */
function isBinary(path) {
  return existsSync(path) && statSync(path).size > 1_000_000;
}

const bun = candidates().find(isBinary) ?? "bun";
const child = spawn(bun, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`cannot start Bun (${bun}): ${error.message}; run \`npm install\` first`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
