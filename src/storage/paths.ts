// All paths and object keys of the server. Local folders are inside the data folder; objects are under the node's own prefix, so that
// several nodes can share one store.
import { assert } from "../model/assert.ts";
import { isSafeKeyPart } from "../object-store/object-store.ts";

/** Folders of a server on its local disk. */
export interface LocalPaths {
  /** Root of the file object store. */
  readonly objects: string;
  /** Segments of the write-ahead log. */
  readonly wal: string;
  /** Local copies of objects for readers that need files; may be deleted while the server is stopped. */
  readonly cache: string;
  /** A file that reserves disk space for operations that must not fail when the disk is full. */
  readonly reserve: string;
  /** Key of tokens and secrets, which the catalog has encrypted. */
  readonly secretKey: string;
  /** Key that signs the tokens of users. */
  readonly signingKey: string;
  /** How far write triggers have come in the log. */
  readonly triggerPositions: string;
  /** Queues of replications. */
  readonly replications: string;
  /** Files that wait to be imported. */
  readonly imports: string;
  /** Spill files of running queries; deleted at start. */
  readonly temporary: string;
}

/** The local paths of a node. */
export function localPaths(dataFolder: string, nodeId: string): LocalPaths {
  assert(isSafeKeyPart(nodeId), `node id ${JSON.stringify(nodeId)}`);
  return {
    objects: `${dataFolder}/objects`,
    wal: `${dataFolder}/${nodeId}/wal`,
    reserve: `${dataFolder}/${nodeId}/reserve`,
    cache: `${dataFolder}/${nodeId}/cache`,
    secretKey: `${dataFolder}/${nodeId}/secrets.key`,
    signingKey: `${dataFolder}/${nodeId}/signing.key`,
    triggerPositions: `${dataFolder}/${nodeId}/trigger-positions.json`,
    replications: `${dataFolder}/${nodeId}/replications`,
    imports: `${dataFolder}/${nodeId}/imports`,
    temporary: `${dataFolder}/${nodeId}/tmp`,
  };
}

/** Object keys of a node. */
export interface ObjectKeys {
  /** Prefixes of the two operation logs. */
  readonly catalog: string;
  readonly manifest: string;
  /** Prefix of all data files, with the slash: objects here that are not in the manifest are left over from a crash. */
  readonly data: string;
  /** Prefix of all file indexes, with the slash: indexes of files that are not in the manifest are left over. */
  readonly indexes: string;
  /** Prefix of the records of imports, with the slash. */
  readonly imports: string;
  /** Prefixes of backups and of the records of restores, with the slash. */
  readonly backups: string;
  readonly restores: string;
  /** Key of a `.pt` file. */
  ptFile(fileId: number): string;
  /** Key of a data file's index; `revision` is above those of its earlier indexes. */
  fileIndex(fileId: number, revision: number): string;
}

/** The object keys of a node. */
export function objectKeys(nodeId: string): ObjectKeys {
  assert(isSafeKeyPart(nodeId), `node id ${JSON.stringify(nodeId)}`);
  return {
    catalog: `${nodeId}/catalog`,
    manifest: `${nodeId}/manifest`,
    data: `${nodeId}/data/`,
    indexes: `${nodeId}/indexes/`,
    imports: `${nodeId}/imports/`,
    backups: `${nodeId}/backups/`,
    restores: `${nodeId}/restores/`,
    ptFile: (fileId) => {
      assert(Number.isSafeInteger(fileId) && fileId > 0, `file id ${fileId}`);
      return `${nodeId}/data/${String(fileId).padStart(20, "0")}.pt`;
    },
    fileIndex: (fileId, revision) => `${nodeId}/indexes/${String(fileId).padStart(20, "0")}-${revision}.ix`,
  };
}
