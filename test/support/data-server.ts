// A real server process whose data can be deleted: server-with-data.ts.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DataOwner, DataService, DeleteRequest } from "../../src/model/deletion.ts";
import { TestServer } from "./server.ts";
import type { DataCall } from "./server-with-data.ts";

/** Starts one; `dataOf` reaches its deletions. */
export function startDataServer(flags: readonly string[] = []): Promise<TestServer> {
  return TestServer.start({ command: [process.execPath, join(import.meta.dir, "server-with-data.ts")], flags });
}

/** What fails does so as a rejected call; one whose server is killed is rejected too, and may have happened. */
export function dataOf(server: TestServer): DataService {
  async function call(what: DataCall): Promise<void> {
    const url = readFileSync(join(dirname(server.dataDir), "data-port"), "utf8");
    const response = await fetch(url, { method: "POST", body: JSON.stringify(what) });
    if (response.status !== 204) throw new Error(`${what.call}: ${await response.text()}`);
  }
  return {
    deleteRows: ({ range, ...request }: DeleteRequest) =>
      call({ call: "deleteRows", request: { ...request, range: { minNs: String(range.minNs), maxNs: String(range.maxNs) } } }),
    deleteData: (request: DataOwner) => call({ call: "deleteData", request }),
    setRetention: (owner: DataOwner, retentionNs: bigint | null) =>
      call({ call: "setRetention", request: { ...owner, retentionNs: retentionNs === null ? null : String(retentionNs) } }),
  };
}
