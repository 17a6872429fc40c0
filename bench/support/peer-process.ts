// Starts and ends the peers' programs: a free port, a temporary folder, polling for readiness, a folder's size.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithThisProcess, plainEnvironment } from "../../test/support/servers/server.ts";

const READY_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 30_000;
const POLL_MS = 10;

export interface PeerProcess {
  readonly folder: string;
  /** Ends the program and removes its folder. */
  stop(): Promise<void>;
}

export interface PeerOptions {
  readonly name: string;
  /** Called with the temporary folder: writes the configuration and returns the command line. */
  readonly command: (folder: string) => readonly string[];
  /** Answers with success when the program is ready. */
  readonly readyUrl: string;
}

/** @throws Error with the program's output when it does not get ready */
export async function startPeer({ name, command, readyUrl }: PeerOptions): Promise<PeerProcess> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-"));
  const child = Bun.spawn([...command(folder)], {
    ...{ cwd: folder, env: plainEnvironment(), stdin: "ignore" },
    stdout: Bun.file(join(folder, "output.log")),
    stderr: Bun.file(join(folder, "errors.log")),
  });
  endWithThisProcess(child);
  const stop = async () => {
    child.kill("SIGTERM");
    const patience = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
    await child.exited;
    clearTimeout(patience);
    rmSync(folder, { recursive: true, force: true });
  };
  const deadlineMs = performance.now() + READY_DEADLINE_MS;
  for (;;) {
    const answer = await fetch(readyUrl).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return { folder, stop };
    if (child.exitCode !== null || performance.now() > deadlineMs) {
      const output = await Bun.file(join(folder, "errors.log")).text();
      await stop();
      throw new Error(`${name} did not get ready (exit code ${child.exitCode}):\n${output.slice(-2000)}`);
    }
    await Bun.sleep(POLL_MS);
  }
}

/** A port that is currently free. */
export function freePort(): number {
  return freePorts(1)[0]!;
}

/** Different ports: asked for one by one, the same can come twice. */
export function freePorts(count: number): number[] {
  const probes = Array.from({ length: count }, () => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } }));
  for (const probe of probes) probe.stop(true);
  return probes.map(({ port }) => port);
}

/** Bytes of all files below `folder`, by their lengths. Files that vanish during the walk count as 0. */
export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) bytes += folderBytes(path);
    else if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}

/** Polls `look` until it returns `expected` or the deadline passes; returns its last result. */
export async function pollUntil<T>(expected: T, look: () => Promise<T>, deadlineMs = 30_000): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found === expected || performance.now() > endMs) return found;
    await Bun.sleep(POLL_MS);
  }
}
