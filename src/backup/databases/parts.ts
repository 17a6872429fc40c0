// What backups of databases need from the server.
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { LiveTables } from "../../storage/buffer/live-tables.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { BlockMeta, Manifest } from "../../storage/manifest/manifest.ts";
import type { Wal } from "../../storage/wal/wal.ts";
import type { TableContent } from "./content.ts";

export interface DatabaseBackupParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly tables: Pick<LiveTables, "runs" | "renamed">;
  readonly wal: Pick<Wal, "lastSequence" | "makeRoom" | "append">;
  /** Of the data. */
  readonly store: ObjectStore;
  readonly ptKey: (fileId: number) => string;
  /** Compares a file of the store with its description. @throws TsdbError corrupt_file */
  readonly checkFile: (key: string, blocks: readonly BlockMeta[], tables: ReadonlyMap<number, TableContent>) => void;
  /** Identifies the server: its file ids mean the same files. */
  readonly source: string;
  /** Including deletions that are not in the catalog yet. */
  readonly tombstonesOf: (tableId: number) => readonly Tombstone[];
  /** Sets ids aside; returns the first. */
  readonly reserveTombstones: (count: number) => number;
  /** Files all rows so far. */
  readonly barrier: () => Promise<unknown>;
  /** Files that are replaced stay readable until the result is called. */
  readonly keepFiles: () => () => void;
  readonly durableSequence: () => number;
  /** Free bytes where backups are and where the data is; null: unknown. */
  readonly backupRoom: () => Promise<number | null>;
  readonly dataRoom: () => Promise<number | null>;
  /** Settles what a crash has left in the store of backups. */
  readonly recoverStore: () => Promise<void>;
  /** Databases have come, or rows of none. */
  readonly onRestored: () => void;
  readonly nowMs: () => number;
  /** Tables that a restore replaces can be restored for so long. */
  readonly hardDeleteDefaultMs: number;
  /** Tells the server's log how a job has ended. */
  readonly ended: (what: string, details: Readonly<Record<string, unknown>>, error: unknown) => void;
}
