// Members and owners below a resource: GET and POST …/members, DELETE …/members/{userID}, the same of owners.
import { Type as t } from "@sinclair/typebox";
import type { Need } from "../../metadata/access/permissions.ts";
import type { Role } from "../../metadata/resources/members.ts";
import { readId } from "../../metadata/store/ids.ts";
import type { ResourceType } from "../../metadata/store/kinds.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { found, listAnswer } from "./app/list-answer.ts";
import { JsonBodies } from "./app/params.ts";
import { checkParent, listedOf } from "./app/parents.ts";
import type { V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { shownMember } from "./shown.ts";

export const MemberBody = t.Object({ id: t.Optional(t.String()), name: t.Optional(t.String()) });

export interface MemberParent {
  /** Of the resource's list. */
  readonly path: string;
  readonly type: ResourceType;
  /** The name of its id in a route; default: after the type. */
  readonly param?: string;
  /** The resource of a call. @throws TsdbError bad_request, not_found, also where the sender may not see it */
  readonly parent: (call: V2Call) => { readonly id: string; readonly orgID: string };
  /** The same, whether or not the sender may see it: to those of its organization, lists are empty then. Default: `parent`. */
  readonly find?: (call: V2Call) => { readonly id: string; readonly orgID: string };
  /** What is asked of the sender; default: the right to write the resource, and for lists to read its organization. */
  readonly need?: (action: "read" | "write", parent: { readonly id: string; readonly orgID: string }) => Need;
  /** Users have a link to their log. */
  readonly hasLogs?: boolean;
}

/** Adds the routes for a resource whose id is the first parameter of the path. */
export function addMemberRoutes(routes: V2Routes, services: V2Services, given: MemberParent): V2Routes {
  const { path, type, parent, find, hasLogs = false } = given;
  const need: NonNullable<MemberParent["need"]> =
    given.need ?? ((action, { id, orgID }) => (action === "read" ? { action, type: "orgs", id: orgID } : { action, type, id, orgID }));
  const bodies = new JsonBodies(services.now);
  const name = given.param ?? (type === "orgs" ? "orgID" : `${type.slice(0, -1)}ID`);
  for (const role of ["member", "owner"] as const satisfies readonly Role[]) {
    const list = `${path}/:${name}/${role}s`;
    routes
      .get(list, (call) => {
        const resource = listedOf(given, call);
        const { id } = resource;
        const isSeen = call.principal.allows(need("read", resource));
        if (find === undefined && !isSeen) throw new TsdbError("not_found", "not found");
        const { members, users } = services.line();
        const heads = isSeen ? members.heads(type, id, role) : [];
        const items = found(
          heads,
          (userID) => users.find(userID),
          (user) => shownMember(user, role, hasLogs),
        );
        return listAnswer("users", items, { links: { self: `${path}/${id}/${role}s` } });
      })
      .post(list, async (call) => {
        checkParent(given, call.params[name]!, call);
        const body = await bodies.read(MemberBody, call.request, "");
        if (body.id === undefined) throw new TsdbError("bad_request", "user id missing or invalid");
        const userID = readId(body.id);
        const resource = parent(call);
        const { id } = resource;
        call.principal.require(need("write", resource));
        const user = await services.line().members.add({ userID, resourceType: type, resourceID: id, role });
        return json(201, shownMember(user, role, hasLogs));
      })
      .delete(`${list}/:userID`, async (call) => {
        checkParent(given, call.params[name]!, call);
        const userID = readId(call.params["userID"]!);
        const resource = parent(call);
        const { id } = resource;
        call.principal.require(need("write", resource));
        await services.line().members.remove(type, id, userID);
        return noContent();
      });
  }
  return routes;
}
