// The roles that users have, and what they permit.
import type { Caller, RoleDef, RolePermission, UserDef } from "../model/access.ts";
import { INTERNAL_DATABASE } from "../model/names.ts";

type BuiltInRole = Pick<RoleDef, "id" | "name" | "description" | "isRequired" | "permissions">;

const ALL_DATABASES = { resourceType: "database", allResources: true } as const;

/** Made when users are turned on. At least one user has the required one. */
export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  {
    ...{ id: 1, name: "Admin", description: "Everything.", isRequired: true },
    permissions: [
      { ...ALL_DATABASES, actions: ["read", "write", "create", "describe", "delete"] },
      { resourceType: "token", actions: ["create", "read", "delete"] },
      { resourceType: "admin_token", actions: ["create", "read", "update", "delete"] },
      { resourceType: "user", actions: ["create", "read", "update", "delete"] },
      { resourceType: "role", actions: ["read"] },
    ],
  },
  {
    ...{ id: 2, name: "Auditor", description: "Sees who may do what, and what was done, but no rows.", isRequired: false },
    permissions: [
      { ...ALL_DATABASES, actions: ["describe"] },
      { resourceType: "database", actions: ["read"], identifiers: [INTERNAL_DATABASE] },
      { resourceType: "token", actions: ["read"] },
      { resourceType: "admin_token", actions: ["read"] },
      { resourceType: "user", actions: ["read"] },
      { resourceType: "role", actions: ["read"] },
    ],
  },
  {
    ...{ id: 3, name: "Member", description: "Reads and writes all databases.", isRequired: false },
    permissions: [{ ...ALL_DATABASES, actions: ["read", "write", "describe"] }],
  },
];

/** The caller with a user's roles. */
export function callerOfUser({ id, username }: UserDef, roles: readonly RoleDef[]): Caller {
  const permissions = roles.flatMap((role) => role.permissions);
  const isAdmin = roles.some(({ isRequired }) => isRequired);
  const has = (type: RolePermission["resourceType"], action: string, isMeant: (permission: RolePermission) => boolean = () => true) =>
    permissions.some((each) => each.resourceType === type && each.actions.includes(action) && isMeant(each));
  const hasDatabase = (name: string, action: string) =>
    has("database", action, ({ identifiers, allResources }) => {
      // all databases are those of users: the server's own, with all statements and tokens, must be named
      return identifiers?.includes(name) === true || (allResources === true && name !== INTERNAL_DATABASE);
    });
  return {
    token: null,
    user: { id, username },
    isAdmin,
    allows: (type, name, action) => {
      if (isAdmin) return true;
      if (type === "db") return hasDatabase(name, action);
      // metrics name databases, and say how busy each is
      if (type === "system") return name === "metrics" ? hasDatabase(INTERNAL_DATABASE, "read") : roles.length > 0;
      return has(type, action);
    },
  };
}
