// Who may ask the routes of dashboards, variables, configurations of agents and sources.
import { members, read, write } from "./v2-route-parts.ts";
import type { RouteRow, World } from "./v2-routes.ts";

const DASHBOARD = "/api/v2/dashboards/:dashboardID";
const dashboard = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "dashboards", id: world.dashboardID } }];
const dashboardBoth = (world: World) => [...dashboard("read")(world), ...dashboard("write")(world)];
const VARIABLE = "/api/v2/variables/:variableID";
const variable = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "variables", id: world.variableID } }];
const variableBoth = (world: World) => [...variable("read")(world), ...variable("write")(world)];
const newVariable = ({ orgID }: World) => ({ orgID, name: "w", arguments: { type: "constant", values: ["a"] } });
const TELEGRAF = "/api/v2/telegrafs/:telegrafID";
const telegraf = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "telegrafs", id: world.telegrafID } }];
const telegrafBoth = (world: World) => [...telegraf("read")(world), ...telegraf("write")(world)];

const SOURCE = "/api/v2/sources/:sourceID";
const source = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "sources", id: world.sourceID } }];

export const PAGE_ROUTES: readonly RouteRow[] = [
  { method: "GET", route: "/api/v2/dashboards", needs: dashboard("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/dashboards",
    needs: (w) => [write("dashboards", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, name: "d" }),
    status: 201,
  },
  { method: "GET", route: DASHBOARD, needs: dashboard("read") },
  { method: "PATCH", route: DASHBOARD, needs: dashboardBoth, body: () => ({ name: "d" }) },
  { method: "DELETE", route: DASHBOARD, needs: dashboard("write"), status: 204 },
  { method: "POST", route: `${DASHBOARD}/cells`, needs: dashboard("write"), body: () => ({ x: 1 }), status: 201 },
  { method: "PUT", route: `${DASHBOARD}/cells`, needs: dashboard("write"), body: (w) => [{ id: w.cellID, x: 1 }], status: 201 },
  { method: "PATCH", route: `${DASHBOARD}/cells/:cellID`, needs: dashboard("write"), body: () => ({ x: 1 }) },
  { method: "DELETE", route: `${DASHBOARD}/cells/:cellID`, needs: dashboard("write"), status: 204 },
  { method: "GET", route: `${DASHBOARD}/cells/:cellID/view`, needs: dashboard("read") },
  { method: "PATCH", route: `${DASHBOARD}/cells/:cellID/view`, needs: dashboard("write"), body: () => ({ name: "v" }) },
  ...members(DASHBOARD, dashboard("read"), dashboardBoth),
  { method: "GET", route: `${DASHBOARD}/labels`, needs: dashboard("read") },
  {
    method: "POST",
    route: `${DASHBOARD}/labels`,
    needs: (w) => [...dashboardBoth(w), read("labels", { orgID: w.orgID })],
    body: (w) => ({ labelID: w.labelID }),
    status: 201,
  },
  { method: "DELETE", route: `${DASHBOARD}/labels/:labelID`, needs: dashboardBoth, status: 204 },
  { method: "GET", route: "/api/v2/variables", needs: variable("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/variables",
    needs: (w) => [write("variables", { orgID: w.orgID })],
    body: newVariable,
    status: 201,
  },
  { method: "GET", route: VARIABLE, needs: variable("read") },
  { method: "PATCH", route: VARIABLE, needs: variableBoth, body: () => ({ name: "n" }) },
  { method: "PUT", route: VARIABLE, needs: variableBoth, body: newVariable },
  { method: "DELETE", route: VARIABLE, needs: variableBoth, status: 204 },
  { method: "GET", route: `${VARIABLE}/labels`, needs: variable("read") },
  {
    method: "POST",
    route: `${VARIABLE}/labels`,
    needs: (w) => [...variableBoth(w), read("labels", { orgID: w.orgID })],
    body: (w) => ({ labelID: w.labelID }),
    status: 201,
  },
  { method: "DELETE", route: `${VARIABLE}/labels/:labelID`, needs: variableBoth, status: 204 },
  { method: "GET", route: "/api/v2/telegraf/plugins", needs: () => [] },
  { method: "GET", route: "/api/v2/telegrafs", needs: telegraf("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/telegrafs",
    needs: (w) => [write("telegrafs", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, name: "t", config: "[agent]" }),
    status: 201,
  },
  { method: "GET", route: TELEGRAF, needs: telegraf("read") },
  { method: "PUT", route: TELEGRAF, needs: telegrafBoth, body: () => ({ name: "n", config: "[agent]" }) },
  { method: "DELETE", route: TELEGRAF, needs: telegrafBoth, status: 204 },
  ...members(TELEGRAF, telegraf("read"), telegrafBoth),
  { method: "GET", route: `${TELEGRAF}/labels`, needs: telegraf("read") },
  {
    method: "POST",
    route: `${TELEGRAF}/labels`,
    needs: (w) => [...telegrafBoth(w), read("labels", { orgID: w.orgID })],
    body: (w) => ({ labelID: w.labelID }),
    status: 201,
  },
  { method: "DELETE", route: `${TELEGRAF}/labels/:labelID`, needs: telegrafBoth, status: 204 },
  { method: "GET", route: "/api/v2/sources", needs: source("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/sources",
    needs: (w) => [write("sources", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, name: "s", type: "v2", url: "http://localhost" }),
    status: 201,
  },
  { method: "GET", route: SOURCE, needs: source("read") },
  { method: "PATCH", route: SOURCE, needs: source("write"), body: () => ({ name: "n" }) },
  { method: "DELETE", route: SOURCE, needs: source("write"), status: 204 },
  { method: "GET", route: `${SOURCE}/health`, needs: source("read") },
  { method: "GET", route: `${SOURCE}/buckets`, needs: source("read") },
];
