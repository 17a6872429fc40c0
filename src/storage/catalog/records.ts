// Records of the v2 line: organizations, users, authorizations and what else its API manages. The catalog keeps each as the JSON object
// that its owner (metadata/) gave, under a kind and an id, and knows nothing of its members. Part of the catalog's state: no clock, no I/O.
import { badValue, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

/** A record is there from now on, in place of the one before. */
export interface PutRecord extends CatalogRecord {
  readonly kind: "put_record";
}

export interface DeleteRecord {
  readonly kind: "delete_record";
  readonly of: string;
  readonly id: string;
}

/** True if the operation is of records. */
export function isRecordOperation(operation: { readonly kind: string }): operation is PutRecord | DeleteRecord {
  return ["put_record", "delete_record"].includes(operation.kind);
}

/** The members of a record as its owner wrote them. */
export type RecordValue = Readonly<Record<string, unknown>>;

export interface CatalogRecord {
  /** What it is, as `user`. */
  readonly of: string;
  /** 16 hex digits, unique among the records of its kind. */
  readonly id: string;
  readonly value: RecordValue;
}

/** The records by kind and id. */
export class RecordSet {
  /** The greatest id that any record ever had, so that none is used again. */
  lastId = "0000000000000000";
  private readonly byKind = new Map<string, Map<string, RecordValue>>();

  /** In order of their first put. */
  ofKind(of: string): ReadonlyMap<string, RecordValue> {
    return this.byKind.get(of) ?? NONE;
  }

  kinds(): string[] {
    return [...this.byKind.keys()];
  }

  /** @throws TsdbError corrupt_file: nothing is changed */
  apply(operation: PutRecord | DeleteRecord): void {
    if (operation.kind === "put_record") this.put(operation);
    else this.remove(operation.of, operation.id);
  }

  put({ of, id, value }: CatalogRecord): void {
    let records = this.byKind.get(of);
    if (records === undefined) {
      records = new Map();
      this.byKind.set(of, records);
    }
    records.set(id, value);
    if (id > this.lastId) this.lastId = id;
  }

  private remove(of: string, id: string): void {
    const records = this.byKind.get(of);
    if (records?.delete(id) !== true) violated(`${of} ${id} does not exist`);
    if (records.size === 0) this.byKind.delete(of);
  }

  toJson(): { readonly lastId: string; readonly records: readonly CatalogRecord[] } {
    const records: CatalogRecord[] = [];
    for (const [of, values] of this.byKind) for (const [id, value] of values) records.push({ of, id, value });
    return { lastId: this.lastId, records };
  }
}

const NONE: ReadonlyMap<string, RecordValue> = new Map();

/** The set that a snapshot holds. @throws TsdbError corrupt_file */
export function readRecords(value: unknown): RecordSet {
  const set = new RecordSet();
  // snapshots of servers without the v2 line have none
  if (value === undefined) return set;
  const { lastId, records } = readObject("records", value);
  if (!Array.isArray(records)) badValue("records", records, "an array");
  for (const record of records) set.put(readRecord(record));
  const last = readId("lastId", lastId);
  if (last > set.lastId) set.lastId = last;
  return set;
}

/** @throws TsdbError corrupt_file */
export function readRecord(value: unknown): CatalogRecord {
  const record = readObject("record", value);
  return { of: readText("of", record["of"]), id: readId("id", record["id"]), value: readObject("value", record["value"]) };
}

/** @throws TsdbError corrupt_file */
export function readId(what: string, value: unknown): string {
  const id = readText(what, value);
  if (!/^[0-9a-f]{16}$/.test(id)) badValue(what, id, "16 hex digits");
  return id;
}
