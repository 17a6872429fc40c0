// Organizations. Each has a namespace of its own for its databases; the first one has that of port 8181.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";
import type { AlertRecords } from "./alert-records.ts";
import type { BucketService } from "./buckets.ts";
import type { Labels } from "./labels.ts";
import type { Mappings } from "./mappings.ts";
import { type Page, pageClause } from "./page.ts";
import type { AnnotationStreams } from "./pages/annotation-streams.ts";
import type { Dashboards } from "./pages/dashboards.ts";
import type { Telegrafs } from "./pages/telegrafs.ts";
import type { Variables } from "./pages/variables.ts";
import type { Remotes } from "./replication/remotes.ts";
import type { Replications } from "./replication/replications.ts";
import type { Scrapers } from "./scrapers.ts";
import type { Tasks } from "./tasks.ts";

export type Organization = RecordTypes["organization"] & { readonly id: string };

export interface OrganizationFilter {
  readonly id?: string;
  readonly name?: string;
  /** Organizations that the user is a member or owner of. */
  readonly userID?: string;
}

const COLUMNS = "id, name, description, namespace, createdAt, updatedAt";

/** Creates, finds, changes and deletes organizations. */
export class Organizations {
  constructor(
    private readonly metadata: Metadata,
    private readonly parts: {
      readonly buckets: BucketService;
      readonly labels: Labels;
      readonly mappings: Mappings;
      readonly scrapers: Scrapers;
      readonly remotes: Remotes;
      readonly replications: Replications;
      readonly checks: AlertRecords<"check">;
      readonly notificationEndpoints: AlertRecords<"notification_endpoint">;
      readonly notificationRules: AlertRecords<"notification_rule">;
      readonly tasks: Tasks;
      readonly dashboards: Dashboards;
      readonly variables: Variables;
      readonly telegrafs: Telegrafs;
      readonly annotationStreams: AnnotationStreams;
    },
  ) {}

  get count(): number {
    return this.metadata.view.count("from organizations");
  }

  /** @throws TsdbError not_found */
  get(id: string): Organization {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "organization not found");
    return found;
  }

  find(id: string): Organization | null {
    return this.metadata.view.get<Organization>(`select ${COLUMNS} from organizations where id = ?`, id);
  }

  findByName(name: string): Organization | null {
    return this.metadata.view.get<Organization>(`select ${COLUMNS} from organizations where name = ?`, name.trim());
  }

  /** @throws TsdbError not_found */
  byName(name: string): Organization {
    const found = this.findByName(name);
    if (found === null) throw new TsdbError("not_found", `organization name "${name}" not found`);
    return found;
  }

  /** In order of creation. An id goes before a name, and a name before a user. @throws TsdbError not_found for an unknown id or name */
  list({ id, name, userID }: OrganizationFilter, { limit, offset, isDescending }: Omit<Page, "after">): Organization[] {
    if (id !== undefined) return [this.get(id)];
    if (name !== undefined) return [this.byName(name)];
    const members = "id in (select resourceID from members where resourceType = 'orgs' and userID = ?)";
    const page = { limit, offset, isDescending, after: null };
    const { clause, values } = userID === undefined ? pageClause(page) : pageClause(page, [members], [userID]);
    return this.metadata.view.all<Organization>(`select ${COLUMNS} from organizations ${clause}`, ...values);
  }

  /** @throws TsdbError bad_request, already_exists */
  create(wanted: { readonly name: string; readonly description: string; readonly ownerID: string }): Promise<Organization> {
    return this.metadata.change((change) => this.planCreate(change, wanted));
  }

  planCreate(
    change: Change,
    { name, description, ownerID }: { readonly name: string; readonly description: string; readonly ownerID: string },
  ): Organization {
    this.checkName(name);
    const id = change.newId();
    const namespace = this.freeNamespace();
    const organization = { name, description, namespace, createdAt: change.now, updatedAt: change.now };
    change.put("organization", id, organization);
    change.put("member", change.newId(), { userID: ownerID, resourceType: "orgs", resourceID: id, role: "owner" });
    this.parts.buckets.planSystemBuckets(change, { id, namespace });
    return { id, ...organization };
  }

  /** @throws TsdbError not_found, bad_request, already_exists */
  update(id: string, changed: { readonly name?: string; readonly description?: string }): Promise<Organization> {
    return this.metadata.change((change) => {
      const { id: _, ...before } = this.get(id);
      const organization = { ...before, ...changed, updatedAt: change.now };
      if (changed.name !== undefined && changed.name !== before.name) this.checkName(changed.name);
      change.put("organization", id, organization);
      return { id, ...organization };
    });
  }

  /** With everything in it. @throws TsdbError not_found */
  async delete(id: string): Promise<void> {
    this.get(id);
    // annotations may be many: in steps, before all the rest
    for (const stream of this.parts.annotationStreams.list(id)) await this.parts.annotationStreams.delete(stream.id);
    const dropped = await this.metadata.change((change) => {
      const { view } = this.metadata;
      this.get(id);
      const {
        buckets,
        labels,
        mappings,
        scrapers,
        remotes,
        replications,
        checks,
        notificationEndpoints,
        notificationRules,
        tasks,
        dashboards,
        variables,
        telegrafs,
      } = this.parts;
      const databaseIds = buckets.planDeleteAll(change, id);
      mappings.planRemoveOfOrganization(change, id);
      for (const [kind, table] of [
        ["authorization", "authorizations"],
        ["legacy_authorization", "legacyAuthorizations"],
        ["secret", "secrets"],
        ["stack", "stacks"],
        ["source", "sources"],
        ["notebook", "notebooks"],
        ["annotation", "annotations"],
        ["annotation_stream", "annotationStreams"],
      ] as const) {
        for (const row of view.all<{ id: string }>(`select id from ${table} where orgID = ?`, id)) change.remove(kind, row.id);
      }
      for (const alerts of [checks, notificationEndpoints, notificationRules]) alerts.planDeleteOfOrganization(change, id);
      for (const scraper of scrapers.list({ orgID: id })) scrapers.planDelete(change, scraper.id);
      for (const dashboard of dashboards.heads(id)) dashboards.planDelete(change, dashboard.id);
      for (const variable of variables.heads(id)) variables.planDelete(change, variable.id);
      for (const telegraf of telegrafs.heads(id)) telegrafs.planDelete(change, telegraf.id);
      for (const replication of replications.list({ orgID: id })) change.remove("replication", replication.id);
      for (const remote of remotes.list({ orgID: id })) remotes.planDelete(change, remote.id);
      for (const task of tasks.all()) if (task.orgID === id) tasks.planDelete(change, task.id);
      for (const label of labels.heads({ orgID: id })) labels.planDelete(change, label.id);
      const members = "select id from members where resourceType = 'orgs' and resourceID = ?";
      for (const row of view.all<{ id: string }>(members, id)) change.remove("member", row.id);
      change.remove("organization", id);
      return databaseIds;
    });
    this.parts.buckets.dropped(dropped);
  }

  /** That of port 8181 if no organization has it. A deleted organization's databases may still be there, so its namespace is not reused. */
  private freeNamespace(): number {
    const { view } = this.metadata;
    if (view.get("select id from organizations where namespace = 0") === null) return 0;
    const greatest = "select max(namespace) as last from (select namespace from organizations union select namespace from databases)";
    return view.get<{ last: number }>(greatest)!.last + 1;
  }

  /** Of a new name: as on the vendor's server, blanks around it make no other name. */
  private checkName(name: string): void {
    if (name.trim() === "") throw new TsdbError("bad_request", "org name is empty");
    if (this.findByName(name) !== null) throw new TsdbError("already_exists", `organization with name ${name} already exists`);
  }
}
