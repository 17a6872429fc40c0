// The states of stored rows in which questions are measured.
import type { TestServer } from "../../test/support/servers/server.ts";
import { compactAll } from "./compaction.ts";

const STATES = ["flushed", "compacted"] as const;

/** Brings the rows of a server that does not compact into one state after the other. @param wanted this state alone; undefined: both */
export async function* inStates(server: TestServer, wanted: string | undefined): AsyncGenerator<string, void, void> {
  for (const state of STATES.filter((name) => wanted === undefined || name === wanted)) {
    if (state === "compacted") await compactAll(server);
    // a clean stop flushes
    else await server.restart();
    yield state;
  }
}
