// Members and owners below a resource: GET and POST …/members, DELETE …/members/{userID}, the same of owners.
import { Type as t } from "@sinclair/typebox";
import type { Role } from "../../metadata/resources/members.ts";
import { readId } from "../../metadata/store/ids.ts";
import type { ResourceType } from "../../metadata/store/kinds.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { JsonBodies } from "./app/params.ts";
import type { V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { shownMember } from "./shown.ts";

export const MemberBody = t.Object({ id: t.Optional(t.String()), name: t.Optional(t.String()) });

export interface MemberParent {
  /** Of the resource's list. */
  readonly path: string;
  readonly type: ResourceType;
  /** The resource of a call. @throws TsdbError bad_request, not_found, also where the sender may not see it */
  readonly parent: (call: V2Call) => { readonly id: string; readonly orgID: string };
}

/** Adds the routes for a resource whose id is the first parameter of the path. */
export function addMemberRoutes(routes: V2Routes, services: V2Services, { path, type, parent }: MemberParent): V2Routes {
  const bodies = new JsonBodies(services.now);
  const name = type === "orgs" ? "orgID" : `${type.slice(0, -1)}ID`;
  for (const role of ["member", "owner"] as const satisfies readonly Role[]) {
    const list = `${path}/:${name}/${role}s`;
    routes
      .get(list, (call) => {
        const { id, orgID } = parent(call);
        call.principal.require(needOfMembers("read", orgID));
        const users = services.line().members.list(type, id, role);
        return json(200, { links: { self: `${path}/${id}/${role}s` }, users: users.map((user) => shownMember(user, role)) });
      })
      .post(list, async (call) => {
        const { id, orgID } = parent(call);
        const body = await bodies.read(MemberBody, call.request, "");
        if (body.id === undefined) throw new TsdbError("bad_request", "user id missing or invalid");
        const userID = readId(body.id);
        call.principal.require(needOfMembers("write", orgID));
        const user = await services.line().members.add({ userID, resourceType: type, resourceID: id, role });
        return json(201, shownMember(user, role));
      })
      .delete(`${list}/:userID`, async (call) => {
        const { id, orgID } = parent(call);
        const userID = readId(call.params["userID"]!);
        call.principal.require(needOfMembers("write", orgID));
        await services.line().members.remove(type, id, userID);
        return noContent();
      });
  }
  return routes;
}

function needOfMembers(action: "read" | "write", orgID: string) {
  return { action, type: "orgs", id: orgID, orgID } as const;
}
