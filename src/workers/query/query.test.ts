// The query worker against messages in an unlucky order: every statement ends with a last word, or its pin would be held for ever.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kernel } from "../../kernel/memory/kernel.ts";
import type { FromQueryWorker, ToQueryWorker } from "../wire/messages.ts";
import { spawnQueryWorker } from "./spawn.ts";

const tempDir = mkdtempSync(join(tmpdir(), "tsdb-query-worker-"));
const { worker } = spawnQueryWorker();
afterAll(() => {
  worker.terminate();
  rmSync(tempDir, { recursive: true, force: true });
});

const post = (message: ToQueryWorker) => worker.postMessage(message);

/** Posts messages and gathers the worker's up to the first that `isLast`. */
function exchange(messages: readonly ToQueryWorker[], isLast: (message: FromQueryWorker) => boolean): Promise<FromQueryWorker[]> {
  return new Promise((resolve, reject) => {
    const heard: FromQueryWorker[] = [];
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.onmessage = ({ data }: MessageEvent<FromQueryWorker>) => {
      heard.push(data);
      if (isLast(data)) resolve(heard);
    };
    for (const message of messages) post(message);
  });
}

test("a statement that is cancelled before it has asked for its tables ends, with and without a wrong guess", async () => {
  const { shared } = Kernel.create();
  const options = {
    ...{ shared, owner: 1, words: new SharedArrayBuffer(64), memoryBytes: 64 << 20, threads: 1, tempDir, cacheBytes: 0 },
    ...{ processBytesMax: 2 ** 40, residentBytesMax: 2 ** 40, nativeCallsMax: 4, loopMsMax: 60_000 },
  };
  await exchange([{ type: "init", options }], ({ type }) => type === "ready");
  const statement = { type: "query", database: "d", statement: "SELECT * FROM cpu", format: "json", params: {} } as const;
  const rest = { isInternal: false, systemRows: {} };
  const early = {
    need: { tables: ["other"], wholeCatalog: false, systemTables: [] },
    snapshot: { tables: [], catalog: null, rest, forgotten: [] },
  };
  for (const [id, message] of [statement, { ...statement, early }].entries()) {
    const heard = await exchange(
      [
        { ...message, id },
        { type: "cancel", id },
      ],
      ({ type }) => type === "end" || type === "error",
    );
    expect(heard.at(-1)).toMatchObject({ type: "error", id, error: { kind: "cancelled" } });
  }
});
