// The answer to an application: what differs, and what is there afterwards.

import type { StackResource } from "../../../metadata/store/kinds.ts";
import { finish, type Steps } from "../../../model/steps.ts";
import type { Issue } from "../../../templates/issue.ts";
import { type Category, typeOf } from "../../../templates/kinds.ts";
import { NO_DURATION } from "../../../templates/periods.ts";
import type { EnvValue } from "../../../templates/spec-reader.ts";
import { idNumber } from "./adapters/adapter.ts";
import type { Adapters } from "./adapters/adapters.ts";
import type { PlannedMapping, PlannedResource, TemplatePlan } from "./plan.ts";

/** The lists of an answer, in both parts. */
const DIFF_LISTS: Readonly<Record<Category, string>> = {
  Bucket: "buckets",
  Check: "checks",
  Dashboard: "dashboards",
  Label: "labels",
  NotificationEndpoint: "notificationEndpoints",
  NotificationRule: "notificationRules",
  Task: "tasks",
  Telegraf: "telegrafConfigs",
  Variable: "variables",
};
/** Tasks have another name there. */
const SUMMARY_LISTS: Readonly<Record<Category, string>> = { ...DIFF_LISTS, Task: "summaryTask" };

export interface Missing {
  readonly missingEnvRefs: readonly string[] | null;
  readonly missingSecrets: readonly string[] | null;
}

export interface ShownOptions extends Missing {
  readonly sources: readonly string[];
  readonly stackID: string;
  readonly isApplied: boolean;
}

/** A template in which something is wrong: nothing of it is looked at. */
export function shownIssues(issues: readonly Issue[]): object {
  const steps = shownSteps(
    null,
    { orgID: "", resources: [], removals: [], mappings: [] },
    {
      ...{ sources: [], stackID: "", isApplied: false, missingEnvRefs: null, missingSecrets: null },
    },
  );
  return { ...finish(steps), ...(issues.length === 0 ? {} : { errors: issues }) };
}

/** A resource a step. @param adapters null for a plan without resources */
export function* shownSteps(adapters: Adapters | null, plan: TemplatePlan, options: ShownOptions): Steps<object> {
  const { missingEnvRefs, missingSecrets, sources, stackID } = options;
  const found = new Map(plan.resources.map((each) => [`${each.category} ${each.resource.metaName}`, each]));
  const idOf = (category: Category, metaName: string) => found.get(`${category} ${metaName}`)?.id ?? null;
  const resourceOf = (category: Category, metaName: string) => found.get(`${category} ${metaName}`)?.resource;
  const placeOf = ({ id, isOwn }: PlannedResource) => ({
    ...{ orgID: plan.orgID, idOf, resourceOf, id, isOwn: isOwn || options.isApplied, isApplied: options.isApplied },
  });
  const diff = lists<NamedChange>(DIFF_LISTS);
  const summary = lists(SUMMARY_LISTS);
  const labelOf = (metaName: string) => {
    const label = found.get(`Label ${metaName}`);
    return label === undefined ? [] : [summaryOf(label)];
  };
  const summaryOf = (each: PlannedResource): object => {
    const { resource, category } = each;
    const { kind, metaName, references, labels } = resource;
    const head = { kind, templateMetaName: metaName, envReferences: references };
    const shown = adapters!.of(category).summary(resource, placeOf(each));
    return { ...head, ...shown, ...(category === "Label" ? {} : { labelAssociations: labels.flatMap(labelOf) }) };
  };
  for (const each of plan.resources) {
    const { resource, category, state, id, old } = each;
    const head = { id: idNumber(id), stateStatus: state, templateMetaName: resource.metaName, kind: resource.kind };
    diff[DIFF_LISTS[category]]!.push({ ...head, new: adapters!.of(category).shown(resource, placeOf(each)), ...shownOld(category, old) });
    summary[SUMMARY_LISTS[category]]!.push(summaryOf(each));
    yield;
  }
  for (const { category, id, item, old } of plan.removals) {
    const { templateMetaName } = item;
    const kind = category === "Check" || category === "NotificationEndpoint" ? "" : category;
    const head = { id: idNumber(id), stateStatus: "remove", templateMetaName, kind };
    diff[DIFF_LISTS[category]]!.push({ ...head, new: shownRemoved(plan, category, item), old });
  }
  // resources are in the order of their names, so what goes has to find its place
  if (plan.removals.length > 0) for (const list of Object.values(diff)) list.sort(byMetaName);
  const mappings = [...plan.mappings].sort(byResource);
  return {
    ...{ sources, stackID },
    diff: { ...diff, labelMappings: mappings.map(diffMapping) },
    summary: {
      ...summary,
      labelMappings: mappings.filter(({ state }) => state !== "remove").map(summaryMapping),
      ...{ missingEnvRefs, missingSecrets },
    },
  };
}

interface NamedChange extends Readonly<Record<string, unknown>> {
  readonly templateMetaName: string;
}

function byMetaName({ templateMetaName: a }: NamedChange, { templateMetaName: b }: NamedChange): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const NO_RULES = { messageTemplate: "", statusRules: [], tagRules: [] };

/** What stands for a resource that goes: its kind without values, as recorded. */
function shownRemoved({ resources, removals }: TemplatePlan, category: Category, item: StackResource): object | null {
  const { templateMetaName: name, associations } = item;
  const head = { name, description: "" };
  switch (category) {
    case "Bucket":
      return { ...head, retentionRules: null };
    case "Check":
    case "NotificationEndpoint":
      return null;
    case "Dashboard":
      return { ...head, charts: [] };
    case "Label":
      return { ...head, color: "" };
    case "NotificationRule": {
      const endpointName = associations.find(({ kind }) => kind === "NotificationEndpoint")?.metaName ?? "";
      const isEndpoint = (kind: Category, metaName: string) => kind === "NotificationEndpoint" && metaName === endpointName;
      const endpointID =
        resources.find((each) => isEndpoint(each.category, each.resource.metaName))?.id ??
        removals.find((each) => isEndpoint(each.category, each.item.templateMetaName))?.id ??
        null;
      const times = { every: NO_DURATION, offset: NO_DURATION };
      return { ...head, endpointID: idNumber(endpointID), endpointName, endpointType: "", ...times, ...NO_RULES };
    }
    case "Task":
      return { ...head, cron: "", every: "", offset: "", query: "", status: "active" };
    case "Telegraf":
      return {};
    case "Variable":
      return { ...head, args: null };
  }
}

/** Of a new variable nothing, as recorded. */
function shownOld(category: Category, old: object | null): { readonly old?: object | null } {
  return category === "Variable" && old === null ? {} : { old };
}

function lists<T extends object>(names: Readonly<Record<Category, string>>): Record<string, T[]> {
  return Object.fromEntries(Object.values(names).map((name) => [name, []]));
}

function diffMapping({ state, category, resource, label }: PlannedMapping): object {
  return {
    ...{ stateStatus: state, resourceType: typeOf(category), resourceID: idNumber(resource.id), resourceName: resource.name },
    ...{ resourceTemplateMetaName: resource.metaName, labelID: idNumber(label.id), labelName: label.name },
    labelTemplateMetaName: label.metaName,
  };
}

function summaryMapping({ state, category, resource, label }: PlannedMapping): object {
  return {
    ...{ status: state, resourceID: idNumber(resource.id), resourceTemplateMetaName: resource.metaName, resourceName: resource.name },
    ...{ resourceType: typeOf(category), labelTemplateMetaName: label.metaName, labelName: label.name, labelID: idNumber(label.id) },
  };
}

function byResource(a: PlannedMapping, b: PlannedMapping): number {
  const key = ({ category, resource, label }: PlannedMapping) => [typeOf(category), resource.metaName, label.metaName];
  const [left, right] = [key(a), key(b)];
  for (const [i, text] of left.entries()) {
    if (text !== right[i]) return text < right[i]! ? -1 : 1;
  }
  return 0;
}

/** Of the environment, and secrets that are nowhere. @param secretKeys those that are somewhere */
export function missingOf(
  resources: readonly PlannedResource["resource"][],
  env: ReadonlyMap<string, EnvValue>,
  secretKeys: readonly string[],
): { readonly missingEnvRefs: string[]; readonly missingSecrets: string[] } {
  const known = new Set(secretKeys);
  const missing = resources.flatMap((each) => each.secretKeys).filter((key) => !known.has(key));
  return {
    missingEnvRefs: [...new Set(resources.flatMap(neededEnvRefs).filter((key) => !env.has(key)))].sort(),
    missingSecrets: [...new Set(missing)].sort(),
  };
}

/** Defaults do not count. Of the record of a task the name alone is asked for, which is also shown as `spec.name`. */
function neededEnvRefs({ references, secretEnvKeys }: PlannedResource["resource"]): string[] {
  const needed = references.filter(({ resourceField }) => !resourceField.startsWith("spec.task."));
  return [...needed.map(({ envRefKey }) => envRefKey), ...secretEnvKeys];
}
