// Notification endpoints. Their secrets are secrets of the organization, and stay there when an endpoint goes.
import type { V2Line } from "../metadata/line.ts";
import { TsdbError } from "../model/errors.ts";
import { type AlertUpdate, checkedUpdate, type EndpointDraft, requireStatus } from "./draft.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { endpointSettings } from "./endpoint-settings.ts";
import { addLabels } from "./labels.ts";
import { RuleTasks } from "./rule-tasks.ts";

type EndpointLine = Pick<
  V2Line,
  "metadata" | "notificationEndpoints" | "notificationRules" | "organizations" | "labels" | "secrets" | "tasks"
>;

/** Creates, finds, changes and deletes notification endpoints. */
export class EndpointService {
  private readonly ruleTasks: RuleTasks;

  constructor(private readonly line: EndpointLine) {
    this.ruleTasks = new RuleTasks(line);
  }

  /** @throws TsdbError not_found */
  get(id: string): Endpoint {
    return endpointOf(this.line.notificationEndpoints.get(id));
  }

  /** @throws TsdbError bad_request, already_exists; not_found where there are secrets and no organization for them */
  create(draft: EndpointDraft & { readonly orgID: string }): Promise<Endpoint> {
    const { metadata, notificationEndpoints, labels } = this.line;
    return metadata.change((change) => {
      const id = change.newId();
      const { orgID, name, description } = draft;
      const { settings, secrets } = endpointSettings(draft, id);
      const status = requireStatus(draft.status);
      const record = { orgID, name, description, status, settings, createdAt: change.now, updatedAt: change.now };
      const made = notificationEndpoints.planPut(change, id, record);
      this.keep(change, orgID, secrets);
      addLabels(change, labels, draft.labels, { resourceType: "notificationEndpoints", resourceID: id });
      return endpointOf(made);
    });
  }

  /** All but where it belongs. @throws TsdbError bad_request, not_found, already_exists */
  replace(id: string, draft: EndpointDraft): Promise<Endpoint> {
    const { metadata, notificationEndpoints } = this.line;
    return metadata.change((change) => {
      const { orgID, createdAt } = this.get(id);
      const { name, description } = draft;
      const { settings, secrets } = endpointSettings(draft, id);
      const record = { orgID, name, description, status: requireStatus(draft.status), settings, createdAt, updatedAt: change.now };
      const made = notificationEndpoints.planPut(change, id, record);
      this.keep(change, orgID, secrets);
      this.ruleTasks.planFollowEndpoint(change, id);
      return endpointOf(made);
    });
  }

  /** @throws TsdbError bad_request, not_found, already_exists */
  update(id: string, given: AlertUpdate): Promise<Endpoint> {
    const { metadata, notificationEndpoints } = this.line;
    const changed = checkedUpdate(given, "Notification Endpoint");
    return metadata.change((change) => {
      const { id: _, ...before } = this.get(id);
      const made = notificationEndpoints.planPut(change, id, { ...before, ...changed, updatedAt: change.now });
      this.ruleTasks.planFollowEndpoint(change, id);
      return endpointOf(made);
    });
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    const { metadata, notificationEndpoints } = this.line;
    return metadata.change((change) => {
      notificationEndpoints.get(id);
      notificationEndpoints.planDelete(change, id);
      this.ruleTasks.planFollowEndpoint(change, id);
    });
  }

  private keep(change: Parameters<V2Line["secrets"]["planPut"]>[0], orgID: string, secrets: ReadonlyMap<string, string>): void {
    if (secrets.size === 0) return;
    if (this.line.organizations.find(orgID) === null) throw new TsdbError("not_found", "organization not found");
    this.line.secrets.planPut(change, orgID, secrets);
  }
}
