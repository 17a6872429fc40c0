// Applying templates: POST /api/v2/templates/apply.
import type { Principal } from "../../../metadata/access/principal.ts";
import { TsdbError } from "../../../model/errors.ts";
import { readTemplate, type Template } from "../../../templates/template.ts";
import { json } from "../app/answers.ts";
import { codeAnswer } from "../app/errors.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { Adapters } from "./adapters/adapters.ts";
import { type ApplyRequest, readApply, TemplateBodies } from "./apply-body.ts";
import { ApplyError, planApplication } from "./apply-plan.ts";
import { planTemplate, withoutSkipped } from "./plan.ts";
import { missingOf, requiredEnvRefs, shownIssues, shownPlan } from "./shown-template.ts";
import { stackOf } from "./stacks.ts";

export const applyRoutes = (services: V2Services): V2Routes => {
  const bodies = new TemplateBodies(services.now);
  return new V2Routes("templates-apply", services).post("/api/v2/templates/apply", async ({ principal, request }) => {
    const given = await readApply(services, bodies, request);
    principal.require({ action: "read", type: "orgs", id: given.orgID });
    const template = readTemplate(given.objects, given.env);
    if (template.issues.length > 0) {
      const answer = shownIssues(template.issues);
      if (!given.isDryRun) return json(201, answer);
      return json(422, { ...answer, code: "unprocessable entity", message: "unprocessable entity" });
    }
    return given.isDryRun ? dryRun(services, principal, given, template) : await apply(services, principal, given, template);
  });
};

function dryRun(services: V2Services, principal: Principal, given: ApplyRequest, template: Template): Response {
  const { orgID, sources, stackID, skips } = given;
  const adapters = new Adapters(services.line());
  const resources = withoutSkipped(template.resources, skips);
  const plan = planTemplate(services, adapters, principal, { orgID, resources, stack: stackOf(services, stackID, orgID) });
  return json(
    200,
    shownPlan(adapters, plan, { sources, stackID: stackID ?? "", isApplied: false, ...missing(services, principal, given, resources) }),
  );
}

async function apply(services: V2Services, principal: Principal, given: ApplyRequest, template: Template): Promise<Response> {
  const { orgID, sources, stackID, skips, secrets } = given;
  const line = services.line();
  const adapters = new Adapters(line);
  const resources = withoutSkipped(template.resources, skips);
  const stack = stackOf(services, stackID, orgID);
  const found = missing(services, principal, given, resources);
  const required = requiredEnvRefs(resources);
  if (required.length > 0) {
    const keys = [...new Set(required)].sort().slice(0, 20).join(", ");
    throw new TsdbError("unprocessable", `the template needs values of \`envRefs\` for: ${keys}`);
  }
  try {
    const applied = await line.metadata.change((change) => {
      const plan = planTemplate(services, adapters, principal, { orgID, resources, stack });
      return planApplication(change, services, adapters, principal, { plan, stack, sources, secrets });
    });
    line.buckets.dropped(applied.after.dropped);
    for (const step of applied.after.steps) await step();
    return json(201, shownPlan(adapters, applied.plan, { sources, stackID: applied.stackID, isApplied: true, ...found }));
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error;
    return codeAnswer("internal error", error.message);
  }
}

function missing(services: V2Services, principal: Principal, { orgID, secrets }: ApplyRequest, resources: Template["resources"]) {
  const needsSecrets = resources.some(({ secretKeys }) => secretKeys.length > 0);
  const isAllowed = needsSecrets && principal.allows({ action: "read", type: "secrets", orgID });
  return missingOf(resources, { given: secrets, known: isAllowed ? services.line().secrets.keys(orgID) : [] });
}
