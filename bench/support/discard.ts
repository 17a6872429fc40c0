// The upper bound as a contestant: a server that receives and discards.
import { join } from "node:path";
import type { Contestant } from "./contestant.ts";
import { freePort, startPeer } from "./peer-process.ts";

export const DISCARD: Contestant = {
  name: "receive and discard",
  start: async () => {
    const url = `http://127.0.0.1:${freePort()}`;
    const peer = await startPeer({
      name: "the discarding server",
      command: () => [process.execPath, join(import.meta.dir, "discard-server.ts"), new URL(url).port],
      readyUrl: url,
    });
    return {
      writeUrl: `${url}/write`,
      countRows: async () => undefined,
      diskBytes: async () => undefined,
      stop: peer.stop,
    };
  },
};
