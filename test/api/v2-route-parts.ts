// Parts of the tables of routes: permissions, and the routes of members and owners.
import type { NeededPermission, RouteRow, World } from "./v2-routes.ts";

/** The right to read. */
export const read = (type: string, where: { id?: string; orgID?: string } = {}): NeededPermission => ({
  action: "read",
  resource: { type, ...where },
});
/** The right to change. */
export const write = (type: string, where: { id?: string; orgID?: string } = {}): NeededPermission => ({
  action: "write",
  resource: { type, ...where },
});

/** The body that adds a member. */
const member = (world: World) => ({ id: world.otherUserID });

/** Of a resource. */
export function members(
  path: string,
  read: RouteRow["needs"],
  write: RouteRow["needs"],
  lists: Pick<RouteRow, "isEmptyUnseen"> = {},
): RouteRow[] {
  return ["members", "owners"].flatMap((role) => [
    { method: "GET", route: `${path}/${role}`, needs: read!, ...lists },
    { method: "POST", route: `${path}/${role}`, needs: write!, body: member, status: 201 },
    { method: "DELETE", route: `${path}/${role}/:userID`, needs: write!, status: 204 },
  ]);
}
