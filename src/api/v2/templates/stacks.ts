// Stacks: /api/v2/stacks.
import { Type as t } from "@sinclair/typebox";
import { lastEvent, type Stack } from "../../../metadata/resources/stacks.ts";
import { parseId, readId } from "../../../metadata/store/ids.ts";
import type { StackEvent, StackResource } from "../../../metadata/store/kinds.ts";
import type { Change } from "../../../metadata/store/metadata.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../../../model/query/go-quoted.ts";
import { urlFault } from "../../../outgoing/go-url.ts";
import { CATEGORIES, categoryOf, isCategory, isKind, typeOf } from "../../../templates/kinds.ts";
import { OBJECTS_MAX } from "../../../templates/template-object.ts";
import { json, noContent } from "../app/answers.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { JsonBodies, type SearchParams } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import type { AfterChange } from "./adapters/adapter.ts";
import { Adapters } from "./adapters/adapters.ts";
import { API_VERSION } from "./apply-plan.ts";
import { removable, requireNeed } from "./plan.ts";
import { requireTemplateUrl } from "./template-url.ts";

const short = t.Optional(t.String({ maxLength: 1024 }));
const urls = t.Optional(t.Array(t.String({ maxLength: 1024 }), { maxItems: 100 }));
export const StackBody = t.Object({ orgID: t.Optional(t.String()), name: short, description: short, urls });
export const StackUpdateBody = t.Object({
  ...{ name: short, description: short, templateURLs: urls, urls },
  additionalResources: t.Optional(
    t.Array(t.Object({ resourceID: t.Optional(t.String()), kind: short, templateMetaName: short }), { maxItems: OBJECTS_MAX }),
  ),
});

const STACKS = "/api/v2/stacks";
const ITEM = `${STACKS}/:stack_id`;
const NO_ACCESS = "you do not have access to given stack ID";

export const stackRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  return new V2Routes(services)
    .get(STACKS, ({ principal, search }) => {
      const given = search.get("orgID") ?? "";
      const orgID = idIn(given, `organization id[${JSON.stringify(given.slice(0, 64))}] is invalid: `);
      const ids = new Set(search.all("stackID").map((id) => idIn(id, `stack ID[${goQuoted(near(id, 64))}] provided is invalid: `)));
      const names = new Set(search.all("name"));
      principal.require({ action: "read", type: "orgs", id: orgID });
      const isMeant = (stack: Stack) => (ids.size === 0 && names.size === 0) || ids.has(stack.id) || names.has(lastEvent(stack).name);
      const items = found(
        line().stacks.heads(orgID),
        (id) => line().stacks.find(id),
        (stack) => (isMeant(stack) ? shownStack(stack) : null),
      );
      return listAnswer("stacks", items);
    })
    .post(STACKS, async ({ principal, request }) => {
      const { orgID: given = "", name = "", description = "", urls: from = [] } = await bodies.read(StackBody, request);
      const orgID = parseId(given);
      if (orgID === null) throw new TsdbError("bad_request", `provided org id[${JSON.stringify(given.slice(0, 64))}] is invalid`);
      for (const url of from) if (urlFault(url) !== null) throw new TsdbError("bad_request", `provided url[${goQuoted(url)}] is invalid`);
      if (!principal.allows({ action: "write", type: "orgs", id: orgID })) throw notAllowed();
      principal.require({ action: "read", type: "orgs", id: orgID });
      for (const url of from) requireTemplateUrl(url, "stack template from url");
      const first = { name, description, resources: [], sources: [], urls: from };
      return json(201, shownStack(await line().metadata.change((change) => line().stacks.planCreate(change, orgID, first))));
    })
    .get(ITEM, ({ principal, params }) => {
      const stack = line().stacks.get(pathId(params["stack_id"]!));
      principal.require({ action: "read", type: "orgs", id: stack.orgID });
      return json(200, shownStack(stack));
    })
    .patch(ITEM, async ({ principal, params, request }) => {
      const id = pathId(params["stack_id"]!);
      const body = await bodies.read(StackUpdateBody, request);
      const added = (body.additionalResources ?? []).map(attached);
      const stack = line().stacks.get(id);
      if (!principal.allows({ action: "write", type: "orgs", id: stack.orgID })) throw notAllowed();
      return json(200, shownStack(await line().metadata.change((change) => updated(services, change, id, body, added))));
    })
    .delete(ITEM, async (call) => {
      const orgID = requiredOrganization(call.search);
      const id = pathId(call.params["stack_id"]!);
      const stack = line().stacks.find(id);
      // what is gone is deleted
      if (stack === null) return noContent();
      requireOf(stack, orgID);
      if (!call.principal.allows({ action: "write", type: "orgs", id: orgID })) throw notAllowed();
      await removeAll(services, call, stack, (change) => {
        line().stacks.planDelete(change, id);
        return null;
      });
      return noContent();
    })
    .post(`${ITEM}/uninstall`, async (call) => {
      const orgID = requiredOrganization(call.search);
      const stack = line().stacks.get(pathId(call.params["stack_id"]!));
      requireOf(stack, orgID);
      if (!call.principal.allows({ action: "write", type: "orgs", id: orgID })) throw notAllowed();
      const after = await removeAll(services, call, stack, (change) =>
        line().stacks.planEvent(change, stack, "uninstall", { resources: [] }),
      );
      return json(200, shownStack(after!));
    });
};

/** Deletes all resources of the stack and applies `then`, in one change. */
async function removeAll(
  services: V2Services,
  { principal }: V2Call,
  stack: Stack,
  then: (change: Change) => Stack | null,
): Promise<Stack | null> {
  const line = services.line();
  const adapters = new Adapters(line);
  const removals = removable(adapters, stack.orgID, lastEvent(stack).resources);
  principal.require({ action: "write", type: "orgs", id: stack.orgID });
  for (const { category, id } of removals) requireNeed(services, principal, "write", category, id, stack.orgID);
  const after: AfterChange = { dropped: [], steps: [] };
  const changed = await line.metadata.change((change) => {
    const ordered = [...removals].sort((a, b) => CATEGORIES.indexOf(b.category) - CATEGORIES.indexOf(a.category));
    for (const { category, id } of ordered) adapters.of(category).remove(change, id, after);
    return then(change);
  });
  line.buckets.dropped(after.dropped);
  for (const step of after.steps) await step();
  return changed;
}

/** Null where none is meant. @throws TsdbError not_found, already_exists in the vendor's code for one of another organization */
export function stackOf(services: V2Services, stackID: string | null, orgID: string): Stack | null {
  if (stackID === null) return null;
  const stack = services.line().stacks.get(stackID);
  requireOf(stack, orgID);
  return stack;
}

/** A stack as clients see it: the last event a second time, outermost. */
function shownStack(stack: Stack): object {
  const { id, orgID, createdAt, events } = stack;
  return { id, orgID, createdAt, events: events.map(shownEvent), ...shownEvent(lastEvent(stack)) };
}

function shownEvent({ resources, ...event }: StackEvent): object {
  const { eventType, name, description, sources, urls: from, updatedAt } = event;
  return { eventType, name, description, resources: resources.map(shownResource), sources, urls: from, updatedAt };
}

function shownResource({ apiVersion, resourceID, kind, templateMetaName, associations }: StackResource): object {
  const category = isCategory(kind) ? kind : isKind(kind) ? categoryOf(kind) : null;
  const self = category === null ? `/api/v2/${resourceID}` : `/api/v2/${typeOf(category)}/${resourceID}`;
  return { apiVersion, resourceID, kind, templateMetaName, associations, links: { self } };
}

type Update = Readonly<{ name?: string; description?: string; templateURLs?: readonly string[]; urls?: readonly string[] }>;

function updated({ line }: V2Services, change: Change, id: string, body: Update, added: readonly StackResource[]): Stack {
  const { stacks } = line();
  const stack = stacks.get(id);
  const { resources } = lastEvent(stack);
  const present = new Set(resources.map(({ kind, resourceID }) => `${kind} ${resourceID}`));
  const names = new Set(resources.map(({ templateMetaName }) => templateMetaName));
  const missing = added.filter(({ kind, resourceID }) => !present.has(`${kind} ${resourceID}`));
  const all = [...resources];
  for (const each of missing) {
    all.push(names.has(each.templateMetaName) ? { ...each, templateMetaName: ownName(each) } : each);
    names.add(each.templateMetaName);
  }
  if (all.length > OBJECTS_MAX) throw new TsdbError("unprocessable", `a stack has at most ${OBJECTS_MAX} resources`);
  const { name, description, templateURLs, urls: more } = body;
  // an empty list of the second name changes nothing
  const from = templateURLs === undefined && (more ?? []).length === 0 ? null : [...(templateURLs ?? []), ...(more ?? [])];
  for (const url of from ?? []) requireTemplateUrl(url, "stack template from url");
  return stacks.planEvent(change, stack, "update", {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(from === null ? {} : { urls: from }),
    resources: all,
  });
}

/** @throws TsdbError bad_request */
function attached({
  resourceID = "",
  kind = "",
  templateMetaName = "",
}: {
  resourceID?: string;
  kind?: string;
  templateMetaName?: string;
}): StackResource {
  const id = idIn(resourceID, `stack resource id ${JSON.stringify(resourceID.slice(0, 64))}: `);
  const name = templateMetaName === "" ? ownName({ kind, resourceID: id }) : templateMetaName;
  return { apiVersion: API_VERSION, resourceID: id, kind, templateMetaName: name, associations: [], isAttached: true };
}

/** A name in a template that no other resource has. */
function ownName({ kind, resourceID }: Pick<StackResource, "kind" | "resourceID">): string {
  return `${kind.toLowerCase().replace(/[^a-z0-9]+/g, "") || "resource"}-${resourceID}`;
}

function requiredOrganization(search: SearchParams): string {
  const given = search.get("orgID");
  if (given === undefined) throw new TsdbError("bad_request", "the orgID query param is required");
  return idIn(given, "the orgID query param was invalid: ");
}

function pathId(text: string): string {
  return idIn(text, "the stack id provided in the path was invalid: ");
}

/** @throws TsdbError bad_request */
function idIn(text: string, head: string): string {
  try {
    return readId(text);
  } catch (cause) {
    throw new TsdbError("bad_request", `${head}${(cause as Error).message}`, {}, { cause });
  }
}

function requireOf(stack: Stack, orgID: string): void {
  if (stack.orgID !== orgID) throw new TsdbError("already_exists", NO_ACCESS);
}

function notAllowed(): TsdbError {
  return new TsdbError("forbidden", "not authorized to create stack");
}
