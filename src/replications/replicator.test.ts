// Which frames wake a replication that has just been created.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeDisk } from "../disk/node-disk.ts";
import type { Replication } from "../metadata/resources/replication/replications.ts";
import { bucketIdOf } from "../metadata/store/ids.ts";
import type { QueueRequest } from "./queue-feed.ts";
import { Replicator } from "./replicator.ts";

const REPLICATION: Replication = {
  ...{ id: "r", orgID: "o", name: "r", description: null, remoteID: "remote", localBucketID: bucketIdOf(7), remoteBucketID: null },
  ...{ remoteBucketName: "there", maxQueueSizeBytes: 1 << 20, maxAgeSeconds: 0, dropNonRetryableData: false, sinceSequence: 3 },
};

test("a frame that became durable after the replication started is read without another one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-replicator-"));
  // the write's frame is in the log, its sync is still running
  const log = { lastSequence: 4, durableSequence: 3 };
  const read: number[] = [];
  const waits = new Set<() => void>();
  const replicator = new Replicator({
    replications: { list: () => [REPLICATION], version: 1, generation: 0 },
    remotes: { find: () => null, token: () => "" },
    ...{ disk: new NodeDisk(), folder, log, allowsPrivate: true, warn: () => {}, removeFolder: async () => {} },
    feed: {
      queue: async ({ through }: QueueRequest) => {
        read.push(through);
        return { through, entries: [], droppedRows: 0, droppedBytes: 0, goneBefore: null };
      },
      keepOnly: () => {},
      close: () => {},
    },
    clock: {
      nowMs: () => 0,
      after: (_, run) => {
        waits.add(run);
        return () => waits.delete(run);
      },
    },
  });
  try {
    replicator.start();
    await replicator.positions();
    // its first look at the log ends
    for (let turn = 0; turn < 5; turn++) {
      for (const run of [...waits]) {
        waits.delete(run);
        run();
      }
      await new Promise(setImmediate);
    }
    expect(read).toEqual([]);
    log.durableSequence = 4;
    replicator.logged(4);
    await new Promise(setImmediate);
    expect(read).toEqual([4]);
  } finally {
    for (const run of [...waits]) run();
    await replicator.stop();
    rmSync(folder, { recursive: true });
  }
});
