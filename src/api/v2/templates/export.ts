// Exports of resources as templates: POST /api/v2/templates/export.
import { Type as t } from "@sinclair/typebox";
import type { Principal } from "../../../metadata/access/principal.ts";
import { lastEvent } from "../../../metadata/resources/stacks.ts";
import { parseId, readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { Steps } from "../../../model/steps.ts";
import { Turns } from "../../../model/turns.ts";
import { issueText } from "../../../templates/issue.ts";
import { CATEGORIES, type Category, categoryOf, isCategory, isKind, isKindOrCategory, typeOf } from "../../../templates/kinds.ts";
import { templateSteps } from "../../../templates/template.ts";
import { readObjects } from "../../../templates/template-object.ts";
import { yamlText } from "../../../templates/yaml-text.ts";
import { json } from "../app/answers.ts";
import { checkedMembers, idIn } from "../app/params.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { Adapters } from "./adapters/adapters.ts";
import { isYaml, mediaTypeOf, TemplateBodies } from "./apply-body.ts";
import { API_VERSION } from "./apply-plan.ts";
import { requireNeed } from "./plan.ts";

const text = t.Optional(t.String());
const Filters = t.Object({
  byLabel: t.Optional(t.Array(t.String(), { description: "Names of labels: what has one of them." })),
  byResourceKind: t.Optional(t.Array(t.String())),
});
export const ExportBody = t.Object({
  stackID: text,
  orgIDs: t.Optional(t.Array(t.Object({ orgID: text, resourceFilters: t.Optional(Filters) }))),
  resources: t.Optional(
    t.Array(
      t.Object({
        kind: text,
        id: text,
        name: t.Optional(t.String({ description: "Without an id: which one. With it: the name in the export." })),
      }),
    ),
  ),
});

/** Several of one name may be in an organization. */
const NOT_UNIQUE: ReadonlySet<Category> = new Set<Category>(["Dashboard", "NotificationRule", "Task", "Telegraf"]);

/** By its id, or, where that is empty, by its name. */
interface Asked {
  readonly kind?: string;
  readonly id: string;
  readonly name?: string;
}

interface Chosen {
  readonly category: Category;
  readonly id: string;
  readonly name?: string;
  /** Names of its labels that count; undefined: of all. */
  readonly byLabel?: ReadonlySet<string>;
}

export const exportRoutes = (services: V2Services): V2Routes => {
  const bodies = new TemplateBodies(services.now);
  return new V2Routes(services).post("/api/v2/templates/export", async ({ principal, request }) => {
    const type = mediaTypeOf(request.headers.get("content-type"));
    if (request.body !== null && type !== "application/json" && !isYaml(type)) return new Response(null, { status: 415 });
    const raw = await bodies.read(request, "failed to unmarshal ");
    const body = checkedMembers(ExportBody, raw ?? {}, "failed to unmarshal json: ");
    const exporting = new Exporting(services, principal);
    const { orgIDs = [] } = body;
    const resources = (body.resources ?? []).map(({ id, ...rest }) => ({ ...rest, id: id === undefined ? "" : idIn(id) }));
    const stackID = body.stackID === "" ? undefined : body.stackID;
    if (stackID === undefined && orgIDs.length === 0 && resources.length === 0) {
      throw new TsdbError("unprocessable", "at least 1 resource, 1 org id, or stack id must be provided");
    }
    if (stackID !== undefined) exporting.addStack(readId(stackID));
    for (const { orgID = "", resourceFilters = {} } of orgIDs) {
      const id = parseId(orgID);
      if (id === null) throw new TsdbError("bad_request", `provided org id is invalid: ${JSON.stringify(orgID.slice(0, 64))}`);
      exporting.addOrganization(id, resourceFilters.byLabel ?? [], resourceFilters.byResourceKind ?? []);
    }
    const objects = await new Turns(request.signal).run(exporting.objects(resources));
    if (!isYaml(mediaTypeOf(request.headers.get("accept")))) return json(200, objects);
    return new Response(yamlText(objects), { headers: { "content-type": "application/x-yaml" } });
  });
};

/** Collects what is exported, and what that refers to. */
class Exporting {
  private readonly adapters: Adapters;
  private readonly chosen = new Map<string, Chosen>();
  /** Of a stack, by id. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly services: V2Services,
    private readonly principal: Principal,
  ) {
    this.adapters = new Adapters(services.line());
  }

  /** @throws TsdbError not_found, forbidden */
  addStack(id: string): void {
    const stack = this.services.line().stacks.get(id);
    this.principal.require({ action: "read", type: "orgs", id: stack.orgID });
    for (const { kind, resourceID, templateMetaName } of lastEvent(stack).resources) {
      if (!isCategory(kind) || this.adapters.find(kind)?.orgOf(resourceID) !== stack.orgID) continue;
      this.names.set(`${kind} ${resourceID}`, templateMetaName);
      this.add({ category: kind, id: resourceID });
    }
  }

  /** What the sender may read. @throws TsdbError bad_request for a filter by an unknown kind */
  addOrganization(orgID: string, byLabel: readonly string[], byKind: readonly string[]): void {
    const unknown = byKind.find((kind) => !isKindOrCategory(kind));
    if (unknown !== undefined) throw new TsdbError("bad_request", "unsupported kind provided", { kind: unknown });
    const { labels } = this.services.line();
    const names = new Set(byLabel);
    const namedIds = new Set(byLabel.flatMap((name) => labels.heads({ orgID, name }).map(({ id }) => id)));
    // labels have none themselves; of names that no label has, all are meant
    const hasLabel = (category: Category, id: string): boolean => {
      if (category === "Label") return namedIds.size === 0 || namedIds.has(id);
      return labels.ofResource(typeOf(category), id).some(({ name }) => names.has(name));
    };
    for (const category of CATEGORIES) {
      if (byKind.length > 0 && !byKind.includes(category)) continue;
      for (const id of this.adapters.of(category).list(orgID)) {
        if (!this.principal.allows({ action: "read", type: typeOf(category), id, orgID })) continue;
        const isMeant = names.size === 0 || hasLabel(category, id);
        if (isMeant) this.chosen.set(`${category} ${id}`, { category, id, ...(names.size === 0 ? {} : { byLabel: names }) });
      }
    }
  }

  /** @throws TsdbError bad_request, not_found, forbidden */
  private addResource({ kind = "", id, name = "" }: Asked): void {
    const category = isKind(kind) ? categoryOf(kind) : isCategory(kind) ? kind : null;
    if (category === null) throw new TsdbError("bad_request", kind === "" ? "invalid kind" : "unsupported kind provided", { kind });
    if (id === "" && name === "") throw new TsdbError("bad_request", "must provide an ID or name");
    if (id !== "") {
      this.add({ category, id: readId(id), ...(name === "" ? {} : { name }) });
      return;
    }
    const found = this.named(category, name);
    // as recorded, a label that there is not is left out
    if (found.length === 0 && category !== "Label") {
      throw new TsdbError("not_found", `no ${typeOf(category)} found for name ${JSON.stringify(name.slice(0, 256))}`);
    }
    for (const each of found) this.add({ category, id: each });
  }

  /** In all organizations, as far as the sender may read them; several where names are not unique. */
  private named(category: Category, name: string): string[] {
    const adapter = this.adapters.of(category);
    const all = { limit: Number.MAX_SAFE_INTEGER, offset: 0, isDescending: false };
    return this.services
      .line()
      .organizations.list({}, all)
      .flatMap(({ id: orgID }) => {
        const unique = adapter.find(orgID, name);
        const isSo = (id: string) => (adapter.old(id) as { readonly name: string }).name === name;
        const ids = unique !== null ? [unique] : NOT_UNIQUE.has(category) ? adapter.list(orgID).filter(isSo) : [];
        return ids.filter((id) => this.principal.allows({ action: "read", type: typeOf(category), id, orgID }));
      });
  }

  /** With these resources as well. A resource a step; what is deleted meanwhile is left out. @throws TsdbError bad_request, not_found,
   *  forbidden, unprocessable for what no template can have */
  *objects(asked: readonly Asked[]): Steps<object[]> {
    for (const each of asked) {
      this.addResource(each);
      yield;
    }
    for (const chosen of [...this.chosen.values()]) {
      if (!this.isGone(chosen.category, chosen.id)) this.addReferred(chosen);
      yield;
    }
    const objects: object[] = [];
    for (const chosen of this.chosen.values()) {
      if (!this.isGone(chosen.category, chosen.id)) objects.push(this.objectOf(chosen));
      yield;
    }
    objects.sort(inOrder);
    const { issues } = yield* templateSteps(readObjects(objects), new Map());
    if (issues[0] !== undefined) throw new TsdbError("unprocessable", issueText(issues[0]));
    return objects;
  }

  private isGone(category: Category, id: string): boolean {
    return this.adapters.of(category).orgOf(id) === null;
  }

  /** @throws TsdbError not_found, forbidden */
  private add(chosen: Chosen): void {
    const { category, id } = chosen;
    const orgID = this.adapters.of(category).orgOf(id);
    if (orgID === null) throw new TsdbError("not_found", `${category.toLowerCase()} ${id} not found`);
    requireNeed(this.services, this.principal, "read", category, id, orgID);
    this.chosen.set(`${category} ${id}`, chosen);
  }

  /** Labels, and the endpoint of a rule. */
  private addReferred({ category, id, byLabel }: Chosen): void {
    const refersTo = this.adapters.of(category).refersTo?.(id);
    if (refersTo !== undefined && !this.chosen.has(`${refersTo.category} ${refersTo.id}`)) {
      const referred = { ...refersTo, ...(byLabel === undefined ? {} : { byLabel }) };
      this.add(referred);
      this.addReferred(referred);
    }
    for (const label of this.labelsOf({ category, id, byLabel })) {
      if (!this.chosen.has(`Label ${label.id}`)) this.add({ category: "Label", id: label.id });
    }
  }

  private labelsOf({ category, id, byLabel }: Pick<Chosen, "category" | "id"> & { readonly byLabel: Chosen["byLabel"] | undefined }) {
    const all = category === "Label" ? [] : this.services.line().labels.ofResource(typeOf(category), id);
    return byLabel === undefined ? all : all.filter(({ name }) => byLabel.has(name));
  }

  private objectOf({ category, id, name, byLabel }: Chosen) {
    const { kind, spec, apiVersion = API_VERSION } = this.adapters.of(category).exported(id, (of, referred) => this.nameOf(of, referred));
    const associations = this.labelsOf({ category, id, byLabel }).map((label) => ({ kind: "Label", name: this.nameOf("Label", label.id) }));
    return {
      ...{ apiVersion, kind, metadata: { name: this.nameOf(category, id) } },
      spec: { ...spec, ...(name === undefined ? {} : { name }), ...(associations.length === 0 ? {} : { associations }) },
    };
  }

  /** The same in every export, so that exports can be compared. */
  private nameOf(category: Category, id: string): string {
    return this.names.get(`${category} ${id}`) ?? `${category.toLowerCase()}-${id}`;
  }
}

type Named = object & { readonly kind: string; readonly metadata: { readonly name: string } };

function inOrder(left: object, right: object): number {
  const [a, b] = [left as Named, right as Named];
  const rank = ({ kind }: Named) => (isKind(kind) ? CATEGORIES.indexOf(categoryOf(kind)) : -1);
  const key = ({ kind, metadata }: Named) => `${kind} ${metadata.name}`;
  return rank(a) - rank(b) || (key(a) < key(b) ? -1 : 1);
}
