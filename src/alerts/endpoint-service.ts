// Notification endpoints. Their secrets are secrets of the organization and remain when an endpoint is deleted.
import type { V2Line } from "../metadata/line.ts";
import type { Change } from "../metadata/store/metadata.ts";
import { TsdbError } from "../model/errors.ts";
import { type AlertUpdate, checkedUpdate, type EndpointDraft, requireStatus } from "./draft.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { endpointSettings } from "./endpoint-settings.ts";
import { addLabels } from "./labels.ts";
import { RuleTasks } from "./rule-tasks.ts";

/** Start of messages. */
export const ENDPOINT = "Notification Endpoint";

type EndpointLine = Pick<
  V2Line,
  "metadata" | "notificationEndpoints" | "notificationRules" | "organizations" | "labels" | "secrets" | "tasks"
>;

/** Creates, finds, changes and deletes notification endpoints. */
export class EndpointService {
  constructor(
    private readonly line: EndpointLine,
    private readonly ruleTasks = new RuleTasks(line),
  ) {}

  /** @throws TsdbError not_found */
  get(id: string): Endpoint {
    return endpointOf(this.line.notificationEndpoints.get(id));
  }

  /** @throws TsdbError bad_request, already_exists; not_found if there are secrets and the organization does not exist */
  create(draft: EndpointDraft & { readonly orgID: string }): Promise<Endpoint> {
    return this.line.metadata.change((change) => this.planCreate(change, draft));
  }

  /** @throws as `create` */
  planCreate(change: Change, draft: EndpointDraft & { readonly orgID: string }): Endpoint {
    const { notificationEndpoints, labels } = this.line;
    const id = change.newId();
    const { orgID, name, description } = draft;
    const { settings, secrets } = endpointSettings(draft, id);
    const status = requireStatus(draft.status);
    const record = { orgID, name, description, status, settings, createdAt: change.now, updatedAt: change.now };
    const made = notificationEndpoints.planPut(change, id, record);
    this.keep(change, orgID, secrets);
    addLabels(change, labels, draft.labels, { resourceType: "notificationEndpoints", resourceID: id });
    return endpointOf(made);
  }

  /** Replaces everything except the organization. @throws TsdbError bad_request, not_found, already_exists */
  replace(id: string, draft: EndpointDraft): Promise<Endpoint> {
    return this.followed(id, (change) => {
      const made = this.replaced(change, id, draft);
      if (draft.orgID !== undefined) return made;
      throw new TsdbError("bad_request", "provided notification endpoint Unique Key is an invalid format: no ID was provided");
    });
  }

  /** Returns a function to call when the change is durable. @throws as `replace` */
  planReplace(change: Change, id: string, draft: EndpointDraft): () => Promise<void> {
    this.replaced(change, id, draft);
    return this.planFollowed(change, id);
  }

  /** @throws TsdbError bad_request, not_found, already_exists */
  update(id: string, given: AlertUpdate): Promise<Endpoint> {
    const changed = checkedUpdate(given, ENDPOINT);
    return this.followed(id, (change) => {
      const { id: _, ...before } = this.get(id);
      return endpointOf(this.line.notificationEndpoints.planPut(change, id, { ...before, ...changed, updatedAt: change.now }));
    });
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.followed(id, (change) => this.removed(change, id));
  }

  /** Returns a function to call when the change is durable. @throws as `delete` */
  planDelete(change: Change, id: string): () => Promise<void> {
    this.removed(change, id);
    return this.planFollowed(change, id);
  }

  private planFollowed(change: Change, id: string): () => Promise<void> {
    const last = this.ruleTasks.planFollowEndpoint(change, id);
    return () => this.ruleTasks.followEndpoint(id, last);
  }

  private replaced(change: Change, id: string, draft: EndpointDraft): Endpoint {
    const { orgID, createdAt } = this.get(id);
    const { name, description } = draft;
    const { settings, secrets } = endpointSettings(draft, id);
    const record = { orgID, name, description, status: requireStatus(draft.status), settings, createdAt, updatedAt: change.now };
    const made = this.line.notificationEndpoints.planPut(change, id, record);
    this.keep(change, orgID, secrets);
    return endpointOf(made);
  }

  private removed(change: Change, id: string): void {
    const { notificationEndpoints } = this.line;
    notificationEndpoints.get(id);
    notificationEndpoints.planDelete(change, id);
  }

  /** Changes an endpoint and updates the tasks of its rules, the first of them in the same change. */
  private async followed<T>(id: string, plan: (change: Change) => T): Promise<T> {
    const { made, last } = await this.line.metadata.change((change) => ({
      made: plan(change),
      last: this.ruleTasks.planFollowEndpoint(change, id),
    }));
    await this.ruleTasks.followEndpoint(id, last);
    return made;
  }

  private keep(change: Change, orgID: string, secrets: ReadonlyMap<string, string>): void {
    if (secrets.size === 0) return;
    if (this.line.organizations.find(orgID) === null) throw new TsdbError("not_found", "organization not found");
    this.line.secrets.planPut(change, orgID, secrets);
  }
}
