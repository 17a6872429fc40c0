// Files of older servers become .pt files at start: whichever call of the disk fails, every row is in the old file or in the new one.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prng } from "../../../test/support/prng.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { NodeDisk } from "../../disk/node-disk.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { FileObjectStore } from "../../object-store/file-object-store.ts";
import { openByteSource } from "../block/byte-source.ts";
import { type BlockMeta, Manifest } from "../manifest/manifest.ts";
import { objectKeys } from "../paths.ts";
import { PtReader } from "../pt/reader.ts";
import { requireCurrentFiles, upgradeFiles } from "./upgrade-files.ts";

const OBJECTS = join(import.meta.dir, "../../../test/golden/format-v1/folders/2-compacted/data/objects");
const keys = objectKeys("node0");
const folder = mkdtempSync(join(tmpdir(), "tsdb-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const kernel = Kernel.create();
const heapBefore = kernel.heap.usedBytes;
afterEach(() => expect(kernel.heap.usedBytes).toBe(heapBefore));

/** Objects of a folder that an older server left, with two of its Parquet files and a .pt file. */
const golden = new Map<string, Uint8Array>();
beforeAll(async () => {
  const manifest = await Manifest.open(new FileObjectStore(new NodeDisk(), OBJECTS), { prefix: keys.manifest, readOnly: true });
  const files = manifest.files().filter(({ key }) => /[358]\.(parquet|pt)$/.test(key));
  expect(files).toHaveLength(3);
  const disk = new FaultyDisk();
  const made = await Manifest.open(new FileObjectStore(disk, "objects"), { prefix: keys.manifest });
  await made.commit({ added: files, flushedSequence: manifest.flushedSequence });
  await made.close();
  for (const path of disk.paths()) golden.set(path, disk.peek(path)!.slice());
  for (const { key } of files) golden.set(`objects/${key}`, new Uint8Array(readFileSync(join(OBJECTS, key))));
});

function plantGolden(disk: FaultyDisk): void {
  for (const [path, bytes] of golden) disk.plant(path, bytes);
}

const dataFiles = (disk: FaultyDisk) => disk.paths().filter((path) => path.startsWith(`objects/${keys.data}`));

/** Starts as a server does; returns the manifest and what could not be rewritten. */
async function start(disk: FaultyDisk): Promise<{ manifest: Manifest; errors: unknown[] }> {
  const store = new FileObjectStore(disk, "objects");
  await store.recover();
  const manifest = await Manifest.open(store, { prefix: keys.manifest });
  const errors: unknown[] = [];
  await upgradeFiles({
    ...{ kernel, manifest, store, ptKey: (id) => keys.ptFile(id), onUpgraded: () => {} },
    // the engine reads files
    objectSource: (key) => {
      const path = join(folder, key.replaceAll("/", "-"));
      writeFileSync(path, disk.peek(`objects/${key}`)!);
      return { kind: "path", path };
    },
    onError: (_, error) => errors.push(error),
  });
  await manifest.close();
  return { manifest, errors };
}

/** What the manifest says of all blocks, in the order of their sequences and days. */
function blocksOf(manifest: Manifest): BlockMeta[] {
  const blocks = manifest.files().flatMap((file) => file.blocks);
  return blocks.sort((a, b) => a.tableId - b.tableId || Number(a.dayStartNs - b.dayStartNs) || a.seqMin - b.seqMin);
}

async function goldenBlocks(): Promise<BlockMeta[]> {
  const disk = new FaultyDisk();
  plantGolden(disk);
  const manifest = await Manifest.open(new FileObjectStore(disk, "objects"), { prefix: keys.manifest });
  expect(() => requireCurrentFiles(manifest)).toThrow("--read-only: 2 data files are of an older format");
  const isOld = new Set(manifest.files().flatMap(({ key, blocks }) => (key.endsWith(".parquet") ? blocks : [])));
  return blocksOf(manifest).map((block) => (isOld.has(block) ? { ...block, closed: true as const } : block));
}

function checkFiles(disk: FaultyDisk, manifest: Manifest, expected: readonly BlockMeta[], context: string): void {
  expect(blocksOf(manifest), context).toEqual([...expected]);
  requireCurrentFiles(manifest);
  for (const { key, bytes, blocks } of manifest.files()) {
    const file = disk.peek(`objects/${key}`)!;
    expect(file.length, context).toBe(bytes);
    const reader = new PtReader(kernel, openByteSource({ kind: "bytes", bytes: file.slice() }));
    for (const { index, rowCount } of blocks) expect(reader.block(index).rowCount, context).toBe(rowCount);
    reader.close();
  }
}

test("whichever call fails", async () => {
  const expected = await goldenBlocks();
  const runs = await faultLoop(
    prng(5),
    async (disk) => {
      plantGolden(disk);
      await start(disk).catch(() => {}); // the disk is gone
    },
    async (disk, _, failAt) => {
      const { manifest, errors } = await start(disk);
      expect(errors).toEqual([]);
      checkFiles(disk, manifest, expected, `call ${failAt}`);
    },
  );
  expect(runs).toBeGreaterThan(30);
});

test("a folder that was upgraded is left alone at the next start", async () => {
  const disk = new FaultyDisk();
  plantGolden(disk);
  await start(disk);
  const before = dataFiles(disk);
  expect(before).toHaveLength(3);
  expect(before.every((path) => path.endsWith(".pt"))).toBe(true);
  await start(disk);
  expect(dataFiles(disk)).toEqual(before);
});

test("a damaged file stays, whatever byte it is, and others are rewritten", async () => {
  const path = `objects/${keys.data}00000000000000000003.parquet`;
  const good = golden.get(path)!;
  for (let at = 4; at < good.length; at += 331) {
    const disk = new FaultyDisk();
    plantGolden(disk);
    const damaged = good.slice();
    damaged[at]! ^= 0x55;
    disk.plant(path, damaged);
    const { manifest, errors } = await start(disk);
    const old = manifest.files().filter(({ key }) => key.endsWith(".parquet"));
    expect([at, old.length]).toEqual([at, errors.length]);
    expect(dataFiles(disk).filter((file) => file.endsWith(".parquet"))).toEqual(errors.length === 0 ? [] : [path]);
    for (const error of errors) expect([at, (error as TsdbError).kind]).toEqual([at, "corrupt_file"]);
  }
  // a page's bytes: noticed by its checksum
  const disk = new FaultyDisk();
  plantGolden(disk);
  const damaged = good.slice();
  damaged[20]! ^= 0x55;
  disk.plant(path, damaged);
  const { errors } = await start(disk);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toBeInstanceOf(TsdbError);
});
