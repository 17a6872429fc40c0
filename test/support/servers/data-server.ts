// A real server process on which tests delete, flush and compact data on demand: data-server-process.ts.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DataOwner, DataService, DeleteRequest } from "../../../src/model/rows/deletion.ts";
import type { DataCall } from "./data-server-process.ts";
import { type ServerOptions, TestServer } from "./server.ts";
import { steered } from "./steered-binary.ts";

/** Control of a server started by startDataServer. */
export interface SteeredData extends DataService {
  /** Flushes all rows in memory to files. */
  flush(): Promise<void>;
  /** Merges files until each day is one block. */
  compact(): Promise<void>;
}

/** Starts one; control it with `dataOf`. */
export function startDataServer(flags: readonly string[] = [], options: ServerOptions = {}): Promise<TestServer> {
  return TestServer.start({ ...options, command: steered("data"), flags });
}

/** Failures reject the call; if the server is killed, the call is rejected too, but may have been executed. */
export function dataOf(server: TestServer): SteeredData {
  async function call(what: DataCall): Promise<void> {
    const url = readFileSync(join(dirname(server.dataDir), "data-port"), "utf8");
    const response = await fetch(url, { method: "POST", body: JSON.stringify(what) });
    if (response.status !== 204) throw new Error(`${what.call}: ${await response.text()}`);
  }
  return {
    flush: () => call({ call: "flush", request: null }),
    compact: () => call({ call: "compact", request: null }),
    deleteRows: ({ range, ...request }: DeleteRequest) =>
      call({ call: "deleteRows", request: { ...request, range: { minNs: String(range.minNs), maxNs: String(range.maxNs) } } }),
    deleteData: (request: DataOwner) => call({ call: "deleteData", request }),
    setRetention: (owner: DataOwner, retentionNs: bigint | null) =>
      call({ call: "setRetention", request: { ...owner, retentionNs: retentionNs === null ? null : String(retentionNs) } }),
  };
}
