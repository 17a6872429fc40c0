// Opens the data folder of a stopped server: its catalog, and the records of the bucket-based API.
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type FolderLock, lockFolder, lockFolderForReading } from "../../disk/lock.ts";
import { NodeDisk } from "../../disk/node-disk.ts";
import { ReadOnlyDisk } from "../../disk/read-only-disk.ts";
import { SecretBox } from "../../metadata/access/secret-box.ts";
import { V2Line } from "../../metadata/line.ts";
import { TsdbError } from "../../model/errors.ts";
import { FileObjectStore } from "../../object-store/file-object-store.ts";
import { isSafeKeyPart } from "../../object-store/object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { type LocalPaths, localPaths, objectKeys } from "../../storage/paths.ts";
import type { Input } from "../client/options.ts";

export interface OpenFolder {
  readonly path: string;
  readonly paths: LocalPaths;
  readonly nodeId: string;
  readonly store: FileObjectStore;
  readonly catalog: Catalog;
  /** @throws TsdbError config if its key cannot be used */
  line(input: Input): V2Line;
}

/** Runs `run` on the folder, locked; with `write` nothing else may have it, otherwise nothing that writes. @throws TsdbError config if
 *  there is no such folder or a server has it, corrupt_file, io */
export async function withFolder<T>(input: Input, mode: "read" | "write", run: (folder: OpenFolder) => Promise<T>): Promise<T> {
  const path = resolve(input.option("data-dir")!);
  const nodeId = input.option("node-id")!;
  if (!isSafeKeyPart(nodeId)) throw new TsdbError("config", `--node-id: "${nodeId}" is no name of a server`);
  const paths = localPaths(path, nodeId);
  const catalogFolder = `${paths.objects}/${objectKeys(nodeId).catalog}`;
  if (statSync(catalogFolder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new TsdbError("config", `--data-dir: ${path} has no data of a server "${nodeId}"; --data-dir and --node-id name others`);
  }
  const lock: FolderLock = mode === "write" ? lockFolder(path) : lockFolderForReading(path);
  try {
    const readOnly = mode === "read";
    const disk = new NodeDisk();
    const store = new FileObjectStore(readOnly ? new ReadOnlyDisk(disk) : disk, paths.objects);
    if (!readOnly) await store.recover();
    const catalog = await Catalog.open(store, { prefix: objectKeys(nodeId).catalog, readOnly });
    try {
      return await run({ path, paths, nodeId, store, catalog, line: (given) => lineOf(catalog, paths, given, readOnly) });
    } finally {
      await catalog.close();
    }
  } finally {
    lock.release();
  }
}

function lineOf(catalog: Catalog, { secretKey }: LocalPaths, input: Input, readOnly: boolean): V2Line {
  const box = boxOf(secretKey, input, readOnly);
  return new V2Line(catalog, {
    ...{ nowMs: () => Date.now(), box, keepsHashesOnly: false },
    sessions: { lengthMs: 0, renewMs: null },
    onDropped: () => {},
  });
}

function boxOf(secretKey: string, input: Input, readOnly: boolean): SecretBox {
  const [key, file] = [input.option("v2-secret-key"), input.option("v2-secret-key-file")];
  if (key !== undefined) return SecretBox.ofText(key);
  if (file !== undefined) return SecretBox.ofFile(file, false);
  return readOnly && !existsSync(secretKey) ? SecretBox.random() : SecretBox.ofFile(secretKey, !readOnly);
}
