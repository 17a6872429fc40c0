// The worker that keeps caches, with real messages between it and main: statements that name a cache go there, whatever the others do; when
// it is lost another one takes its place and fills them again.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FaultyDisk } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";
import type { LastCacheDef } from "../../model/caches.ts";
import type { QueryRequest } from "../../model/query/query.ts";
import { QueryLog } from "../../query/query-log.ts";
import { CacheFeeds } from "../caches/cache-feeds.ts";
import { QueryClient } from "./query-client.ts";

const fillsFromHistory = { last: true, distinct: true };
const tempDir = mkdtempSync(join(tmpdir(), "tsdb-cache-worker-"));
const failures: string[] = [];
let path: WritePath;
let client: QueryClient;
let feeds: CacheFeeds;

beforeAll(async () => {
  path = await WritePath.open(new FaultyDisk(), { nowMs: () => Date.now() });
  await path.write("cpu,host=a v=1i 1\ncpu,host=b v=2i 2");
  client = new QueryClient({
    ...{ workerCount: 2, firstWorker: undefined, snapshots: path.snapshots, concurrentMax: 10, timeoutMs: 0, readerStallMs: 60_000 },
    workerOptions: {
      ...{ shared: path.kernel.shared, memoryBytes: 64 << 20, threads: 1, tempDir, cacheBytes: 0 },
      ...{ processBytesMax: 2 ** 40, residentBytesMax: 2 ** 40, nativeCallsMax: 4, loopMsMax: 60_000 },
    },
    stuckGraceMs: 1000,
    memory: path.kernel.extents,
    removeFolder: (folder) => rmSync(folder, { recursive: true, force: true }),
    cacheWorker: { bytesMax: 1 << 20, fillsFromHistory },
    onCacheWorkerReplaced: () => feeds.cacheWorkerReplaced(),
    log: new QueryLog({ entriesMax: 10, clockNs: () => 0n, nowMs: () => 0 }),
    warn: () => {},
    onLost: ({ error }) => void failures.push(error.message),
    onQueryEnd: () => {},
    onTelemetry: () => {},
  });
  await client.ready();
  const { catalog, tables, snapshots } = path;
  feeds = new CacheFeeds({
    ...{ cacheWorker: client, catalog, tables, snapshots, fillsFromHistory, evictionMs: { last: 1000, distinct: 1000 } },
    nowMs: () => Date.now(),
    onError: (error) => void failures.push(error.message),
  });
  const cache: LastCacheDef = {
    ...{ kind: "last", id: 0, tableId: catalog.findTable(catalog.findDatabase("db")!.id, "cpu")!.id, name: "l", nodes: "all" },
    ...{ createdMs: Date.now(), keyColumnIds: [1], valueColumnIds: null, count: 1, ttlSeconds: 9e9 },
  };
  await catalog.apply([{ kind: "create_cache", cache }]).durable;
});
afterAll(async () => {
  feeds.stop();
  await client.close(3000);
  expect(path.pins.openCount).toBe(0);
  await path.close();
  rmSync(tempDir, { recursive: true, force: true });
});

async function ask(statement: string): Promise<string> {
  const signal = new AbortController().signal;
  const request: QueryRequest = { database: "db", statement, format: "json", params: {}, signal };
  const { body } = await client.query(request);
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : new Response(body).text();
}

/** Ends the cache worker as a bug in it would: this message cannot be understood. */
function crash(): void {
  client.workers.cacheWorker.post({ type: "snapshot", id: 1 } as never);
}

const CACHE = "SELECT host, v FROM last_cache('cpu', 'l')";

test("statements that read a cache go to the cache worker, also while it is busy and others are not", async () => {
  const asked = Array.from({ length: 40 }, (_, i) => ask(i % 4 === 0 ? "SELECT max(v) AS v FROM cpu" : CACHE));
  const answers = await Promise.all(asked);
  expect(new Set(answers)).toEqual(new Set(['[{"v":2}]', '[{"host":"a","v":1},{"host":"b","v":2}]']));
});

test("when the cache worker is lost the next statements are answered by another one from caches that are filled again", async () => {
  for (let round = 0; round < 3; round++) {
    await path.write(`cpu,host=a v=${10 + round}i ${10 + round}`);
    crash();
    while (failures.length <= round) await Bun.sleep(5);
    expect(failures.at(-1)).toContain("query worker failed");
    expect(await ask(CACHE)).toBe(`[{"host":"a","v":${10 + round}},{"host":"b","v":2}]`);
    await path.write(`cpu,host=b v=2i ${100 + round}`);
    expect(await ask("SELECT count(*) AS n FROM last_cache('cpu')")).toBe('[{"n":2}]');
  }
  expect(failures).toHaveLength(3);
});
