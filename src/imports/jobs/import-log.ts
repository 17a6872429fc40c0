// The imports that there were: an object each, which outlives the process.
import { IMPORT_TYPES, type ImportInfo, type ImportStatus, type ImportType } from "../../model/rows/import-jobs.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { decodeSnapshot, encodeSnapshot } from "../../object-store/operation-file.ts";
import { badValue, inFile, readArray, readBoolean, readCount, readNs, readObject, readText } from "../../object-store/operation-values.ts";

export interface ImportRecord extends ImportInfo {
  /** Runs that have begun. */
  readonly attempts: number;
  /** Files of the rows: part of the data if one of them is. */
  readonly fileIds: readonly number[];
}

const KIND = "import";
const STATUSES: readonly ImportStatus[] = ["queued", "dispatched", "imported", "compacted", "failed", "terminal_failed"];

/** The imports of one server, in order of their beginning. */
export class ImportLog {
  private readonly byId = new Map<string, ImportRecord>();

  /** @param prefix of all keys, with the slash @param countMax of those that have ended: the oldest go */
  constructor(
    private readonly store: ObjectStore,
    private readonly prefix: string,
    private readonly countMax = 1000,
  ) {}

  /** @throws TsdbError corrupt_file */
  async open(): Promise<void> {
    const found: ImportRecord[] = [];
    for (const { key } of await this.store.list(this.prefix)) {
      const bytes = await this.store.get(key);
      found.push(inFile(key, () => readRecord(decodeSnapshot(key, bytes, { kind: KIND, last: 1 }).state)));
    }
    for (const record of found.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1))) this.byId.set(record.id, record);
  }

  all(): ImportRecord[] {
    return [...this.byId.values()];
  }

  /** Adds or changes one, for later processes too. @throws TsdbError io, no_space */
  async put(record: ImportRecord): Promise<void> {
    await this.store.put(this.keyOf(record.id), encodeSnapshot({ kind: KIND, last: 1, state: recordJson(record) }));
    this.byId.set(record.id, record);
    for (const { id } of this.all().filter(isOver)) {
      if (this.byId.size <= this.countMax) break;
      this.byId.delete(id);
      await this.store.delete(this.keyOf(id));
    }
  }

  /** Changes one for this process in any case, and for later ones if the store takes it. */
  async note(record: ImportRecord): Promise<void> {
    this.byId.set(record.id, record);
    await this.put(record);
  }

  private keyOf(id: string): string {
    return `${this.prefix}${id}.json`;
  }
}

/** Nothing more will happen to it. */
export function isOver({ status }: Pick<ImportInfo, "status">): boolean {
  return status === "imported" || status === "compacted" || status === "terminal_failed";
}

function recordJson({ columns, minTimeNs, maxTimeNs, ...rest }: ImportRecord): unknown {
  return { ...rest, columns: columns === null ? null : [...columns], minTimeNs: String(minTimeNs), maxTimeNs: String(maxTimeNs) };
}

function readRecord(value: unknown): ImportRecord {
  const record = readObject("import", value);
  const count = (name: string) => readCount(name, record[name]);
  const countOrNull = (name: string) => (record[name] === null ? null : count(name));
  const text = (name: string) => readText(name, record[name]);
  const status = STATUSES.find((each) => each === record["status"]) ?? badValue("status", record["status"], "a status");
  return {
    ...{ id: text("id"), databaseId: count("databaseId"), tableId: count("tableId"), fileName: text("fileName"), status },
    message: record["message"] === null ? null : text("message"),
    ...{ createdMs: count("createdMs"), startedMs: countOrNull("startedMs"), completedMs: countOrNull("completedMs") },
    ...{ updatedMs: count("updatedMs"), isOwn: readBoolean("isOwn", record["isOwn"]) },
    columns: record["columns"] === null ? null : new Map(readArray("columns", record["columns"]).map(readColumn)),
    ...{ byteCount: count("byteCount"), rowCount: count("rowCount"), attempts: count("attempts") },
    ...{ minTimeNs: readNs("minTimeNs", record["minTimeNs"]), maxTimeNs: readNs("maxTimeNs", record["maxTimeNs"]) },
    fileIds: readArray("fileIds", record["fileIds"]).map((id) => readCount("fileIds", id)),
  };
}

function readColumn(value: unknown): [name: string, type: ImportType] {
  const [name, type] = readArray("columns", value);
  const known = IMPORT_TYPES.find((each) => each === type) ?? badValue("columns", type, "a type");
  return [readText("columns", name), known];
}
