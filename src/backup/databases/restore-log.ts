// The restores that there were: an object each, which outlives the process. What a crash has interrupted is found out at the next start.
import type { JobStatus } from "../../model/rows/backup-jobs.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { decodeSnapshot, encodeSnapshot } from "../../object-store/operation-file.ts";
import { badValue, inFile, readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";

export interface RestoreRecord {
  readonly id: string;
  readonly backup: string;
  readonly status: JobStatus;
  readonly createdMs: number;
  readonly completedMs: number | null;
  readonly totalFiles: number;
  readonly totalBytes: number;
  readonly error: string | null;
  /** Ids that are there exactly if it came about. */
  readonly tables: readonly number[];
  readonly databases: readonly number[];
}

const KIND = "restore";
const RESTORES_MAX = 1000;

/** The restores of one server. */
export class RestoreLog {
  /** In order of their beginning. */
  private readonly byId = new Map<string, RestoreRecord>();

  /** @param prefix of all keys, with the slash */
  constructor(
    private readonly store: ObjectStore,
    private readonly prefix: string,
  ) {}

  /** Reads them. What was running is over. @param cameAbout whether the tables or databases are there; null: nothing may be written
   *  @throws TsdbError corrupt_file */
  async open(cameAbout: ((record: RestoreRecord) => boolean) | null, nowMs: number): Promise<void> {
    const found: RestoreRecord[] = [];
    for (const { key } of await this.store.list(this.prefix)) {
      const bytes = await this.store.get(key);
      found.push(inFile(key, () => readRecord(decodeSnapshot(key, bytes, { kind: KIND, last: 1 }).state)));
    }
    for (const record of found.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1))) this.byId.set(record.id, record);
    for (const record of found) {
      if (record.status !== "in_progress" || cameAbout === null) continue;
      const ended = cameAbout(record)
        ? { status: "completed" as const, completedMs: nowMs }
        : { status: "failed" as const, error: "the server ended before the restore had; nothing was restored" };
      await this.put({ ...record, ...ended });
    }
  }

  /** The newest first. */
  all(): RestoreRecord[] {
    return [...this.byId.values()].reverse();
  }

  find(id: string): RestoreRecord | undefined {
    return this.byId.get(id);
  }

  /** Adds or changes one; the oldest of too many go. */
  async put(record: RestoreRecord): Promise<void> {
    await this.store.put(this.keyOf(record.id), encodeSnapshot({ kind: KIND, last: 1, state: record }));
    this.byId.set(record.id, record);
    for (const id of this.byId.keys()) {
      if (this.byId.size <= RESTORES_MAX) break;
      this.byId.delete(id);
      await this.store.delete(this.keyOf(id));
    }
  }

  /** Changes one for this process in any case, and for later ones if the store takes it. */
  async note(record: RestoreRecord): Promise<void> {
    this.keep(record);
    await this.put(record);
  }

  /** Changes one for this process. */
  keep(record: RestoreRecord): void {
    this.byId.set(record.id, record);
  }

  private keyOf(id: string): string {
    return `${this.prefix}${id}.json`;
  }
}

function readRecord(value: unknown): RestoreRecord {
  const record = readObject("restore", value);
  const { status, completedMs, error } = record;
  if (status !== "in_progress" && status !== "completed" && status !== "failed") badValue("status", status, "a status");
  const ids = (name: string) => readArray(name, record[name]).map((id) => readCount(name, id));
  return {
    id: readText("id", record["id"]),
    backup: readText("backup", record["backup"]),
    status,
    createdMs: readCount("createdMs", record["createdMs"]),
    completedMs: completedMs === null ? null : readCount("completedMs", completedMs),
    totalFiles: readCount("totalFiles", record["totalFiles"]),
    totalBytes: readCount("totalBytes", record["totalBytes"]),
    error: error === null ? null : readText("error", error),
    ...{ tables: ids("tables"), databases: ids("databases") },
  };
}
