// Every path and object key of the server. Local folders hang under the data folder, objects under the node's own prefix, so that
// several nodes can share one store.
import { assert } from "../model/assert.ts";
import { isSafeKeyPart } from "../object-store/object-store.ts";

/** Folders of a server on its own disk. */
export interface LocalPaths {
  /** Root of the file object store. */
  readonly objects: string;
  /** Segments of the write-ahead log. */
  readonly wal: string;
  /** Objects brought here for readers that open files only; may be emptied while the server is stopped. */
  readonly cache: string;
  /** A file that keeps a little of the disk for what must not fail when the rest is full. */
  readonly reserve: string;
  /** Spill files of running queries; emptied at start. */
  readonly temporary: string;
}

export function localPaths(dataFolder: string, nodeId: string): LocalPaths {
  assert(isSafeKeyPart(nodeId), `node id ${JSON.stringify(nodeId)}`);
  return {
    objects: `${dataFolder}/objects`,
    wal: `${dataFolder}/${nodeId}/wal`,
    reserve: `${dataFolder}/${nodeId}/reserve`,
    cache: `${dataFolder}/${nodeId}/cache`,
    temporary: `${dataFolder}/${nodeId}/tmp`,
  };
}

/** Keys of a node's objects. */
export interface ObjectKeys {
  /** Prefixes of the two operation logs. */
  readonly catalog: string;
  readonly manifest: string;
  /** Prefix of all data files, with the slash: what is listed here and not in the manifest is left over from a crash. */
  readonly data: string;
  /** Prefix of all file indexes, with the slash: one of a file that is not in the manifest is left over. */
  readonly indexes: string;
  /** A `.pt` file. */
  ptFile(fileId: number): string;
  /** The index of a data file; `revision` is above those of its indexes before. */
  fileIndex(fileId: number, revision: number): string;
}

export function objectKeys(nodeId: string): ObjectKeys {
  assert(isSafeKeyPart(nodeId), `node id ${JSON.stringify(nodeId)}`);
  return {
    catalog: `${nodeId}/catalog`,
    manifest: `${nodeId}/manifest`,
    data: `${nodeId}/data/`,
    indexes: `${nodeId}/indexes/`,
    ptFile: (fileId) => {
      assert(Number.isSafeInteger(fileId) && fileId > 0, `file id ${fileId}`);
      return `${nodeId}/data/${String(fileId).padStart(20, "0")}.pt`;
    },
    fileIndex: (fileId, revision) => `${nodeId}/indexes/${String(fileId).padStart(20, "0")}-${revision}.ix`,
  };
}
