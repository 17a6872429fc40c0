// Replications of one server, put together: what sends them, and how they hold on to the log.
import { rm } from "node:fs/promises";
import type { V2Line } from "../metadata/line.ts";
import { ColumnType } from "../model/rows/column.ts";
import type { TableNames } from "../replications/queue-feed.ts";
import { Replicator } from "../replications/replicator.ts";
import type { Wal } from "../storage/wal/wal.ts";
import { SYSTEM_CLOCK } from "../triggers/clock.ts";
import { cutThrough } from "../triggers/log-hold.ts";
import { QueueThreadClient } from "../workers/replications/queue-thread-client.ts";
import type { Foundation } from "./foundation.ts";

/** Rows go from the log to the queues within seconds: what is kept is for a server that has just started, or has a slow disk. */
const LOG_BYTES_MAX = 1 << 30;

/** The replications of a server. */
export class Replicating {
  readonly replicator: Replicator;

  constructor(
    private readonly foundation: Foundation,
    line: V2Line,
    private readonly wal: Wal,
  ) {
    const { config, catalog, kernel, paths, storage, logs } = foundation;
    const log = logs("replications");
    const namesOf = (tableId: number): TableNames | null => {
      const table = catalog.tableById(tableId);
      if (table === undefined || catalog.findTable(table.databaseId, table.name)?.id !== tableId) return null;
      const columns = table.columns.map(({ id, name, type }) => ({ id, name, isTag: type === ColumnType.tag }));
      return { name: table.name, columns };
    };
    this.replicator = new Replicator({
      ...{ replications: line.replications, remotes: line.remotes, folder: paths.replications, log: wal, clock: SYSTEM_CLOCK },
      disk: config.objectStore === "memory" ? null : storage.walDisk,
      feed: new QueueThreadClient(kernel.shared, paths.wal, namesOf),
      // the other server is mostly in the same network
      allowsPrivate: config.v2TransportSecurityMs === null,
      removeFolder: (path) => rm(path, { recursive: true, force: true }),
      warn: (message, details) => log.warn(message, { ...details }),
    });
  }

  /** How far a flush may cut the log. @throws TsdbError io */
  async cutThrough(flushed: number): Promise<number> {
    const { config, storage } = this.foundation;
    if (config.objectStore === "memory" || config.readOnly) return flushed;
    const positions = new Map(await this.replicator.positions());
    const passOver = (sequence: number, reason: string) => {
      this.replicator.passOver(sequence, reason);
      for (const [id, position] of positions) positions.set(id, Math.max(position, sequence));
    };
    return cutThrough(flushed, {
      ...{ engine: { positions: () => positions, passOver }, wal: this.wal, bytesMax: LOG_BYTES_MAX },
      limitName: "a fixed limit",
      isDiskFull: () => storage.space.problem !== null,
    });
  }
}
