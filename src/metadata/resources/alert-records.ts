// Checks, notification endpoints and notification rules: records of one form, with labels, members and owners. What their settings mean
// is known in `alerts/`.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes, ResourceType } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";
import type { Labels } from "./labels.ts";
import type { Members } from "./members.ts";

export type AlertKind = "check" | "notification_endpoint" | "notification_rule";
export type StoredAlert<K extends AlertKind> = RecordTypes[K] & { readonly id: string };

/** What a list is filtered by before anything else of a record is read. */
export interface ListedAlert {
  readonly id: string;
  readonly orgID: string;
}

interface AlertTable {
  readonly table: string;
  readonly type: ResourceType;
  readonly missing: (id: string) => string;
  /** Two of one name in an organization are refused; the name of the thing in the message. */
  readonly unique?: string;
}

const TABLES: { readonly [K in AlertKind]: AlertTable } = {
  check: { table: "checks", type: "checks", missing: (id) => `check not found for key "${id}"`, unique: "check" },
  notification_endpoint: {
    ...{ table: "notificationEndpoints", type: "notificationEndpoints", unique: "notification endpoint" },
    missing: (id) => `notification endpoint not found for key "${id}"`,
  },
  notification_rule: { table: "notificationRules", type: "notificationRules", missing: () => "notification rule not found" },
};

/** Finds and lists the records of one kind, and plans their changes. */
export class AlertRecords<K extends AlertKind> {
  private readonly place: AlertTable;

  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels; readonly members: Members },
    private readonly kind: K,
  ) {
    this.place = TABLES[kind];
  }

  get count(): number {
    return this.metadata.view.count(`from ${this.place.table}`);
  }

  find(id: string): StoredAlert<K> | null {
    type Row = Omit<StoredAlert<K>, "settings"> & { readonly settings: string };
    const row = this.metadata.view.get<Row>(`select * from ${this.place.table} where id = ?`, id);
    return row === null ? null : ({ ...row, settings: JSON.parse(row.settings) } as unknown as StoredAlert<K>);
  }

  /** @throws TsdbError not_found */
  get(id: string): StoredAlert<K> {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", this.place.missing(id));
    return found;
  }

  /** The id of that of the name. Rules may have one name: then of any. */
  findByName(orgID: string, name: string): string | null {
    const sql = `select id from ${this.place.table} where orgID = ? and name = ?`;
    return this.metadata.view.get<{ id: string }>(sql, orgID, name)?.id ?? null;
  }

  /** In order of creation; of all organizations where none is given. */
  list(orgID?: string): ListedAlert[] {
    const sql = `select id, orgID from ${this.place.table} where ?1 is null or orgID = ?1 order by id`;
    return this.metadata.view.all<ListedAlert>(sql, orgID ?? null);
  }

  /** @throws TsdbError already_exists */
  planPut(change: Change, id: string, record: RecordTypes[K]): StoredAlert<K> {
    const { table, unique } = this.place;
    if (unique !== undefined && this.isTaken(record, id)) {
      const isThere = this.metadata.view.get(`select id from ${table} where id = ?`, id) !== null;
      const conflict = isThere ? "entity update conflicts with an existing entity" : "is not unique";
      // the vendor's key of a changed check is in lower case, though its names are not
      const name = isThere && this.kind === "check" ? record.name.toLowerCase() : record.name;
      throw new TsdbError("already_exists", `${unique} ${conflict} for key ${record.orgID}${name}`);
    }
    change.put(this.kind, id, record);
    return { id, ...record };
  }

  /** Whether another one than that of the id has the name. */
  isTaken({ orgID, name }: Pick<RecordTypes[K], "orgID" | "name">, id: string): boolean {
    const same = `select id from ${this.place.table} where orgID = ? and name = ? and id <> ?`;
    return this.metadata.view.get(same, orgID, name, id) !== null;
  }

  /** With its labels, members and owners. */
  planDelete(change: Change, id: string): void {
    this.parts.labels.planRemoveAll(change, this.place.type, id);
    this.parts.members.planRemoveAll(change, this.place.type, id);
    change.remove(this.kind, id);
  }

  planDeleteOfOrganization(change: Change, orgID: string): void {
    for (const { id } of this.list(orgID)) this.planDelete(change, id);
  }
}
