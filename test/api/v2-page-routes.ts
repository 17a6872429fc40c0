// Who may ask the routes of dashboards, variables, configurations of agents and sources.
import { labels, members, read, write } from "./v2-route-parts.ts";
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
  ...labels(DASHBOARD, dashboard("read"), dashboardBoth),
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
  ...labels(VARIABLE, variable("read"), variableBoth, { isEmptyUnseen: true }),
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
  ...members(TELEGRAF, telegraf("read"), telegrafBoth, { isEmptyUnseen: true }),
  ...labels(TELEGRAF, telegraf("read"), telegrafBoth, { isEmptyUnseen: true }),
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

const NOTEBOOKS = "/api/v2private/notebooks";
const notebook = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "notebooks", id: world.notebookID } }];
const newNotebook = ({ orgID }: World) => ({ orgID, name: "n", spec: { a: 1 } });
const ANNOTATIONS = "/api/v2private/annotations";
const annotation = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "annotations", id: world.annotationID } }];
const annotations = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "annotations", orgID: world.orgID } }];
const stream = (world: World) => [{ action: "write" as const, resource: { type: "annotations", id: world.streamID } }];
const STREAMS = "/api/v2private/streams";
const organization = ({ orgID }: World) => `?orgID=${orgID}`;
const deleted = ({ orgID }: World) => `?orgID=${orgID}&stream=s&startTime=2019-01-01T00:00:00Z&endTime=2021-01-01T00:00:00Z`;

/** Of notebooks, annotations and their streams. */
export const NOTEBOOK_ROUTES: readonly RouteRow[] = [
  { method: "GET", route: NOTEBOOKS, query: organization, needs: (w) => [read("notebooks", { orgID: w.orgID })] },
  { method: "POST", route: NOTEBOOKS, needs: (w) => [write("notebooks", { orgID: w.orgID })], body: newNotebook },
  { method: "GET", route: `${NOTEBOOKS}/:notebookID`, needs: notebook("read") },
  { method: "PUT", route: `${NOTEBOOKS}/:notebookID`, needs: notebook("write"), body: newNotebook },
  { method: "PATCH", route: `${NOTEBOOKS}/:notebookID`, needs: notebook("write"), body: newNotebook },
  { method: "DELETE", route: `${NOTEBOOKS}/:notebookID`, needs: notebook("write"), status: 204 },
  {
    method: "GET",
    route: "/api/v2/documents/:namespace",
    query: organization,
    needs: (w) => [read("documents", { orgID: w.orgID })],
  },
  { method: "GET", route: ANNOTATIONS, query: organization, needs: annotations("read") },
  { method: "POST", route: ANNOTATIONS, query: organization, needs: annotations("write"), body: () => [{ summary: "a" }] },
  { method: "DELETE", route: ANNOTATIONS, query: deleted, needs: annotations("write"), status: 204 },
  { method: "GET", route: `${ANNOTATIONS}/:annotationID`, needs: annotation("read") },
  { method: "PUT", route: `${ANNOTATIONS}/:annotationID`, needs: annotation("write"), body: () => ({ summary: "a" }) },
  { method: "DELETE", route: `${ANNOTATIONS}/:annotationID`, needs: annotation("write"), status: 204 },
  { method: "GET", route: STREAMS, query: organization, needs: annotations("read") },
  { method: "PUT", route: STREAMS, query: organization, needs: annotations("write"), body: () => ({ stream: "s" }) },
  { method: "DELETE", route: STREAMS, query: (w) => `?orgID=${w.orgID}&stream=s`, needs: annotations("write"), status: 204 },
  { method: "PUT", route: `${STREAMS}/:streamID`, needs: stream, body: () => ({ stream: "s" }) },
  { method: "DELETE", route: `${STREAMS}/:streamID`, needs: stream, status: 204 },
];
