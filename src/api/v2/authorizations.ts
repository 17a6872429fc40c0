// API tokens: /api/v2/authorizations. A token never permits more than its creator may do.
import { type Static, Type as t } from "@sinclair/typebox";
import { needOf, needText, type Permission } from "../../metadata/access/permissions.ts";
import type { Principal } from "../../metadata/access/principal.ts";
import type { AuthorizationHead, AuthorizationUpdate, NewAuthorization } from "../../metadata/resources/authorizations.ts";
import { readId } from "../../metadata/store/ids.ts";
import { RESOURCE_TYPES, type ResourceType, type Status } from "../../metadata/store/kinds.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { found, listAnswer } from "./app/list-answer.ts";
import { IdText, idIn, JsonBodies, type SearchParams } from "./app/params.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { AUTHORIZATIONS, shownAuthorization } from "./shown.ts";

const text = t.Optional(t.Union([t.String(), t.Null()]));
const PermissionBody = t.Object({
  action: text,
  resource: t.Optional(t.Union([t.Object({ type: text, id: text, orgID: text }), t.Null()])),
});
export const AuthorizationBody = t.Object({
  orgID: IdText,
  userID: IdText,
  status: t.Optional(t.String()),
  description: t.Optional(t.String()),
  permissions: t.Optional(t.Array(PermissionBody)),
  token: t.Optional(t.String()),
});
/** The token is the server's. */
const NewBody = t.Omit(AuthorizationBody, ["token"]);
export const AuthorizationUpdateBody = t.Object({ status: t.Optional(t.String()), description: t.Optional(t.String()) });

const PERMISSIONS_MAX = 1000;
const HEAD = "invalid json structure: ";

export const authorizationRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  return new V2Routes(services)
    .get(AUTHORIZATIONS, ({ principal, search }) => {
      const id = search.id("id");
      const filter = readFilter(services, search);
      const all = id === undefined ? line().authorizations.heads(filter) : [line().authorizations.head(id)];
      const visible = all.filter((authorization) => canRead(principal, authorization));
      const items = found(
        visible,
        (each) => line().authorizations.find(each),
        (authorization) => shownAuthorization(line(), authorization),
      );
      return listAnswer("authorizations", items, { links: { self: AUTHORIZATIONS } });
    })
    .post(AUTHORIZATIONS, async ({ principal, request }) => {
      const wanted = readNew(await bodies.read(NewBody, request, HEAD), principal);
      requireAll(principal, needsOfAuthorization("write", wanted));
      requireGiven(principal, wanted.permissions);
      requireOwn(wanted);
      return json(201, shownAuthorization(line(), await line().authorizations.create(wanted)));
    })
    .get(`${AUTHORIZATIONS}/:authID`, ({ principal, params }) => {
      const { authorizations } = line();
      const head = authorizations.head(readId(params["authID"]!));
      requireAll(principal, needsOfAuthorization("read", head));
      return json(200, shownAuthorization(line(), authorizations.get(head.id)));
    })
    .patch(`${AUTHORIZATIONS}/:authID`, async ({ principal, params, request }) => {
      const id = readId(params["authID"]!);
      const body = await bodies.read(AuthorizationUpdateBody, request, "");
      const found = line().authorizations.head(id);
      requireAll(principal, [...needsOfAuthorization("read", found), ...needsOfAuthorization("write", found)]);
      const update = readUpdate(body, "encodeAuthorization: unknown authorization status");
      return json(200, shownAuthorization(line(), await line().authorizations.update(id, update)));
    })
    .delete(`${AUTHORIZATIONS}/:authID`, async ({ principal, params }) => {
      const id = readId(params["authID"]!);
      requireAll(principal, needsOfAuthorization("write", line().authorizations.head(id)));
      await line().authorizations.delete(id);
      return noContent();
    });
};

/** An unknown name is an error, an unknown id finds nothing. Names beside ids are looked up only with `checksNames`, and do not count.
 *  @throws TsdbError bad_request, not_found */
export function readFilter(
  services: V2Services,
  search: SearchParams,
  checksNames = false,
): { readonly orgID?: string; readonly userID?: string } {
  const { organizations, users } = services.line();
  const [givenOrgID, givenUserID] = [search.id("orgID"), search.id("userID")];
  const idOf = (given: string | undefined, name: string | undefined, find: (name: string) => { readonly id: string }) => {
    if (name === undefined || (given !== undefined && !checksNames)) return given;
    const { id } = find(name);
    return given ?? id;
  };
  const userID = idOf(givenUserID, search.get("user"), (name) => users.byName(name));
  const orgID = idOf(givenOrgID, search.get("org"), (name) => organizations.byName(name));
  return { ...(orgID === undefined ? {} : { orgID }), ...(userID === undefined ? {} : { userID }) };
}

type Needs = readonly { readonly action: "read" | "write"; readonly type: ResourceType; readonly id?: string; readonly orgID?: string }[];

/** The permissions that an action on an authorization requires. */
export function needsOfAuthorization(
  action: "read" | "write",
  { id, orgID, userID }: { id?: string; orgID: string; userID: string },
): Needs {
  return [
    { action, type: "authorizations", ...(id === undefined ? {} : { id }), orgID },
    { action, type: "users", id: userID },
  ];
}

/** @throws TsdbError forbidden */
export function requireAll(principal: Principal, needs: Needs): void {
  for (const need of needs) principal.require(need);
}

/** True if the principal may read the authorization. */
export function canRead(principal: Principal, authorization: AuthorizationHead): boolean {
  return needsOfAuthorization("read", authorization).every((need) => principal.allows(need));
}

/** A new one for the sender, unless it names another user. @throws TsdbError bad_request */
export function readNew(body: Static<typeof AuthorizationBody>, principal: Principal): NewAuthorization {
  const orgID = body.orgID === undefined ? undefined : idIn(body.orgID, HEAD);
  const userID = body.userID === undefined ? principal.userID : idIn(body.userID, HEAD);
  const permissions = (body.permissions ?? []).map(readResource).map(readPermission);
  if (permissions.length === 0) throw new TsdbError("bad_request", "authorization must include permissions");
  if (permissions.length > PERMISSIONS_MAX)
    throw new TsdbError("bad_request", `an authorization has at most ${PERMISSIONS_MAX} permissions`);
  if (orgID === undefined) throw new TsdbError("bad_request", "org id required: invalid ID");
  const status = readStatus(body.status ?? "", "invalid status: must be active or inactive");
  return { orgID, userID, status, description: body.description ?? "", permissions };
}

/** @throws TsdbError bad_request for permissions of another organization */
export function requireOwn({ orgID, permissions }: Pick<NewAuthorization, "orgID" | "permissions">): void {
  const foreign = permissions.find(({ resource }) => resource.orgID !== undefined && resource.orgID !== orgID);
  if (foreign === undefined) return;
  throw new TsdbError("bad_request", `permission ${needText(needOf(foreign))} is not for org id ${orgID}`);
}

/** Ids are read before anything else, as they are part of decoding. @throws TsdbError bad_request */
function readResource({ action, resource }: Static<typeof PermissionBody>) {
  const [id, orgID] = [resource?.id ?? undefined, resource?.orgID ?? undefined].map((text) =>
    text === undefined ? text : idIn(text, HEAD),
  );
  return { action, resource, id, orgID };
}

function readPermission({ action, resource, id, orgID }: ReturnType<typeof readResource>): Permission {
  const type = RESOURCE_TYPES.find((each) => each === resource?.type);
  if (type === undefined) throw new TsdbError("bad_request", "invalid resource type for permission: unknown resource type for permission");
  if (action !== "read" && action !== "write") {
    throw new TsdbError("bad_request", "invalid action type for permission: unknown action for permission");
  }
  return { action, resource: { type, ...(id === undefined ? {} : { id }), ...(orgID === undefined ? {} : { orgID }) } };
}

/** @throws TsdbError forbidden for permissions that the sender does not have */
export function requireGiven(principal: Principal, permissions: readonly Permission[]): void {
  for (const permission of permissions) {
    const need = needOf(permission);
    if (principal.allows(need)) continue;
    throw new TsdbError("forbidden", `permission ${needText(need)} is not allowed: ${needText(need)} is unauthorized`);
  }
}

/** @throws TsdbError bad_request */
export function readUpdate(body: Static<typeof AuthorizationUpdateBody>, unknownStatus: string): AuthorizationUpdate {
  const status = body.status === undefined ? {} : { status: readStatus(body.status, unknownStatus) };
  return { ...status, ...(body.description === undefined ? {} : { description: body.description }) };
}

/** An empty status is active, also in a change. */
function readStatus(status: string, unknown: string): Status {
  if (status === "") return "active";
  if (status !== "active" && status !== "inactive") throw new TsdbError("bad_request", unknown);
  return status;
}
