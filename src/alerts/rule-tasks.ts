// The tasks of notification rules: a rule's script depends on its endpoint, so they follow both.
import type { V2Line } from "../metadata/line.ts";
import type { TaskScript } from "../metadata/resources/tasks.ts";
import type { Status } from "../metadata/store/kinds.ts";
import type { Change } from "../metadata/store/metadata.ts";
import { TsdbError } from "../model/errors.ts";
import { endpointOf } from "./endpoint.ts";
import { type Rule, ruleOf } from "./rule.ts";
import { ruleScript } from "./scripts/rule-script.ts";
import { taskScript } from "./task-script.ts";

type RuleLine = Pick<V2Line, "metadata" | "notificationRules" | "notificationEndpoints" | "tasks">;
/** What a rule's script is made of. */
type RuleToRun = Pick<Rule, "id" | "name" | "settings" | "orgID" | "endpointID" | "status">;

/** Makes the scripts of rules, and keeps their tasks in step. */
export class RuleTasks {
  constructor(private readonly line: RuleLine) {}

  /** @throws TsdbError not_found for an endpoint that is gone, bad_request for one of another type */
  script(rule: RuleToRun): string {
    return ruleScript(rule, this.endpointOf(rule));
  }

  /** Of the rule's task, which runs while the rule and its endpoint are active. @throws TsdbError bad_request, not_found */
  task(rule: RuleToRun): TaskScript & { readonly status: Status } {
    const script = taskScript(this.script(rule));
    return { ...script, status: this.endpointOf(rule).status === "active" ? rule.status : "inactive" };
  }

  /** After a change of the rule. A task without a script rests. */
  planFollow(change: Change, rule: Rule): void {
    const { taskID, description, ownerID } = rule;
    this.line.tasks.planUpdate(change, taskID, { ...this.taskOrRest(rule), description, ownerID });
  }

  /** After a change of an endpoint, or its end. */
  planFollowEndpoint(change: Change, endpointID: string): void {
    const { metadata, notificationRules } = this.line;
    const rules = metadata.view.all<{ id: string }>("select id from notificationRules where endpointID = ?", endpointID);
    for (const { id } of rules) this.planFollow(change, ruleOf(notificationRules.get(id)));
  }

  private taskOrRest(rule: Rule): Partial<TaskScript> & { readonly status: Status } {
    try {
      return this.task(rule);
    } catch (error) {
      if (error instanceof TsdbError) return { status: "inactive" };
      throw error;
    }
  }

  private endpointOf({ endpointID, orgID }: RuleToRun) {
    const endpoint = endpointOf(this.line.notificationEndpoints.get(endpointID));
    // an endpoint of another organization would give its secrets' keys away
    if (endpoint.orgID !== orgID) throw new TsdbError("not_found", `notification endpoint not found for key "${endpointID}"`);
    return endpoint;
  }
}
