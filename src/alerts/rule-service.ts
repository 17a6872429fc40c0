// Notification rules: each has a script, which is generated from its settings and its endpoint.
import type { V2Line } from "../metadata/line.ts";
import type { Change } from "../metadata/store/metadata.ts";
import { TsdbError } from "../model/errors.ts";
import { type AlertUpdate, checkedUpdate, type RuleDraft } from "./draft.ts";
import { addLabels } from "./labels.ts";
import { type Rule, ruleOf } from "./rule.ts";
import { requireWholeRule, ruleSettings } from "./rule-settings.ts";
import { RuleTasks } from "./rule-tasks.ts";

/** Start of messages. */
export const RULE = "Notification Rule";

type RuleLine = Pick<V2Line, "metadata" | "notificationRules" | "notificationEndpoints" | "organizations" | "labels" | "tasks">;

/** Creates, finds, changes and deletes notification rules. */
export class RuleService {
  private readonly ruleTasks: RuleTasks;

  constructor(private readonly line: RuleLine) {
    this.ruleTasks = new RuleTasks(line);
  }

  /** @throws TsdbError not_found */
  get(id: string): Rule {
    return ruleOf(this.line.notificationRules.get(id));
  }

  /** The script that the rule's task runs. @throws TsdbError not_found if the endpoint was deleted */
  script(rule: Rule): string {
    return this.ruleTasks.script(rule);
  }

  /** Creates a rule in the draft's organization. @throws TsdbError bad_request, not_found */
  create(draft: RuleDraft & { readonly orgID: string }, ownerID: string): Promise<Rule> {
    return this.line.metadata.change((change) => this.planCreate(change, draft, ownerID));
  }

  /** @throws as `create` */
  planCreate(change: Change, draft: RuleDraft & { readonly orgID: string }, ownerID: string): Rule {
    const { organizations, labels, tasks, notificationRules, notificationEndpoints } = this.line;
    const { orgID, name, description, endpointID } = draft;
    if (endpointID === undefined) throw new TsdbError("bad_request", "no key was provided for notification endpoint");
    notificationEndpoints.get(endpointID);
    organizations.get(orgID);
    const id = change.newId();
    const settings = ruleSettings(draft);
    const task = this.ruleTasks.task({ id, orgID, name, status: "active", settings, endpointID });
    const status = requireWholeRule(draft);
    const taskStatus = task.status === "active" ? status : "inactive";
    const { id: taskID } = tasks.planCreate(change, { ...task, status: taskStatus, orgID, ownerID, kind: "rule", description });
    const times = { createdAt: change.now, updatedAt: change.now };
    const record = { orgID, name, description, status, settings, ownerID, taskID, endpointID, ...times };
    const made = ruleOf(notificationRules.planPut(change, id, record));
    addLabels(change, labels, draft.labels, { resourceType: "notificationRules", resourceID: id });
    return made;
  }

  /** Replaces everything except the organization. @param ownerID the new script runs with this user's permissions @throws TsdbError
   *  bad_request, not_found */
  replace(id: string, draft: RuleDraft, ownerID: string): Promise<Rule> {
    return this.line.metadata.change((change) => this.planReplace(change, id, draft, ownerID));
  }

  /** @throws as `replace` */
  planReplace(change: Change, id: string, draft: RuleDraft, ownerID: string): Rule {
    const before = this.get(id);
    const status = requireWholeRule(draft);
    const { name, description } = draft;
    const after: Rule = {
      ...{ ...before, name, description, status, ownerID, updatedAt: change.now },
      settings: ruleSettings(draft),
      endpointID: draft.endpointID!,
    };
    this.ruleTasks.task(after);
    return this.put(change, after);
  }

  /** @throws TsdbError bad_request, not_found */
  update(id: string, given: AlertUpdate): Promise<Rule> {
    const changed = checkedUpdate(given, RULE);
    return this.line.metadata.change((change) => this.put(change, { ...this.get(id), ...changed, updatedAt: change.now }));
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.line.metadata.change((change) => this.planDelete(change, id));
  }

  /** @throws as `delete` */
  planDelete(change: Change, id: string): void {
    const { notificationRules, tasks } = this.line;
    const { taskID } = notificationRules.get(id);
    notificationRules.planDelete(change, id);
    tasks.planDelete(change, taskID);
  }

  /** Stores the rule and its task. */
  private put(change: Change, rule: Rule): Rule {
    const { id, ...record } = rule;
    const made = ruleOf(this.line.notificationRules.planPut(change, id, record));
    this.ruleTasks.planFollow(change, made);
    return made;
  }
}
