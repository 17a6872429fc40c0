// `npm run server` and `npm run tsdb` as real processes: a server ends with whatever started it, by any signal, and paths are those of the
// folder in which npm was called.
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { descendantsOf, isRunning } from "../support/servers/process-tree.ts";
import { plainEnvironment } from "../support/servers/server.ts";

const ROOT = join(import.meta.dir, "../..");
const DEADLINE_MS = 30_000;

/** Waits until `found` says something else than undefined. @throws Error */
async function until<T>(what: string, found: () => T | undefined): Promise<T> {
  for (const endMs = performance.now() + DEADLINE_MS; performance.now() < endMs; await Bun.sleep(10)) {
    const value = found();
    if (value !== undefined) return value;
  }
  throw new Error(`waited ${DEADLINE_MS} ms until ${what}`);
}

function inFolder(run: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "tsdb-npm-"));
    try {
      await run(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** npm of the environment in `cwd`, with a script of this package; the variables of an npm that runs these tests are not handed on. */
function npmRun(cwd: string, script: string, ...args: string[]): Subprocess<"ignore", "pipe", "pipe"> {
  const env = Object.fromEntries(Object.entries(plainEnvironment()).filter(([name]) => !/^(npm_|INIT_CWD$|BUN_OPTIONS$)/i.test(name)));
  return Bun.spawn(["npm", "--prefix", ROOT, "run", "--silent", script, "--", ...args], {
    ...{ cwd, env: { ...env, NO_UPDATE_NOTIFIER: "1" }, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
}

const FLAGS = [
  "--data-dir",
  "rows",
  "--http-bind",
  "127.0.0.1:0",
  "--flight-bind",
  "none",
  "--v2-http-bind",
  "off",
  "--tcp-listener-file-path",
  "address",
];

interface Started {
  readonly npm: Subprocess<"ignore", "pipe", "pipe">;
  readonly url: string;
  /** npm's children and theirs. */
  readonly pids: readonly number[];
  /** What npm started of this package: Node, or Bun in its place. */
  readonly launcher: number;
}

async function startServer(folder: string): Promise<Started> {
  const npm = npmRun(folder, "server", "--without-auth", ...FLAGS);
  const file = join(folder, "address");
  const address = await until("the server listens", () => {
    if (npm.exitCode !== null) throw new Error("npm has ended");
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    return text === "" ? undefined : text.trim();
  });
  const url = `http://${address}`;
  for (const endMs = performance.now() + DEADLINE_MS; performance.now() < endMs; await Bun.sleep(10)) {
    if ((await fetch(`${url}/ready`)).ok) break;
  }
  const below = descendantsOf(npm.pid);
  const launcher = below.find(({ command }) => /^\S*(node|bun)\S* /.test(command))!.pid;
  return { npm, url, pids: below.map(({ pid }) => pid), launcher };
}

const VICTIMS = ["npm", "launcher"] as const;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGKILL"] as const;

for (const victim of VICTIMS) {
  for (const signal of SIGNALS) {
    test(
      `${signal} to ${victim} ends the server`,
      inFolder(async (folder) => {
        const { npm, url, pids, launcher } = await startServer(folder);
        expect(existsSync(join(folder, "rows"))).toBe(true);
        expect(pids.filter(isRunning)).toEqual([...pids]);
        process.kill(victim === "npm" ? npm.pid : launcher, signal);
        await until("nothing runs", () => (pids.some(isRunning) ? undefined : true));
        await expect(fetch(url)).rejects.toThrow();
        const code = await npm.exited;
        // npm is told of the stop by its exit code; of what it was killed by itself, by the signal
        if (victim === "launcher" && signal !== "SIGKILL") expect(code).toBe(0);
      }),
      2 * DEADLINE_MS,
    );
  }
}

test(
  "`npm run tsdb` reads files of the folder in which npm was called, and gives the exit code on",
  inFolder(async (folder) => {
    writeFileSync(join(folder, "here.toml"), 'databas = "x"\n');
    const npm = npmRun(folder, "tsdb", "--config", "here.toml", "query", "SELECT 1");
    expect(await npm.exited).toBe(2);
    expect(await new Response(npm.stderr).text()).toContain("here.toml: unknown key databas");
  }),
  DEADLINE_MS,
);
