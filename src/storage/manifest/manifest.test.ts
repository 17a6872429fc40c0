// The manifest over its log: commits, visibility, restarts, contradictions, faults, and a file of the first release.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { kindOf } from "../../../test/conformance/object-store.ts";
import { prng } from "../../../test/support/prng.ts";
import { faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import type { TsdbError } from "../../model/errors.ts";
import { FileObjectStore } from "../../object-store/file-object-store.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { encodeEntry, numberedName } from "../../object-store/operation-file.ts";
import { localPaths, objectKeys } from "../paths.ts";
import { type BlockMeta, type FileMeta, Manifest, type ManifestChange, type ManifestEntry, type ManifestOptions } from "./manifest.ts";
import { entryToJson } from "./manifest-entry.ts";

const keys = objectKeys("node0");
const open = (store: ObjectStore, options: Partial<ManifestOptions> = {}) => Manifest.open(store, { prefix: keys.manifest, ...options });

const DAY_NS = 86_400_000_000_000n;
function block(tableId: number, day: bigint, seq = 1): BlockMeta {
  const dayStartNs = day * DAY_NS;
  return {
    index: 0,
    databaseId: 1,
    tableId,
    dayStartNs,
    rowCount: 10,
    minTimeNs: dayStartNs,
    maxTimeNs: dayStartNs + DAY_NS - 1n,
    seqMin: seq,
    seqMax: seq + 4,
    unique: day % 2n === 0n,
    columnIds: [0, 1, 5],
    seriesCount: 0,
    flushedMinMs: 0,
    flushedMaxMs: 0,
  };
}
function file(id: number, blocks: BlockMeta[], generation = 0): FileMeta {
  return { id, key: keys.ptFile(id), bytes: 1000 + id, generation, blocks: blocks.map((item, index) => ({ ...item, index })) };
}

/** As the first release had it: flushes, a compaction of the first two files, a table that loses its last file, extremes of time. */
const FIRST: Omit<ManifestEntry, "removedBlocks">[] = [
  { added: [file(1, [block(1, 19_700n), block(2, 19_700n)])], removed: [], flushedSequence: 5 },
  { added: [file(2, [block(1, 19_701n, 6), block(1, 19_699n, 6)])], removed: [], flushedSequence: 10 },
  { added: [file(4, [block(1, 19_700n)], 1)], removed: [1, 2], flushedSequence: 10 },
  { added: [], removed: [], flushedSequence: 12 },
  {
    added: [file(5, [{ ...block(3, 0n), dayStartNs: -(2n ** 63n), minTimeNs: -(2n ** 63n), maxTimeNs: 2n ** 63n - 1n }])],
    removed: [4],
    flushedSequence: 20,
  },
];

const day = 19_700n;
const WITH_MORE = { seriesCount: 7, flushedMinMs: 1_700_000_000_000, flushedMaxMs: 1_700_000_000_999, appliedTombstone: 3 };
/** Compactions that take blocks out of files: the middle of a file, then its rest together with a part of another. */
const BLOCKS: ManifestEntry[] = [
  {
    added: [file(6, [block(1, day, 21), block(2, day, 21), block(3, day, 21)]), file(7, [block(1, day, 26), block(2, day, 26)])],
    removed: [],
    removedBlocks: [],
    flushedSequence: 30,
  },
  { added: [], removed: [], removedBlocks: [{ fileId: 6, blocks: [1] }], flushedSequence: 30 },
  {
    added: [file(9, [{ ...block(1, day, 21), ...WITH_MORE }], 1)],
    removed: [5],
    removedBlocks: [
      { fileId: 7, blocks: [0] },
      { fileId: 6, blocks: [2, 0] },
    ],
    flushedSequence: 31,
  },
];

const HISTORY: ManifestEntry[] = [...FIRST.map((entry) => ({ ...entry, removedBlocks: [] })), ...BLOCKS];

/** The state after `count` entries of HISTORY, worked out plainly. */
function expected(count: number) {
  let files: FileMeta[] = [];
  let flushedSequence = 0;
  for (const entry of HISTORY.slice(0, count)) {
    const isGone = (fileId: number, index: number) =>
      entry.removed.includes(fileId) || entry.removedBlocks.some((gone) => gone.fileId === fileId && gone.blocks.includes(index));
    const left = files.map((item) => ({ ...item, blocks: item.blocks.filter(({ index }) => !isGone(item.id, index)) }));
    files = [...left.filter(({ blocks }) => blocks.length > 0), ...entry.added];
    flushedSequence = entry.flushedSequence;
  }
  return { files, flushedSequence };
}

function check(manifest: Manifest, count: number): void {
  const { files, flushedSequence } = expected(count);
  expect(manifest.files()).toEqual(files);
  expect(manifest.flushedSequence).toBe(flushedSequence);
  for (const tableId of [1, 2, 3]) {
    const ofTable = files.flatMap((item) =>
      item.blocks.filter((each) => each.tableId === tableId).map((each) => ({ file: item, block: each })),
    );
    const found = manifest.blocksOf(tableId).sort((a, b) => a.file.id - b.file.id || a.block.index - b.block.index);
    expect(found).toEqual(ofTable);
    expect([...manifest.tableIds()].includes(tableId)).toBe(ofTable.length > 0);
    expect(manifest.blockCountOf(tableId)).toBe(ofTable.length);
    const times = manifest.tableTimes(tableId, 2);
    expect(times.length).toBeLessThanOrEqual(2);
    const isWithin = (timeNs: bigint) => times.some(({ minNs, maxNs }) => minNs <= timeNs && timeNs <= maxNs);
    expect(ofTable.every(({ block: { minTimeNs, maxTimeNs } }) => isWithin(minTimeNs) && isWithin(maxTimeNs))).toBe(true);
    const ends = ofTable.flatMap(({ block: { minTimeNs, maxTimeNs } }) => [minTimeNs, maxTimeNs]);
    expect(times.every(({ minNs, maxNs }) => ends.includes(minNs) && ends.includes(maxNs))).toBe(true);
  }
}

describe("manifest", () => {
  test.each([1, 2, 3, 200])("every state survives a restart (a snapshot every %d entries)", async (snapshotEntries) => {
    const store = new MemoryObjectStore();
    check(await open(store), 0);
    for (const [i, entry] of HISTORY.entries()) {
      const manifest = await open(store, { snapshotEntries });
      check(manifest, i);
      await manifest.commit(entry);
      check(manifest, i + 1);
      await manifest.close();
      check(await open(store), i + 1);
    }
  });

  test("a commit is visible once it is durable, in the step of its callback", async () => {
    const manifest = await open(new MemoryObjectStore());
    const seen: number[] = [];
    const done = manifest.commit(HISTORY[0]!, () => seen.push(manifest.files().length));
    expect(manifest.files()).toEqual([]);
    await done;
    expect(seen).toEqual([1]);
    expect(manifest.fileById(1)?.bytes).toBe(1001);
  });

  test("commits made at once happen in order, a snapshot between them is right", async () => {
    const store = new MemoryObjectStore();
    const manifest = await open(store, { snapshotEntries: 1 });
    await Promise.all(HISTORY.map((entry) => manifest.commit(entry)));
    check(manifest, HISTORY.length);
    await manifest.close();
    check(await open(store), HISTORY.length);
  });

  test("file ids are not given twice, over restarts too", async () => {
    const store = new MemoryObjectStore();
    const manifest = await open(store, { snapshotEntries: 2 });
    expect([manifest.allocateFileId(), manifest.allocateFileId()]).toEqual([1, 2]);
    for (const entry of HISTORY) await manifest.commit(entry);
    await manifest.commit({ added: [], removed: [9] });
    await manifest.close();
    expect((await open(store)).allocateFileId()).toBe(10);
  });

  const UNFIT: [title: string, change: ManifestChange][] = [
    ["a file added twice", { added: [file(1, [block(1, 1n)])], removed: [], flushedSequence: 5 }],
    ["twice in one entry", { added: [file(7, [block(1, 1n)]), file(7, [block(1, 1n)])], removed: [], flushedSequence: 5 }],
    ["a file removed that is not there", { added: [], removed: [9], flushedSequence: 5 }],
    ["a file removed twice", { added: [], removed: [1, 1], flushedSequence: 5 }],
    ["a flushed sequence that goes back", { added: [], removed: [], flushedSequence: 4 }],
    ["a block removed that is not there", { added: [], removedBlocks: [{ fileId: 1, blocks: [2] }] }],
    ["a block removed twice", { added: [], removedBlocks: [{ fileId: 1, blocks: [0, 0] }] }],
    ["a block removed with its file", { added: [], removed: [1], removedBlocks: [{ fileId: 1, blocks: [0] }] }],
    ["a block of a file that is not there", { added: [], removedBlocks: [{ fileId: 9, blocks: [0] }] }],
    ["blocks out of order", { added: [{ ...file(7, []), blocks: [{ ...block(1, 1n), index: 1 }, block(1, 2n)] }] }],
  ];
  test.each(UNFIT)("%s is our bug when committed, corruption when read", async (_title, change) => {
    const store = new MemoryObjectStore();
    const manifest = await open(store);
    await manifest.commit(HISTORY[0]!);
    expect(await kindOf(manifest.commit(change))).toBe("bug");
    const entry = { removed: [], removedBlocks: [], ...change, flushedSequence: 4 };
    check(manifest, 1);
    await manifest.commit(HISTORY[1]!); // the manifest goes on
    check(manifest, 2);
    const key = `${keys.manifest}/log/${numberedName(3)}.json`;
    await store.put(key, encodeEntry({ kind: "manifest", first: 3, operations: [entryToJson(entry)] }));
    const error = await open(store).catch((caught: unknown) => caught as TsdbError);
    expect(error).toMatchObject({ kind: "corrupt_file", details: { file: key } });
  });

  const good = entryToJson(HISTORY[0]!) as { added: Record<string, unknown>[] };
  const withBlock = (change: object) => {
    const [first] = good.added as [{ blocks: object[] }];
    return { ...good, added: [{ ...first, blocks: [{ ...first.blocks[0], ...change }] }] };
  };
  const UNREADABLE: [operation: unknown, message: string][] = [
    [[], "entry is [], want an object"],
    [{ ...good, kind: "other" }, 'entry.kind is "other"'],
    [{ ...good, removed: [1.5] }, "entry.removed is 1.5, want a whole number"],
    [{ ...good, flushedSequence: "5" }, 'entry.flushedSequence is "5", want a whole number'],
    [{ ...good, added: [{ id: 1 }] }, "file 1.key is missing, want a text"],
    [withBlock({ maxTimeNs: 5 }), "file 1.blocks[0].maxTimeNs is 5, want nanoseconds as a decimal text"],
    [withBlock({ maxTimeNs: "9223372036854775808" }), "want 64 bits"],
    [withBlock({ maxTimeNs: "0x10" }), "want nanoseconds as a decimal text"],
    [withBlock({ unique: 1 }), "file 1.blocks[0].unique is 1, want true or false"],
    [withBlock({ doubts: [["1"]] }), 'file 1.blocks[0].doubts is ["1"], want a first and a last time'],
    [withBlock({ doubts: [["2", "1"]] }), 'file 1.blocks[0].doubts is ["2","1"], want a first and a last time'],
    [withBlock({ doubts: [[1, 2]] }), "file 1.blocks[0].doubts is 1, want nanoseconds as a decimal text"],
    [withBlock({ columnIds: "0" }), 'file 1.blocks[0].columnIds is "0", want an array'],
  ];
  test.each(UNREADABLE)("%j: %s", async (operation, message) => {
    const store = new MemoryObjectStore();
    const key = `${keys.manifest}/log/${numberedName(1)}.json`;
    await store.put(key, encodeEntry({ kind: "manifest", first: 1, operations: [operation] }));
    const error = (await open(store).catch((caught: unknown) => caught)) as TsdbError;
    expect(error.kind).toBe("corrupt_file");
    expect(error.message).toStartWith(`${key}: `);
    expect(error.message).toContain(message);
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`whichever call fails, an entry is there as a whole or not at all, and there when its commit resolved (seed ${SEED})`, async () => {
    const runs = await faultLoop(
      prng(SEED),
      async (disk) => {
        let acked = 0;
        try {
          const manifest = await open(new FileObjectStore(disk, "root"), { snapshotEntries: 2 });
          for (const entry of HISTORY) {
            await manifest.commit(entry);
            acked++;
          }
          await manifest.close();
        } catch {
          // the injected fault
        }
        return acked;
      },
      async (disk, acked) => {
        const store = new FileObjectStore(disk, "root");
        await store.recover();
        const manifest = await open(store);
        const entries = Number((await store.list(`${keys.manifest}/log/`)).at(-1)?.key.slice(-25, -5) ?? 0);
        expect(entries).toBeGreaterThanOrEqual(acked);
        check(manifest, entries);
      },
    );
    expect(runs).toBeGreaterThan(30);
  });

  test("a failed commit stops the manifest and tells", async () => {
    const store = new MemoryObjectStore();
    const failures: TsdbError[] = [];
    const manifest = await open(store, { onFailure: (error) => failures.push(error) });
    await (await open(store)).commit(HISTORY[0]!); // another server on the same place
    expect(await kindOf(manifest.commit(HISTORY[0]!))).toBe("unavailable");
    expect(await kindOf(manifest.commit(HISTORY[1]!))).toBe("unavailable");
    expect(failures).toHaveLength(1);
    check(manifest, 0);
  });

  test("format 1: the entry written by the first release still reads, and today's bytes are the same", async () => {
    const golden = `${import.meta.dir}/../../../test/golden/format-v1/manifest-entry.json`;
    const written = encodeEntry({ kind: "manifest", first: 1, operations: HISTORY.slice(0, FIRST.length).map(entryToJson) });
    if (process.env["UPDATE"] === "1") writeFileSync(golden, written);
    const kept = new Uint8Array(readFileSync(golden));
    expect(written).toEqual(kept);
    const store = new MemoryObjectStore();
    await store.put(`${keys.manifest}/log/${numberedName(1)}.json`, kept);
    check(await open(store), FIRST.length);
  });

  test("entries that take blocks out of files, as they were first written", async () => {
    const golden = `${import.meta.dir}/../../../test/golden/format-v1/manifest-entry-blocks.json`;
    const written = encodeEntry({ kind: "manifest", first: 1, operations: HISTORY.map(entryToJson) });
    if (process.env["UPDATE"] === "1") writeFileSync(golden, written);
    const kept = new Uint8Array(readFileSync(golden));
    expect(written).toEqual(kept);
    const store = new MemoryObjectStore();
    await store.put(`${keys.manifest}/log/${numberedName(1)}.json`, kept);
    check(await open(store), HISTORY.length);
  });

  test("blocks with overlap ranges, as they were first written", async () => {
    const golden = `${import.meta.dir}/../../../test/golden/format-v1/manifest-entry-doubts.json`;
    const overlaps = [
      { minNs: -(2n ** 63n), maxNs: -1n },
      { minNs: 5n, maxNs: 5n },
    ];
    const files = [file(1, [{ ...block(1, 19_701n), overlaps }, block(1, 19_703n)])];
    const entry = { added: files, removed: [], removedBlocks: [], flushedSequence: 5 };
    const written = encodeEntry({ kind: "manifest", first: 1, operations: [entryToJson(entry)] });
    if (process.env["UPDATE"] === "1") writeFileSync(golden, written);
    const kept = new Uint8Array(readFileSync(golden));
    expect(written).toEqual(kept);
    const store = new MemoryObjectStore();
    await store.put(`${keys.manifest}/log/${numberedName(1)}.json`, kept);
    expect([...(await open(store)).files()]).toEqual(files);
  });

  test("blocks of closed days, as they were first written", async () => {
    const golden = `${import.meta.dir}/../../../test/golden/format-v1/manifest-entry-closed.json`;
    const files = [file(1, [{ ...block(1, 19_701n), closed: true as const }, block(1, 19_703n)], 1)];
    const entry = { added: files, removed: [], removedBlocks: [], flushedSequence: 5 };
    const written = encodeEntry({ kind: "manifest", first: 1, operations: [entryToJson(entry)] });
    if (process.env["UPDATE"] === "1" && !existsSync(golden)) writeFileSync(golden, written);
    const kept = new Uint8Array(readFileSync(golden));
    expect(written).toEqual(kept);
    const store = new MemoryObjectStore();
    await store.put(`${keys.manifest}/log/${numberedName(1)}.json`, kept);
    expect([...(await open(store)).files()]).toEqual(files);
  });

  test("a compaction's change keeps the flushed sequence of its turn", async () => {
    const manifest = await open(new MemoryObjectStore());
    const flush = manifest.commit(HISTORY[0]!);
    const compaction = manifest.commit({ added: [], removedBlocks: [{ fileId: 1, blocks: [0] }] });
    await Promise.all([flush, compaction]);
    expect(manifest.flushedSequence).toBe(5);
    expect(manifest.blocksOf(1)).toEqual([]);
    expect(manifest.changesOf(1)).toBe(2);
    expect(manifest.changesOf(2)).toBe(2);
  });
});

test("object keys and local paths of a node", () => {
  expect(keys.ptFile(7)).toBe("node0/data/00000000000000000007.pt");
  expect(keys.ptFile(7)).toStartWith(keys.data);
  expect(localPaths("/var/tsdb", "n1")).toEqual({
    objects: "/var/tsdb/objects",
    wal: "/var/tsdb/n1/wal",
    reserve: "/var/tsdb/n1/reserve",
    cache: "/var/tsdb/n1/cache",
    imports: "/var/tsdb/n1/imports",
    secretKey: "/var/tsdb/n1/secrets.key",
    signingKey: "/var/tsdb/n1/signing.key",
    replications: "/var/tsdb/n1/replications",
    triggerPositions: "/var/tsdb/n1/trigger-positions.json",
    temporary: "/var/tsdb/n1/tmp",
  });
  expect(() => objectKeys("../x")).toThrow("BUG");
});
