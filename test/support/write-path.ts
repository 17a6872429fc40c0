// The write path without sockets: kernel, catalog, log and buffer on a disk that the test gives; rows come back as plain objects.
import { LiveTables } from "../../src/buffer/live-tables.ts";
import { Pins } from "../../src/buffer/pins.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import type { Disk } from "../../src/disk/disk.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { Replayer } from "../../src/ingest/replay.ts";
import { Kernel } from "../../src/kernel/kernel.ts";
import { mergeRuns } from "../../src/kernel/run-merge.ts";
import { Precision } from "../../src/model/precision.ts";
import type { WriteRequest, WriteResult } from "../../src/model/write.ts";
import type { ObjectStore } from "../../src/object-store/object-store.ts";
import { replay } from "../../src/wal/replay.ts";
import { Wal } from "../../src/wal/wal.ts";
import { readRun, type TestRow } from "./rows.ts";

const I64_MIN = -(2n ** 63n);
const encoder = new TextEncoder();

export class WritePath {
  private constructor(
    readonly kernel: Kernel,
    readonly catalog: Catalog,
    readonly tables: LiveTables,
    readonly wal: Wal,
    readonly ingest: Ingest,
    /** Rows that came back from the log. */
    readonly replayedRows: number,
  ) {}

  static async open(disk: Disk, store: ObjectStore): Promise<WritePath> {
    const kernel = Kernel.create();
    const tables = new LiveTables(kernel, new Pins(), () => I64_MIN);
    const catalog = await Catalog.open(store, { prefix: "n/catalog" });
    const replayer = new Replayer(kernel, catalog, tables, 0);
    const replayed = await replay(disk, "wal", {
      afterSequence: 0,
      failOnError: true,
      onFrame: (sequence, payload, segment) => replayer.frame(sequence, payload, segment),
    });
    replayer.release();
    const wal = await Wal.open(disk, "wal", replayed);
    let nowNs = 1_700_000_000_000_000_000n;
    const ingest = new Ingest({
      kernel,
      catalog,
      tables,
      wal,
      clockNs: () => nowNs++,
      admit: () => undefined,
      onFatal: (error) => {
        throw error;
      },
      onRows: () => {},
    });
    return new WritePath(kernel, catalog, tables, wal, ingest, replayer.rowCount);
  }

  write(body: string | Uint8Array, options: Partial<WriteRequest> = {}): Promise<WriteResult> {
    const bytes = typeof body === "string" ? encoder.encode(body) : body;
    const defaults = { database: "db", precision: Precision.nanosecond, acceptPartial: true, noSync: false };
    return this.ingest.write({ ...defaults, ...options, body: bytes });
  }

  /** Columns of a table as `name:type number`, in the catalog's order; undefined when there is no such table. */
  schema(table: string, database = "db"): string[] | undefined {
    return this.table(table, database)?.columns.map(({ name, type }) => `${name}:${type}`);
  }

  /** Rows of a table by series and time, duplicates merged. */
  rows(table: string, database = "db"): TestRow[] {
    const def = this.table(table, database);
    const runs = def === undefined ? [] : this.tables.runs(def.id);
    if (def === undefined || runs.length === 0) return [];
    const merged = mergeRuns(this.kernel, runs, def.columns);
    try {
      return readRun(this.kernel, def.columns, merged);
    } finally {
      merged.release();
    }
  }

  private table(name: string, database: string) {
    const found = this.catalog.findDatabase(database);
    return found === undefined ? undefined : this.catalog.findTable(found.id, name);
  }
}
