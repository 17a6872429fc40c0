// What imports need from the server.
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { LiveTables } from "../../storage/buffer/live-tables.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { Manifest } from "../../storage/manifest/manifest.ts";
import type { ImportEngine } from "../import-engine.ts";

export interface ImportParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly tables: Pick<LiveTables, "expectRows">;
  /** Of the data. */
  readonly store: ObjectStore;
  readonly ptKey: (fileId: number) => string;
  readonly engine: ImportEngine;
  /** Local folder of files that wait. */
  readonly folder: string;
  /** Files all rows so far; resolves to the first of `count` successive sequences between them and later ones. */
  readonly barrier: (count: number) => Promise<number>;
  /** No files are merged until the result is called. */
  readonly pauseCompaction: () => () => void;
  /** Why the disk takes nothing; null: it does. */
  readonly spaceProblem: () => Error | null;
  readonly onImported: () => void;
  readonly nowMs: () => number;
  /** Calls back once after the time. */
  readonly later: (milliseconds: number, run: () => void) => void;
  /** Tells the server's log how a job has ended. */
  readonly ended: (details: Readonly<Record<string, unknown>>, error: unknown) => void;
}
