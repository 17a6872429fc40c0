// Who may ask the routes of stacks and templates.
import type { NeededPermission, RouteRow, World } from "./v2-routes.ts";

const STACK = "/api/v2/stacks/:stack_id";
const byOrg = ({ orgID }: World) => `?orgID=${orgID}`;
const org =
  (action: "read" | "write") =>
  (world: World): NeededPermission[] => [{ action, resource: { type: "orgs", id: world.orgID } }];
const orgBoth = (world: World) => [...org("read")(world), ...org("write")(world)];
const newLabel = (world: World): NeededPermission => ({ action: "write", resource: { type: "labels", orgID: world.orgID } });

export const TEMPLATE_ROUTES: readonly RouteRow[] = [
  { method: "GET", route: "/api/v2/stacks", query: byOrg, needs: org("read") },
  { method: "POST", route: "/api/v2/stacks", needs: orgBoth, body: (w) => ({ orgID: w.orgID }), status: 201 },
  { method: "GET", route: STACK, needs: org("read") },
  { method: "PATCH", route: STACK, needs: org("write"), body: () => ({ name: "s" }) },
  { method: "DELETE", route: STACK, query: byOrg, needs: org("write"), status: 204 },
  { method: "POST", route: `${STACK}/uninstall`, query: byOrg, needs: org("write") },
  {
    method: "POST",
    route: "/api/v2/templates/apply",
    needs: (w) => [...org("read")(w), newLabel(w)],
    body: (w) => ({
      orgID: w.orgID,
      template: {
        contents: [{ apiVersion: "influxdata.com/v2alpha1", kind: "Label", metadata: { name: "l" }, spec: { name: crypto.randomUUID() } }],
      },
    }),
    status: 201,
  },
  { method: "POST", route: "/api/v2/templates/export", needs: org("read"), body: (w) => ({ stackID: w.stack_id }) },
];
