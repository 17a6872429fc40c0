// Applies a plan in one change: all of it is made, or nothing.
import type { Principal } from "../../../metadata/access/principal.ts";
import { lastEvent, type Stack } from "../../../metadata/resources/stacks.ts";
import type { StackResource } from "../../../metadata/store/kinds.ts";
import type { Change } from "../../../metadata/store/metadata.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { RuleSpec } from "../../../templates/kinds/alerts.ts";
import { CATEGORIES, type Category, isCategory, typeOf } from "../../../templates/kinds.ts";
import type { V2Services } from "../app/services.ts";
import type { AfterChange } from "./adapters/adapter.ts";
import type { Adapters } from "./adapters/adapters.ts";
import { type PlannedResource, requireNeed, type TemplatePlan } from "./plan.ts";

export const API_VERSION = "influxdata.com/v2alpha1";

export interface Applied {
  readonly stackID: string;
  /** The plan with the ids of what was made. */
  readonly plan: TemplatePlan;
}

/** A resource could not be made: nothing was. */
export class ApplyError extends Error {}

export interface Application {
  readonly plan: TemplatePlan;
  /** Null: a new one. */
  readonly stack: Stack | null;
  readonly sources: readonly string[];
  readonly secrets: ReadonlyMap<string, string>;
}

/** @throws TsdbError forbidden; ApplyError */
export function planApplication(
  change: Change,
  services: V2Services,
  adapters: Adapters,
  principal: Principal,
  { plan, stack, sources, secrets }: Application,
): Applied & { readonly after: AfterChange } {
  const { orgID } = plan;
  const line = services.line();
  requireWrites(services, principal, plan, secrets);
  const made = new Map<string, PlannedResource>();
  const kept = stack ?? line.stacks.planCreate(change, orgID, { name: "", description: "", resources: [], sources: [], urls: [] });
  const idOf = (category: Category, metaName: string) => made.get(`${category} ${metaName}`)?.id ?? null;
  const resourceOf = (category: Category, metaName: string) => made.get(`${category} ${metaName}`)?.resource;
  line.secrets.planPut(change, orgID, secrets);
  const after: AfterChange = { dropped: [], steps: [] };
  let madeBefore = 0;
  for (const category of CATEGORIES) {
    for (const each of plan.resources.filter((planned) => planned.category === category)) {
      const place = { orgID, ownerID: principal.userID, madeBefore, idOf, resourceOf, after };
      const id = attempted(each, () => {
        const adapter = adapters.of(category);
        if (!each.isThere) return adapter.create(change, each.resource, place);
        adapter.update(change, each.resource, place, each.id!);
        return each.id!;
      });
      if (category === "Bucket" && !each.isThere) madeBefore += 1;
      made.set(`${category} ${each.resource.metaName}`, { ...each, id });
    }
  }
  const removals = [...plan.removals].sort((a, b) => CATEGORIES.indexOf(b.category) - CATEGORIES.indexOf(a.category));
  for (const { category, id } of removals) adapters.of(category).remove(change, id, after);
  const mappings = plan.mappings.map((mapping) => {
    const { category, resource, label, state } = mapping;
    if (state === "remove") return mapping;
    return {
      ...mapping,
      resource: { ...resource, id: idOf(category, resource.metaName) },
      label: { ...label, id: idOf("Label", label.metaName) },
    };
  });
  for (const { state, category, resource, label } of mappings) {
    const mapping = { labelID: label.id!, resourceType: typeOf(category), resourceID: resource.id! };
    if (state === "remove") line.labels.planRemove(change, mapping);
    else line.labels.planAdd(change, mapping);
  }
  const resources = plan.resources.map(({ category, resource }) => made.get(`${category} ${resource.metaName}`)!);
  const { id: stackID } = line.stacks.planEvent(change, kept, "update", { sources, resources: stackResources(resources, stack) });
  return { stackID, plan: { ...plan, resources, mappings }, after };
}

/** What is to be written, before anything is. @throws TsdbError forbidden */
function requireWrites(services: V2Services, principal: Principal, plan: TemplatePlan, secrets: ReadonlyMap<string, string>): void {
  const { orgID } = plan;
  for (const { category, id, isThere } of plan.resources) requireNeed(services, principal, "write", category, isThere ? id : null, orgID);
  for (const { category, id } of plan.removals) requireNeed(services, principal, "write", category, id, orgID);
  if (secrets.size > 0) principal.require({ action: "write", type: "secrets", orgID });
}

/** By kind and name. What clients have attached under other names stays. */
function stackResources(resources: readonly PlannedResource[], stack: Stack | null): StackResource[] {
  const made = resources.map(({ category, resource, id, isAttached }): StackResource => {
    const labels = resource.labels.map((metaName) => ({ kind: "Label", metaName }));
    const { spec } = resource;
    const endpoint =
      spec.category === "NotificationRule" ? [{ kind: "NotificationEndpoint", metaName: (spec as RuleSpec).endpointName }] : [];
    return {
      ...{ apiVersion: API_VERSION, resourceID: id!, kind: category, templateMetaName: resource.metaName, isAttached },
      associations: [...labels, ...endpoint],
    };
  });
  const names = new Set(made.map(({ kind, templateMetaName }) => `${kind} ${templateMetaName}`));
  const attached = (stack === null ? [] : lastEvent(stack).resources).filter(
    ({ kind, templateMetaName, isAttached }) => isAttached && !names.has(`${kind} ${templateMetaName}`),
  );
  return [...made, ...attached].sort((a, b) => order(placeOf(a.kind), placeOf(b.kind)) || order(a.templateMetaName, b.templateMetaName));
}

/** Endpoints stand before labels, as recorded; kinds that there are not at the end. */
function placeOf(kind: string): string {
  if (!isCategory(kind)) return `~${kind}`;
  return kind === "NotificationEndpoint" ? "Endpoint" : kind;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Categories in the vendor's messages, where they are not called by their type. */
const CALLED: Readonly<Partial<Record<Category, string>>> = {
  ...{ Bucket: "bucket", Check: "check", NotificationEndpoint: "", NotificationRule: "", Variable: "variable" },
};

/** @throws ApplyError */
function attempted({ category, resource, isThere }: PlannedResource, run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof TsdbError) || ["unavailable", "no_space", "read_only", "overloaded"].includes(error.kind)) throw error;
    const type = typeOf(category);
    const reason = `failed to ${isThere ? "update" : "create"} ${type}[${JSON.stringify(resource.metaName)}]: ${error.message}`;
    const what = CALLED[category] ?? type;
    const name = JSON.stringify(resource.metaName);
    throw new ApplyError(
      `resource_type="${what}" err="failed to apply resource"\n\tmetadata_name=${name} err_msg=${JSON.stringify(reason)}`,
      {
        cause: error,
      },
    );
  }
}
