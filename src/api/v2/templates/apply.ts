// Applying templates: POST /api/v2/templates/apply.
import type { Principal } from "../../../metadata/access/principal.ts";
import { TsdbError } from "../../../model/errors.ts";
import { finish, type Steps } from "../../../model/steps.ts";
import { Turns } from "../../../model/turns.ts";
import type { Issue } from "../../../templates/issue.ts";
import { type Template, templateSteps } from "../../../templates/template.ts";
import { json } from "../app/answers.ts";
import { codeAnswer } from "../app/errors.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { Adapters } from "./adapters/adapters.ts";
import { type ApplyRequest, readApply, TemplateBodies } from "./apply-body.ts";
import { ApplyError, planApplication } from "./apply-plan.ts";
import { planSteps, type TemplatePlan, withoutSkipped } from "./plan.ts";
import { missingOf, type ShownOptions, shownIssues, shownSteps } from "./shown-template.ts";
import { stackOf } from "./stacks.ts";

export const applyRoutes = (services: V2Services): V2Routes => {
  const bodies = new TemplateBodies(services.now);
  return new V2Routes(services).post("/api/v2/templates/apply", async ({ principal, request }) => {
    const given = await readApply(services, bodies, { principal, request });
    const turns = new Turns(request.signal);
    const { issues, resources } = await turns.run(readSteps(given));
    if (issues.length > 0) return issuesAnswer(given, issues, issues);
    // as recorded: values for nothing are told by a plan alone, and nothing is applied
    if (given.objects.length === 0 && given.hasEnv) return issuesAnswer(given, [NO_KIND], []);
    const application = new Application(services, principal, given, withoutSkipped(resources, given.skips), turns);
    return given.isDryRun ? await application.dryRun() : await application.apply();
  });
};

/** As recorded, values of the environment are looked at when nothing is wrong without them. */
function* readSteps({ objects, env }: ApplyRequest): Steps<Template> {
  const read = yield* templateSteps(objects, new Map());
  return read.issues.length > 0 || env.size === 0 ? read : yield* templateSteps(objects, env);
}

const NO_KIND: Issue = { kind: "Package", fields: ["resources"], idxs: [null], reason: "at least 1 kind must be provided" };

function issuesAnswer({ isDryRun }: ApplyRequest, issues: readonly Issue[], ofApplication: readonly Issue[]): Response {
  if (!isDryRun) return json(201, shownIssues(ofApplication));
  return json(422, { ...shownIssues(issues), code: "unprocessable entity", message: "unprocessable entity" });
}

/** One request. What takes long is done in steps before the change, which itself is one. */
class Application {
  private readonly adapters: Adapters;

  constructor(
    private readonly services: V2Services,
    private readonly principal: Principal,
    private readonly given: ApplyRequest,
    private readonly resources: Template["resources"],
    private readonly turns: Turns,
  ) {
    this.adapters = new Adapters(services.line());
  }

  async dryRun(): Promise<Response> {
    const { sources, stackID } = this.given;
    const plan = await this.turns.run(this.planSteps());
    const found = missing(this.services, this.principal, this.given, this.resources);
    return this.answer(200, plan, { sources, stackID: stackID ?? "", isApplied: false, ...found });
  }

  async apply(): Promise<Response> {
    const { given, services, principal, adapters, turns } = this;
    const { sources, secrets } = given;
    const line = services.line();
    const found = missing(services, principal, given, this.resources);
    const { version } = line.metadata;
    const before = await turns.run(this.planSteps());
    await turns.run(this.prepareSteps(before));
    try {
      const applied = await line.metadata.change((change) => {
        // of what is there now
        const plan = line.metadata.version === version ? before : finish(this.planSteps());
        return planApplication(change, services, adapters, principal, { plan, stack: this.stack(), sources, secrets });
      });
      line.buckets.dropped(applied.after.dropped);
      for (const step of applied.after.steps) await step();
      return await this.answer(201, applied.plan, { sources, stackID: applied.stackID, isApplied: true, ...found });
    } catch (error) {
      if (!(error instanceof ApplyError)) throw error;
      return codeAnswer("internal error", error.message);
    }
  }

  private planSteps(): Steps<TemplatePlan> {
    const { services, adapters, principal, resources, given } = this;
    return planSteps(services, adapters, principal, { orgID: given.orgID, resources, stack: this.stack(), isDryRun: given.isDryRun });
  }

  private *prepareSteps({ resources }: TemplatePlan): Steps<void> {
    for (const { resource, category, isThere, id } of resources) {
      try {
        this.adapters.of(category).prepare?.(resource, isThere ? id : null);
      } catch (error) {
        if (!(error instanceof TsdbError)) throw error;
      }
      yield;
    }
  }

  private stack() {
    return stackOf(this.services, this.given.stackID, this.given.orgID);
  }

  private async answer(status: number, plan: TemplatePlan, options: ShownOptions): Promise<Response> {
    return json(status, await this.turns.run(shownSteps(this.adapters, plan, options)));
  }
}

function missing(services: V2Services, principal: Principal, given: ApplyRequest, resources: Template["resources"]) {
  const { orgID, env, secrets, isDryRun } = given;
  const needsSecrets = resources.some(({ secretKeys }) => secretKeys.length > 0);
  const isAllowed = needsSecrets && principal.allows({ action: "read", type: "secrets", orgID });
  // a plan stores none
  const stored = isDryRun ? [] : [...secrets.keys()];
  return missingOf(resources, env, [...stored, ...(isAllowed ? services.line().secrets.keys(orgID) : [])]);
}
