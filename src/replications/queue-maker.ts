// Makes the files of queues out of the log, in a thread of its own.
import type { Disk } from "../disk/disk.ts";
import type { LogTable } from "../triggers/log-feed.ts";
import type { LogReader } from "../triggers/log-reader.ts";
import { lineParts } from "./line-protocol.ts";
import type { QueueAnswer, QueueRequest, TableNames } from "./queue-feed.ts";
import { writeParts } from "./queue-files.ts";

/** Asks the main thread, which has the catalog; in the order of the tables. */
export type AskNames = (tableIds: readonly number[]) => Promise<readonly (TableNames | null)[]>;

/** @throws TsdbError io, corrupt_file, overloaded */
export async function makeQueueFiles(reader: LogReader, disk: Disk, request: QueueRequest, ask: AskNames): Promise<QueueAnswer> {
  const { reader: triggerId, after, through, databaseId, folder, roomBytes, nowMs } = request;
  const rows = await reader.read({ triggerId, after, through, databaseId, tableId: null, takesAll: true });
  const { goneBefore, tables } = rows;
  const names = tables.length === 0 ? [] : await ask(tables.map(({ tableId }) => tableId));
  const named = tables.flatMap((table, i): (readonly [LogTable, TableNames])[] => {
    const found = names[i] ?? null;
    return found === null ? [] : [[table, found]];
  });
  const written = await writeParts(disk, { folder, through: rows.through, roomBytes, nowMs }, lineParts(named));
  return { ...written, through: rows.through, goneBefore };
}
