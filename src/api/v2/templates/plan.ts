// What applying a template would do: which of its resources exist, and which of the stack's go.
import type { Need } from "../../../metadata/access/permissions.ts";
import type { Principal } from "../../../metadata/access/principal.ts";
import { bucketNeed } from "../../../metadata/resources/buckets.ts";
import { lastEvent, type Stack } from "../../../metadata/resources/stacks.ts";
import type { StackResource } from "../../../metadata/store/kinds.ts";
import type { Steps } from "../../../model/steps.ts";
import { type Category, categoryOf, isCategory, typeOf } from "../../../templates/kinds.ts";
import type { Resource, Template } from "../../../templates/template.ts";
import type { V2Services } from "../app/services.ts";
import type { Adapters } from "./adapters/adapters.ts";

export interface PlannedResource {
  readonly resource: Resource;
  readonly category: Category;
  readonly state: "new" | "exists";
  /** Of the stack, or found by name. Null: none. */
  readonly id: string | null;
  /** It is there, and is changed; otherwise it is made. */
  readonly isThere: boolean;
  /** The stack has it. */
  readonly isOwn: boolean;
  readonly old: object | null;
  /** A client has put it into the stack: it stays when the stack goes. */
  readonly isAttached: boolean;
}

export interface PlannedRemoval {
  readonly category: Category;
  readonly id: string;
  readonly item: StackResource;
  readonly old: object;
}

export interface PlannedMapping {
  readonly state: "new" | "exists" | "remove";
  readonly category: Category;
  readonly resource: { readonly metaName: string; readonly name: string; readonly id: string | null };
  readonly label: { readonly metaName: string; readonly name: string; readonly id: string | null };
}

export interface TemplatePlan {
  readonly orgID: string;
  readonly resources: readonly PlannedResource[];
  readonly removals: readonly PlannedRemoval[];
  readonly mappings: readonly PlannedMapping[];
}

/** What is planned, and for whom. */
export interface PlannedTemplate {
  readonly orgID: string;
  readonly resources: Template["resources"];
  readonly stack: Stack | null;
  readonly isDryRun: boolean;
}

/** Skipped kinds and resources are left out of the template. */
export interface Skips {
  readonly kinds: ReadonlySet<string>;
  /** `Bucket bucket-1`. */
  readonly resources: ReadonlySet<string>;
}

/** Without what is to be skipped. */
export function withoutSkipped(resources: readonly Resource[], { kinds, resources: named }: Skips): Resource[] {
  return resources.filter(({ kind, metaName }) => {
    const names = [kind, categoryOf(kind)];
    return !names.some((name) => kinds.has(name) || named.has(`${name} ${metaName}`));
  });
}

/** A resource a step. @param isDryRun something that exists and that the sender may not read is as absent: its name is not told
 *  @throws TsdbError forbidden for such a thing otherwise */
export function* planSteps(
  services: V2Services,
  adapters: Adapters,
  principal: Principal,
  { orgID, resources, stack, isDryRun }: PlannedTemplate,
): Steps<TemplatePlan> {
  const items = stack === null ? [] : lastEvent(stack).resources;
  const itemOf = new Map(items.map((item) => [`${item.kind} ${item.templateMetaName}`, item]));
  const planOf = (resource: Resource): PlannedResource => {
    const category = categoryOf(resource.kind);
    const adapter = adapters.of(category);
    const item = itemOf.get(`${category} ${resource.metaName}`);
    const isThere = (id: string) => adapter.orgOf(id) === orgID && isSameKind(adapter.kindOf(id), resource);
    const own = item !== undefined;
    const ownId = own && isThere(item.resourceID) ? item.resourceID : null;
    const found = ownId ?? adapter.find(orgID, resource.name);
    const existing = found !== null && isThere(found) ? found : null;
    const need = existing === null ? null : needOf(services, "read", category, existing, orgID);
    const isHidden = isDryRun && !own && need !== null && !principal.allows(need);
    const id = isHidden ? null : existing;
    if (id !== null) principal.require(need!);
    return {
      ...{ resource, category, isOwn: own, isThere: id !== null },
      state: own || id !== null ? "exists" : "new",
      id: id ?? item?.resourceID ?? null,
      old: id === null ? null : adapter.old(id),
      isAttached: own && item.isAttached,
    };
  };
  const planned: PlannedResource[] = [];
  for (const resource of resources) {
    planned.push(planOf(resource));
    yield;
  }
  const used = new Set(planned.map(({ id }) => id));
  const present = new Set(planned.map(({ category, resource }) => `${category} ${resource.metaName}`));
  const removals = removable(adapters, orgID, items).filter(
    ({ category, id, item }) => !present.has(`${category} ${item.templateMetaName}`) && !used.has(id),
  );
  for (const { category, id } of removals) requireNeed(services, principal, "read", category, id, orgID);
  const stackLabels = new Map(items.flatMap((item) => (item.kind === "Label" ? [[item.templateMetaName, item.resourceID] as const] : [])));
  const labels = new Map(planned.flatMap((each) => (each.category === "Label" ? [[each.resource.metaName, each] as const] : [])));
  const mappings: PlannedMapping[] = [];
  for (const each of planned) {
    mappings.push(...mappingsOf(services, labels, each, itemOf.get(`${each.category} ${each.resource.metaName}`), stackLabels));
    yield;
  }
  mappings.push(...removals.flatMap(({ category, id, item }) => removedMappings(category, id, item, stackLabels)));
  return {
    orgID,
    resources: planned,
    removals: removals.map((each) => ({ ...each, old: adapters.of(each.category).old(each.id) })),
    mappings,
  };
}

/** What a stack has that is there, that it may delete, and that is of its organization; system buckets stay. Each once: two names of a
 *  template may have meant the same, as checks of one name. */
export function removable(adapters: Adapters, orgID: string, items: readonly StackResource[]): Omit<PlannedRemoval, "old">[] {
  const found = new Map<string, Omit<PlannedRemoval, "old">>();
  for (const item of items) {
    const { kind, resourceID: id, isAttached } = item;
    if (isAttached || !isCategory(kind) || found.has(id)) continue;
    const adapter = adapters.of(kind);
    if (adapter.orgOf(id) !== orgID || adapter.stays?.(id) === true) continue;
    found.set(id, { category: kind, id, item });
  }
  return [...found.values()];
}

/** @throws TsdbError forbidden */
export function requireNeed(
  services: V2Services,
  principal: Principal,
  action: "read" | "write",
  category: Category,
  id: string | null,
  orgID: string,
): void {
  principal.require(needOf(services, action, category, id, orgID));
}

function needOf(services: V2Services, action: "read" | "write", category: Category, id: string | null, orgID: string): Need {
  const bucket = category === "Bucket" && id !== null ? services.line().buckets.find(id) : null;
  return bucket === null ? { action, type: typeOf(category), ...(id === null ? {} : { id }), orgID } : bucketNeed(action, bucket);
}

/** A check does not become one of another type, nor an endpoint. */
function isSameKind(kind: string, resource: Resource): boolean {
  return kind === resource.kind;
}

function mappingsOf(
  services: V2Services,
  named: ReadonlyMap<string, PlannedResource>,
  { resource, category, id, isThere }: PlannedResource,
  item: StackResource | undefined,
  stackLabels: ReadonlyMap<string, string>,
): PlannedMapping[] {
  const { labels } = services.line();
  const present = new Set(isThere ? labels.ofResource(typeOf(category), id!).map((label) => label.id) : []);
  const shown = { metaName: resource.metaName, name: resource.name, id };
  const given = resource.labels.flatMap((metaName): PlannedMapping[] => {
    const label = named.get(metaName);
    // it is skipped
    if (label === undefined) return [];
    const isMapped = label.isThere && present.has(label.id!);
    const state = isMapped ? "exists" : "new";
    return [{ state, category, resource: shown, label: { metaName, name: label.resource.name, id: label.id } }];
  });
  const gone = (item?.associations ?? []).flatMap(({ kind, metaName }): PlannedMapping[] => {
    const labelID = stackLabels.get(metaName);
    if (kind !== "Label" || resource.labels.includes(metaName) || labelID === undefined || !present.has(labelID)) return [];
    return [{ state: "remove", category, resource: shown, label: { metaName, name: "", id: labelID } }];
  });
  return [...given, ...gone];
}

function removedMappings(category: Category, id: string, item: StackResource, stackLabels: ReadonlyMap<string, string>): PlannedMapping[] {
  return item.associations.flatMap(({ kind, metaName }): PlannedMapping[] => {
    const labelID = stackLabels.get(metaName);
    if (kind !== "Label" || labelID === undefined) return [];
    const resource = { metaName: item.templateMetaName, name: "", id };
    return [{ state: "remove", category, resource, label: { metaName, name: "", id: labelID } }];
  });
}
