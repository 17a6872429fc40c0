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

interface Chosen {
  readonly category: Category;
  readonly id: string;
  readonly name?: string;
}

export const exportRoutes = (services: V2Services): V2Routes => {
  const bodies = new TemplateBodies(services.now);
  return new V2Routes(services).post("/api/v2/templates/export", async ({ principal, request }) => {
    const type = mediaTypeOf(request.headers.get("content-type"));
    if (request.body !== null && type !== "application/json" && !isYaml(type)) return new Response(null, { status: 415 });
    const raw = await bodies.read(request, "failed to unmarshal ");
    const body = checkedMembers(ExportBody, raw ?? {}, "failed to unmarshal json: ");
    const exporting = new Exporting(services, principal);
    const { stackID, orgIDs = [] } = body;
    const resources = (body.resources ?? []).map(({ id, ...rest }) => ({ ...rest, id: id === undefined ? "" : idIn(id) }));
    if (stackID === undefined && orgIDs.length === 0 && resources.length === 0) {
      throw new TsdbError("unprocessable", "at least 1 resource, 1 org id, or stack id must be provided");
    }
    if (stackID !== undefined) exporting.addStack(readId(stackID));
    for (const { orgID = "", resourceFilters = {} } of orgIDs) {
      const id = parseId(orgID);
      if (id === null) throw new TsdbError("bad_request", `provided org id is invalid: ${JSON.stringify(orgID.slice(0, 64))}`);
      exporting.addOrganization(id, resourceFilters.byLabel ?? [], resourceFilters.byResourceKind ?? []);
    }
    for (const { kind = "", id, name = "" } of resources) exporting.addResource(kind, id, name);
    const objects = await new Turns(request.signal).run(exporting.objects());
    if (!isYaml(mediaTypeOf(request.headers.get("accept")))) return json(200, objects);
    return new Response(`${Bun.YAML.stringify(objects, null, 2)}\n`, { headers: { "content-type": "application/x-yaml" } });
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
    for (const category of CATEGORIES) {
      if (byKind.length > 0 && !byKind.includes(category)) continue;
      for (const id of this.adapters.of(category).list(orgID)) {
        if (!this.principal.allows({ action: "read", type: typeOf(category), id, orgID })) continue;
        // labels have none themselves
        const isMeant =
          names.size === 0 || category === "Label" || labels.ofResource(typeOf(category), id).some(({ name }) => names.has(name));
        if (isMeant) this.chosen.set(`${category} ${id}`, { category, id });
      }
    }
  }

  /** @throws TsdbError bad_request, not_found, forbidden */
  addResource(kind: string, id: string, name: string): void {
    const category = isKind(kind) ? categoryOf(kind) : isCategory(kind) ? kind : null;
    if (category === null) throw new TsdbError("bad_request", "unsupported kind provided", { kind });
    if (id !== "") {
      this.add({ category, id: readId(id), ...(name === "" ? {} : { name }) });
      return;
    }
    const { orgID } = this.principal;
    const found = name === "" || orgID === null ? null : this.adapters.of(category).find(orgID, name);
    if (found === null) throw new TsdbError("not_found", `no ${typeOf(category)} found for name ${JSON.stringify(name.slice(0, 256))}`);
    this.add({ category, id: found });
  }

  /** A resource a step; what is deleted meanwhile is left out. @throws TsdbError unprocessable for what no template can have */
  *objects(): Steps<object[]> {
    for (const { category, id } of [...this.chosen.values()]) {
      if (!this.isGone(category, id)) this.addReferred(category, id);
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
  private addReferred(category: Category, id: string): void {
    const refersTo = this.adapters.of(category).refersTo?.(id);
    if (refersTo !== undefined && !this.chosen.has(`${refersTo.category} ${refersTo.id}`)) {
      this.add(refersTo);
      this.addReferred(refersTo.category, refersTo.id);
    }
    if (category === "Label") return;
    for (const label of this.services.line().labels.ofResource(typeOf(category), id)) {
      if (!this.chosen.has(`Label ${label.id}`)) this.add({ category: "Label", id: label.id });
    }
  }

  private objectOf({ category, id, name }: Chosen) {
    const { kind, spec, apiVersion = API_VERSION } = this.adapters.of(category).exported(id, (of, referred) => this.nameOf(of, referred));
    const labels = category === "Label" ? [] : this.services.line().labels.ofResource(typeOf(category), id);
    const associations = labels.map((label) => ({ kind: "Label", name: this.nameOf("Label", label.id) }));
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
