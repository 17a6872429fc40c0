// Permissions of the v2 line: an action on a type of resource, everywhere, in one organization, or on one resource.
import { RESOURCE_TYPES, type RecordPermission, type ResourceType } from "../store/kinds.ts";

export type Permission = RecordPermission;

/** What a request needs. */
export interface Need {
  readonly action: "read" | "write";
  readonly type: ResourceType;
  readonly id?: string;
  readonly orgID?: string;
}

/** Whether one of the held permissions covers the need. `instance` covers everything of its action. */
export function covers(held: readonly Permission[], { action, type, id, orgID }: Need): boolean {
  return held.some(({ action: heldAction, resource }) => {
    if (heldAction !== action) return false;
    if (resource.type === "instance") return true;
    if (resource.type !== type) return false;
    const isThere = resource.orgID === undefined || resource.orgID === orgID;
    if (resource.id === undefined) return isThere;
    // Creators of an organization's tokens may write any id into them: it counts in that organization alone, and covers nothing that is in
    // none, as users are.
    return resource.id === id && (isThere || (type === "orgs" && resource.orgID === id));
  });
}

/** What a holder must be permitted in order to hand on this permission. */
export function needOf({ action, resource }: Permission): Need {
  return { action, ...resource };
}

/** `read:orgs/<org>/buckets/<id>`, as messages spell it. */
export function needText({ action, type, id, orgID }: Need): string {
  return `${action}:${orgID === undefined ? "" : `orgs/${orgID}/`}${type}${id === undefined ? "" : `/${id}`}`;
}

/** Of the operator, whom setup makes: everything, everywhere. */
export function operatorPermissions(): Permission[] {
  return RESOURCE_TYPES.filter((type) => type !== "instance").flatMap((type) => both({ type }));
}

/** Of a session of an organization's owner. */
export function ownerPermissions(orgID: string): Permission[] {
  return RESOURCE_TYPES.flatMap((type) => (type === "instance" ? [] : both(ofOrganization(type, orgID))));
}

/** Of a session of an organization's member. */
export function memberPermissions(orgID: string): Permission[] {
  return ownerPermissions(orgID).filter(({ action }) => action === "read");
}

/** The permissions of any user on the own account. */
export function userPermissions(userID: string): Permission[] {
  return both({ type: "users", id: userID });
}

function ofOrganization(type: ResourceType, orgID: string): Permission["resource"] {
  return type === "orgs" ? { type, id: orgID } : { type, orgID };
}

/** Permission to read and to write a resource. */
export function both(resource: Permission["resource"]): Permission[] {
  return [
    { action: "read", resource },
    { action: "write", resource },
  ];
}
