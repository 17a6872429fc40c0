// A real server process that can be halted in the middle of catalog changes: halting-server-process.ts.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HaltCommand } from "./halting-server-process.ts";
import { type ServerOptions, TestServer } from "./server.ts";
import { steered } from "./steered-binary.ts";

/** Starts a server that stops in the middle of its work. */
export function startHaltingServer(options: ServerOptions): Promise<TestServer> {
  return TestServer.start({ ...options, command: steered("halting") });
}

/** Returns the number of waiting catalog operations. */
async function tell(server: TestServer, command: HaltCommand): Promise<number> {
  const url = readFileSync(join(dirname(server.dataDir), "halt-port"), "utf8");
  const response = await fetch(url, { method: "POST", body: command });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${command}: ${text}`);
  return Number(text);
}

/** No catalog operation becomes durable from now on. */
export async function hold(server: TestServer): Promise<void> {
  await tell(server, "hold");
}

/** Waits until this many operations wait. */
export async function untilHeld(server: TestServer, operations: number): Promise<void> {
  while ((await tell(server, "count")) < operations) await Bun.sleep(2);
}

/** Makes waiting operations durable, and kills the server before it acknowledges them; the first operation is an entry of its own. */
export async function endUntold(server: TestServer): Promise<void> {
  await tell(server, "end").catch(() => {}); // it may be gone before it answers
  await server.ended();
}
