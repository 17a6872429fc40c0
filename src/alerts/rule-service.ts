// Notification rules: each has a script, which its settings and its endpoint give.
import type { V2Line } from "../metadata/line.ts";
import type { StoredAlert } from "../metadata/resources/alert-records.ts";
import type { Change } from "../metadata/store/metadata.ts";
import { TsdbError } from "../model/errors.ts";
import { type AlertUpdate, checkedUpdate, type RuleDraft, requireStatus } from "./draft.ts";
import { EndpointService } from "./endpoint-service.ts";
import { addLabels } from "./labels.ts";
import type { RuleSettings } from "./rule.ts";
import { requireWholeRule, ruleSettings } from "./rule-settings.ts";
import { ruleScript } from "./scripts/rule-script.ts";
import { requireTask } from "./task-script.ts";

export type Rule = Omit<StoredAlert<"notification_rule">, "settings"> & { readonly settings: RuleSettings };

type RuleLine = Pick<V2Line, "metadata" | "notificationRules" | "notificationEndpoints" | "organizations" | "labels" | "secrets">;

/** Creates, finds, changes and deletes notification rules. */
export class RuleService {
  private readonly endpoints: EndpointService;

  constructor(private readonly line: RuleLine) {
    this.endpoints = new EndpointService(line);
  }

  /** @throws TsdbError not_found */
  get(id: string): Rule {
    return ruleOf(this.line.notificationRules.get(id));
  }

  /** As its task runs it. @throws TsdbError not_found for an endpoint that is gone */
  script(rule: Rule): string {
    const { orgID } = rule;
    const endpoint = this.endpoints.get(rule.endpointID);
    // an endpoint of another organization would give its secrets' keys away
    if (endpoint.orgID !== orgID) throw new TsdbError("not_found", `notification endpoint not found for key "${endpoint.id}"`);
    return ruleScript(rule, endpoint);
  }

  /** Of the organization that the draft names. @throws TsdbError bad_request, not_found */
  create(draft: RuleDraft & { readonly orgID: string }, ownerID: string): Promise<Rule> {
    const { metadata, organizations, labels } = this.line;
    return metadata.change((change) => {
      organizations.get(draft.orgID);
      const status = requireStatus(draft.status);
      const id = change.newId();
      const { orgID, name, description } = draft;
      const endpointID = requireEndpoint(draft);
      const settings = ruleSettings(draft);
      const taskID = change.newId();
      const times = { createdAt: change.now, updatedAt: change.now };
      const made = this.put(change, { id, orgID, name, description, status, settings, ownerID, taskID, endpointID, ...times });
      requireWholeRule(draft, settings);
      addLabels(change, labels, draft.labels, { resourceType: "notificationRules", resourceID: id });
      return made;
    });
  }

  /** All but where it belongs. @param ownerID with whose rights the new script runs @throws TsdbError bad_request, not_found */
  replace(id: string, draft: RuleDraft, ownerID: string): Promise<Rule> {
    return this.line.metadata.change((change) => {
      const before = this.get(id);
      const { name, description } = draft;
      const status = requireStatus(draft.status);
      const settings = ruleSettings(draft);
      requireWholeRule(draft, settings);
      const endpointID = requireEndpoint(draft);
      return this.put(change, { ...before, name, description, status, settings, ownerID, endpointID, updatedAt: change.now });
    });
  }

  /** @throws TsdbError bad_request, not_found */
  update(id: string, given: AlertUpdate): Promise<Rule> {
    const changed = checkedUpdate(given, "Notification Rule");
    return this.line.metadata.change((change) => this.put(change, { ...this.get(id), ...changed, updatedAt: change.now }));
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.line.metadata.change((change) => {
      this.line.notificationRules.get(id);
      this.line.notificationRules.planDelete(change, id);
    });
  }

  private put(change: Change, rule: Rule): Rule {
    requireTask(this.script(rule));
    const { id, ...record } = rule;
    return ruleOf(this.line.notificationRules.planPut(change, id, record));
  }
}

function requireEndpoint({ endpointID }: RuleDraft): string {
  if (endpointID === undefined) throw new TsdbError("bad_request", "no key was provided for notification endpoint");
  return endpointID;
}

function ruleOf(record: StoredAlert<"notification_rule">): Rule {
  return { ...record, settings: record.settings as RuleSettings };
}
