// A real server process whose data can be deleted, flushed and compacted when a test says so: data-server-process.ts.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DataOwner, DataService, DeleteRequest } from "../../src/model/rows/deletion.ts";
import type { DataCall } from "./data-server-process.ts";
import { type ServerOptions, TestServer } from "./server.ts";

/** Of a server that startDataServer has started. */
export interface SteeredData extends DataService {
  /** Writes all rows in memory to files. */
  flush(): Promise<void>;
  /** Merges files until each day is one. */
  compact(): Promise<void>;
}

/** Starts one; `dataOf` steers it. */
export function startDataServer(flags: readonly string[] = [], options: ServerOptions = {}): Promise<TestServer> {
  return TestServer.start({ ...options, command: [process.execPath, join(import.meta.dir, "data-server-process.ts")], flags });
}

/** What fails does so as a rejected call; one whose server is killed is rejected too, and may have happened. */
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
