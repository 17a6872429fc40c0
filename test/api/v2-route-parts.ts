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

type Needs = NonNullable<RouteRow["needs"]>;

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

/** Of a resource. Where lists of what the sender may not see are empty, the resource decides alone on its labels. */
export function labels(path: string, read: Needs, both: Needs, lists: Pick<RouteRow, "isEmptyUnseen"> = {}): RouteRow[] {
  const ofLabel = (w: World, ...actions: ("read" | "write")[]) =>
    lists.isEmptyUnseen ? [] : actions.map((action) => ({ action, resource: { type: "labels", orgID: w.orgID } }));
  return [
    { method: "GET", route: `${path}/labels`, needs: read, ...lists },
    {
      ...{ method: "POST", route: `${path}/labels`, status: 201 },
      needs: (w) => [...both(w), ...ofLabel(w, "read", "write")],
      body: (w) => ({ labelID: w.labelID }),
    },
    { method: "DELETE", route: `${path}/labels/:labelID`, needs: (w) => [...both(w), ...ofLabel(w, "write")], status: 204 },
  ];
}
