// The tasks of notification rules. The script of a rule depends on its endpoint, so both changes update the task.
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
/** The properties that determine a rule's script. */
type RuleToRun = Pick<Rule, "id" | "name" | "settings" | "orgID" | "endpointID" | "status">;

/** Updating a rule takes 0.3 ms, a large one 150. */
const SLICE_MS = 10;

/** Generates the scripts of rules and updates their tasks. */
export class RuleTasks {
  /** @param sliceMs time limit of one step of updates */
  constructor(
    private readonly line: RuleLine,
    private readonly sliceMs = SLICE_MS,
  ) {}

  /** @throws TsdbError not_found if the endpoint was deleted, bad_request if it has another type */
  script(rule: RuleToRun): string {
    return ruleScript(rule, this.endpointOf(rule));
  }

  /** The script of the rule's task, which runs while the rule and its endpoint are active. @throws TsdbError bad_request, not_found */
  task(rule: RuleToRun): TaskScript & { readonly status: Status } {
    const script = taskScript(this.script(rule));
    return { ...script, status: this.endpointOf(rule).status === "active" ? rule.status : "inactive" };
  }

  /** Updates the task after a change of the rule. A task without a script is inactive. */
  planFollow(change: Change, rule: Rule): void {
    const { taskID, description, ownerID } = rule;
    this.line.tasks.planUpdate(change, taskID, { ...this.taskOrRest(rule), description, ownerID });
  }

  /** Updates tasks after an endpoint was changed or deleted. Returns the last rule that was updated in this step, null if all were. */
  planFollowEndpoint(change: Change, endpointID: string, after = ""): string | null {
    const { metadata, notificationRules } = this.line;
    const sql = "select id from notificationRules where endpointID = ? and id > ? order by id";
    const endMs = performance.now() + this.sliceMs;
    for (const { id } of metadata.view.all<{ id: string }>(sql, endpointID, after)) {
      this.planFollow(change, ruleOf(notificationRules.get(id)));
      if (performance.now() >= endMs) return id;
    }
    return null;
  }

  /** Updates the rules after `after`, in steps between which other requests are answered. */
  async followEndpoint(endpointID: string, after: string | null): Promise<void> {
    for (let last = after; last !== null; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const from = last;
      last = await this.line.metadata.change((change) => this.planFollowEndpoint(change, endpointID, from));
    }
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
    // an endpoint of another organization would reveal the keys of its secrets
    if (endpoint.orgID !== orgID) throw new TsdbError("not_found", `notification endpoint not found for key "${endpointID}"`);
    return endpoint;
  }
}
