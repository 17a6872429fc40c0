// A temporary server for the demo if none is running: on a free port, in a temporary folder that is removed when the demo ends.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DemoError } from "./client.ts";

const MAIN = join(import.meta.dir, "../../main.ts");
const START_DEADLINE_MS = 30_000;
const POLL_MS = 10;

export interface DemoServer {
  readonly url: string;
  readonly dataDir: string;
  /** Its first token. */
  readonly token: string;
  /** Stops it, waits for its end, and removes the folder. */
  stop(): Promise<void>;
}

/** @throws DemoError if it does not start */
export async function startServer(): Promise<DemoServer> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-demo-"));
  const addressFile = join(folder, "address");
  const dataDir = join(folder, "data");
  const flags = ["--disable-authz", "health", "--http-bind", "127.0.0.1:0", "--data-dir", dataDir, "--tcp-listener-file-path", addressFile];
  // In a process group of its own: Ctrl-C ends collecting, after which the demo still runs its queries.
  const command = [process.execPath, MAIN, "serve", ...flags];
  const child = Bun.spawn(command, { detached: true, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const printed = new Response(child.stderr).text();
  const stop = async () => {
    child.kill("SIGTERM");
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const url = await whenListening(addressFile, () => child.exitCode !== null || child.signalCode !== null);
    return { url, dataDir, token: await firstToken(url), stop };
  } catch (error) {
    await stop();
    const last = (await printed).trim().split("\n").at(-1) ?? "";
    throw error instanceof DemoError && last !== "" ? new DemoError(`${error.message}: ${last}`) : error;
  }
}

/** Creates the first token, which needs no credentials. */
async function firstToken(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v3/configure/token/admin`, { method: "POST" });
  if (response.status !== 201) throw new DemoError(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}

async function whenListening(addressFile: string, ended: () => boolean): Promise<string> {
  const deadlineMs = performance.now() + START_DEADLINE_MS;
  for (;;) {
    const url = urlIn(read(addressFile));
    if (url !== undefined && (await fetch(`${url}/health`).catch(() => undefined))?.status === 200) return url;
    if (ended()) throw new DemoError("the server did not start");
    if (performance.now() > deadlineMs) throw new DemoError(`the server did not start within ${START_DEADLINE_MS / 1000} s`);
    await Bun.sleep(POLL_MS);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // not written yet
  }
}

/** Converts `127.0.0.1:8181`, with or without a scheme, to a URL. */
export function urlIn(text: string): string | undefined {
  const address = /^(?:https?:\/\/)?([^\s/]+:\d+)/.exec(text)?.[1];
  return address === undefined ? undefined : `http://${address}`;
}
