// Labels: /api/v2/labels, and the labels of a resource below it.
import { type Static, Type as t } from "@sinclair/typebox";
import type { Need } from "../../metadata/access/permissions.ts";
import type { Label } from "../../metadata/resources/labels.ts";
import { parseId, readId } from "../../metadata/store/ids.ts";
import type { ResourceType } from "../../metadata/store/kinds.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { found, listAnswer } from "./app/list-answer.ts";
import { GivenId, IdText, idIn, JsonBodies } from "./app/params.ts";
import { checkParent, listedOf } from "./app/parents.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { shownLabel } from "./shown.ts";

const Properties = t.Record(t.String(), t.String());
export const LabelBody = t.Object({ orgID: IdText, name: t.Optional(t.String()), properties: t.Optional(Properties) });
const NewLabelBody = t.Composite([LabelBody, GivenId]);
export const LabelUpdateBody = t.Object({ name: t.Optional(t.String()), properties: t.Optional(Properties) });
export const LabelIdBody = t.Object({ labelID: t.Optional(t.String()) });

const LABELS = "/api/v2/labels";

export const labelRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  return new V2Routes(services)
    .get(LABELS, ({ principal, search }) => {
      const orgID = parseId(search.get("orgID") ?? "") ?? undefined;
      const all = line().labels.heads({ orgID, name: search.get("name") });
      const visible = all.filter((label) => principal.allows(needOf("read", label)));
      const items = found(visible, (id) => line().labels.find(id), shownLabel);
      return listAnswer("labels", items, { links: { self: LABELS } });
    })
    .post(LABELS, async ({ principal, request }) => {
      const body = await bodies.read(NewLabelBody, request);
      const label = readLabel(body);
      principal.require({ action: "write", type: "labels", orgID: label.orgID });
      return json(201, enveloped(await line().labels.create(label)));
    })
    .get(`${LABELS}/:labelID`, ({ principal, params }) => {
      const label = line().labels.get(readId(params["labelID"]!));
      principal.require(needOf("read", label));
      return json(200, enveloped(label));
    })
    .patch(`${LABELS}/:labelID`, async ({ principal, params, request }) => {
      const id = readId(params["labelID"]!);
      const { name = "", properties } = await bodies.read(LabelUpdateBody, request, "");
      if (name !== "" && name.trim() === "") throw new TsdbError("bad_request", "label name is required");
      principal.require(needOf("write", line().labels.get(id)));
      const update = { ...(name === "" ? {} : { name: name.trim() }), ...(properties === undefined ? {} : { properties }) };
      return json(200, enveloped(await line().labels.update(id, update)));
    })
    .delete(`${LABELS}/:labelID`, async ({ principal, params }) => {
      const id = readId(params["labelID"]!);
      principal.require(needOf("write", line().labels.get(id)));
      await line().labels.delete(id);
      return noContent();
    });
};

/** @throws TsdbError bad_request */
function readLabel({ orgID, name = "", properties = {} }: Static<typeof LabelBody>): Omit<Label, "id"> {
  const id = orgID === undefined ? undefined : idIn(orgID);
  if (name === "") throw new TsdbError("bad_request", "label name is required");
  if (id === undefined) throw new TsdbError("bad_request", "orgID is required");
  return { orgID: id, name: name.trim(), properties };
}

function needOf(action: "read" | "write", { id, orgID }: Pick<Label, "id" | "orgID">) {
  return { action, type: "labels", id, orgID } as const;
}

function enveloped(label: Label): object {
  return { links: { self: `${LABELS}/${label.id}` }, label: shownLabel(label) };
}

type Found = { readonly id: string; readonly orgID: string };

export interface LabelledParent {
  /** Of the resource's list, and the name of its id in a route. */
  readonly path: string;
  readonly param: string;
  readonly type: ResourceType;
  /** The resource of a call. @throws TsdbError bad_request, not_found, also where the sender may not see it */
  readonly parent: (call: V2Call) => Found;
  /** The same, whether or not the sender may see it: to those of its organization, lists show what they may read. Default: `parent`. */
  readonly find?: (call: V2Call) => Found;
  /** The resource alone decides who sees and changes its labels: who may read or write it. Otherwise their own permissions count too,
   *  and a label that there is not cannot be taken off. As in the vendor's server, which asks for no permission here. */
  readonly decidesOnLabels?: boolean;
}

/** Finds the resource of a call. To a sender who may not see it, it does not exist.
 *  @throws TsdbError not_found with the text of `missing` */
export function seen<T extends Found>(
  find: (call: V2Call) => T,
  need: (action: "read", resource: T) => Need,
  missing: (resource: T) => string,
): (call: V2Call) => T {
  return (call) => {
    const resource = find(call);
    if (call.principal.allows(need("read", resource))) return resource;
    throw new TsdbError("not_found", missing(resource));
  };
}

/** Adds the routes of the labels of a resource. To change them one has to see it, and may write it and, unless it decides alone, the
 *  label. */
export function addLabelRoutes(routes: V2Routes, services: V2Services, given: LabelledParent): V2Routes {
  const { path, param, type, parent, decidesOnLabels = false } = given;
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const labelOf = async ({ request }: V2Call): Promise<Label> => {
    let id: string | undefined;
    try {
      const { labelID } = await bodies.read(LabelIdBody, request);
      id = labelID === undefined ? undefined : idIn(labelID);
    } catch (error) {
      if (!(error instanceof TsdbError) || error.kind !== "bad_request") throw error;
      throw new TsdbError("bad_request", "Invalid post label map request", {}, { cause: error });
    }
    if (id === undefined) throw new TsdbError("bad_request", "label id is required");
    return line().labels.get(id);
  };
  const decides = (label: Label, { orgID }: Found): boolean => decidesOnLabels && label.orgID === orgID;
  const requireWrite = ({ principal }: V2Call, label: Label | null, resource: Found): void => {
    const { id, orgID } = resource;
    if (label !== null && !decides(label, resource)) principal.require(needOf("write", label));
    principal.require({ action: "write", type, id, orgID });
  };
  return routes
    .get(`${path}/:${param}/labels`, (call) => {
      const { id, orgID } = listedOf(given, call);
      const isOpen = decidesOnLabels && call.principal.allows({ action: "read", type, id, orgID });
      const found = line().labels.ofResource(type, id);
      const visible = isOpen ? found : found.filter((label) => call.principal.allows(needOf("read", label)));
      return json(200, { links: { self: LABELS }, labels: visible.map(shownLabel) });
    })
    .post(`${path}/:${param}/labels`, async (call) => {
      checkParent(given, call.params[param]!, call);
      const label = await labelOf(call);
      const resource = parent(call);
      if (!decides(label, resource)) call.principal.require(needOf("read", label));
      requireWrite(call, label, resource);
      return json(201, enveloped(await line().labels.add({ labelID: label.id, resourceType: type, resourceID: resource.id })));
    })
    .delete(`${path}/:${param}/labels/:labelID`, async (call) => {
      checkParent(given, call.params[param]!, call);
      const labelID = readId(call.params["labelID"]!);
      const resource = parent(call);
      const label = line().labels.find(labelID);
      requireWrite(call, label, resource);
      if (decidesOnLabels && label === null) return noContent();
      await line().labels.remove({ labelID, resourceType: type, resourceID: resource.id });
      return noContent();
    });
}
