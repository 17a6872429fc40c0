// Labels of an organization, and the resources that they are on.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes, ResourceType } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";

export interface Label {
  readonly id: string;
  readonly orgID: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
}

type LabelRow = Omit<Label, "properties"> & { readonly properties: string };

const COLUMNS = "id, orgID, name, properties";

/** Of the name and the properties as JSON: whatever has the label shows them. */
const LENGTH_MAX = 1 << 14;

/** Creates, finds, changes and deletes labels, and attaches them to resources. */
export class Labels {
  constructor(private readonly metadata: Metadata) {}

  find(id: string): Label | null {
    const row = this.metadata.view.get<LabelRow>(`select ${COLUMNS} from labels where id = ?`, id);
    return row === null ? null : labelOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Label {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "label not found");
    return found;
  }

  /** In order of creation. The case of letters in a name does not count. */
  heads({ orgID, name }: { readonly orgID?: string | undefined; readonly name?: string | undefined }): Pick<Label, "id" | "orgID">[] {
    const where = "(?1 is null or orgID = ?1) and (?2 is null or lower(name) = lower(?2))";
    return this.metadata.view.all(`select id, orgID from labels where ${where} order by id`, orgID ?? null, name ?? null);
  }

  /** @throws TsdbError not_found for an unknown organization, already_exists */
  create(label: Omit<Label, "id">): Promise<Label> {
    return this.metadata.change((change) => this.planCreate(change, label));
  }

  /** @throws as `create` */
  planCreate(change: Change, label: Omit<Label, "id">): Label {
    if (this.metadata.view.get("select id from organizations where id = ?", label.orgID) === null) {
      throw new TsdbError("not_found", "organization not found");
    }
    return this.put(change, { id: change.newId(), ...label });
  }

  /** @throws TsdbError not_found, already_exists */
  planReplace(change: Change, id: string, changed: Pick<Label, "name" | "properties">): Label {
    return this.put(change, { ...this.get(id), ...changed });
  }

  /** A property that is empty goes, others are added or replaced. @throws TsdbError not_found, already_exists */
  update(id: string, { name, properties = {} }: { readonly name?: string; readonly properties?: Label["properties"] }): Promise<Label> {
    return this.metadata.change((change) => {
      const label = this.get(id);
      const merged = new Map([...Object.entries(label.properties), ...Object.entries(properties)]);
      const kept = [...merged].filter(([key, value]) => value !== "" || !Object.hasOwn(properties, key));
      return this.put(change, { ...label, name: name ?? label.name, properties: Object.fromEntries(kept) });
    });
  }

  /** From all resources too. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    const mappings = "select id from labelMappings where labelID = ?";
    for (const mapping of this.metadata.view.all<{ id: string }>(mappings, id)) change.remove("label_mapping", mapping.id);
    change.remove("label", id);
  }

  /** In order of creation. */
  ofResource(resourceType: ResourceType, resourceID: string): Label[] {
    const sql = `select l.id, l.orgID, l.name, l.properties from labelMappings m join labels l on l.id = m.labelID
      where m.resourceType = ? and m.resourceID = ? order by l.id`;
    return this.metadata.view.all<LabelRow>(sql, resourceType, resourceID).map(labelOf);
  }

  /** @throws TsdbError not_found, already_exists */
  add(mapping: RecordTypes["label_mapping"]): Promise<Label> {
    return this.metadata.change((change) => {
      const label = this.get(mapping.labelID);
      if (this.mappingId(mapping) !== null) {
        throw new TsdbError("already_exists", "Cannot add label, label already exists on resource");
      }
      change.put("label_mapping", change.newId(), mapping);
      return label;
    });
  }

  /** Whether or not it was on the resource before. */
  planAdd(change: Change, mapping: RecordTypes["label_mapping"]): void {
    if (this.mappingId(mapping) === null) change.put("label_mapping", change.newId(), mapping);
  }

  /** Whether or not it is on the resource. @throws TsdbError not_found for an unknown label */
  remove(mapping: RecordTypes["label_mapping"]): Promise<void> {
    return this.metadata.change((change) => {
      this.get(mapping.labelID);
      this.planRemove(change, mapping);
    });
  }

  /** Whether or not it was on the resource. */
  planRemove(change: Change, mapping: RecordTypes["label_mapping"]): void {
    const id = this.mappingId(mapping);
    if (id !== null) change.remove("label_mapping", id);
  }

  /** Before the resource itself goes. */
  planRemoveAll(change: Change, resourceType: ResourceType, resourceID: string): void {
    const sql = "select id from labelMappings where resourceType = ? and resourceID = ?";
    for (const { id } of this.metadata.view.all<{ id: string }>(sql, resourceType, resourceID)) change.remove("label_mapping", id);
  }

  private mappingId({ labelID, resourceType, resourceID }: RecordTypes["label_mapping"]): string | null {
    const sql = "select id from labelMappings where labelID = ? and resourceType = ? and resourceID = ?";
    return this.metadata.view.get<{ id: string }>(sql, labelID, resourceType, resourceID)?.id ?? null;
  }

  private put(change: Change, { id, orgID, name, properties }: Label): Label {
    const { length } = JSON.stringify({ name, properties });
    if (length > LENGTH_MAX) throw new TsdbError("too_large", `a label has ${length} characters as JSON, and may have ${LENGTH_MAX}`);
    // names differ by more than their letters' case
    const same = "select id from labels where orgID = ? and lower(name) = lower(?) and id <> ?";
    if (this.metadata.view.get(same, orgID, name, id) !== null)
      throw new TsdbError("already_exists", `label with name ${name} already exists`);
    change.put("label", id, { orgID, name, properties });
    return { id, orgID, name, properties };
  }
}

function labelOf({ properties, ...label }: LabelRow): Label {
  return { ...label, properties: JSON.parse(properties) as Label["properties"] };
}
