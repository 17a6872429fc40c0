// Good requests about dashboards, variables, configurations of agents and sources.
import { at, labelled, type Make, membersOf, org } from "./good-parts.ts";
import { ORG, type V2World } from "./world.ts";

const dashboard = (world: V2World) => world.freshDashboard().then((id) => `/api/v2/dashboards/${id}`);
const cell = (world: V2World) => world.freshCell().then(({ path }) => path);
const variable = (world: V2World) => world.freshVariable().then((id) => `/api/v2/variables/${id}`);
const telegraf = (world: V2World) => world.freshTelegraf().then((id) => `/api/v2/telegrafs/${id}`);
const source = (world: V2World) => world.freshSource().then((id) => `/api/v2/sources/${id}`);
const MARKDOWN = { type: "markdown", shape: "chronograf-v2", note: "# a title" };
const organization = ({ orgID }: V2World) => ({ query: { orgID } });
const notebook = (world: V2World) => world.freshNotebook().then((id) => `/api/v2private/notebooks/${id}`);
const notebookBody = (world: V2World) => ({ body: world.newNotebook() });
const annotation = (world: V2World) => world.freshAnnotation().then((id) => `/api/v2private/annotations/${id}`);
const annotationBody = (world: V2World) => ({ body: world.newAnnotation() });
const range = { startTime: "2019-01-01T00:00:00Z", endTime: "2021-01-01T00:00:00Z" };
const stream = (world: V2World) => world.freshStream().then(({ id }) => `/api/v2private/streams/${id}`);
const streamBody = (world: V2World) => ({ body: { stream: world.fresh(), description: "a text" } });

/** By `METHOD path`. */
export const GOOD_PAGES: Readonly<Record<string, Make>> = {
  "GET /api/v2/dashboards": async (world) => ({
    query: {
      ...{ ...org(world), id: await world.freshDashboard(), owner: world.userID, sortBy: "CreatedAt" },
      ...{ limit: "10", offset: "0", descending: "true" },
    },
  }),
  "POST /api/v2/dashboards": ({ orgID }) => ({ body: { orgID, name: "a name", description: "a text" } }),
  "GET /api/v2/dashboards/{dashboardID}": at(dashboard, () => ({ query: { include: "properties" } })),
  "PATCH /api/v2/dashboards/{dashboardID}": at(dashboard, () => ({
    body: { name: "a name", description: "a text", cells: [{ x: 1, y: 2, w: 3, h: 4, name: "a name", properties: { shape: "empty" } }] },
  })),
  "DELETE /api/v2/dashboards/{dashboardID}": at(dashboard),
  "POST /api/v2/dashboards/{dashboardID}/cells": at(
    async (world) => `${await dashboard(world)}/cells`,
    () => ({ body: { x: 1, y: 2, w: 3, h: 4, name: "a name" } }),
  ),
  "PUT /api/v2/dashboards/{dashboardID}/cells": async (world) => {
    const { path, id } = await world.freshCell();
    return { path: path.slice(0, path.lastIndexOf("/")), body: JSON.stringify([{ id, x: 1, y: 2, w: 3, h: 4 }]) };
  },
  "PATCH /api/v2/dashboards/{dashboardID}/cells/{cellID}": at(cell, () => ({ body: { x: 1, y: 2, w: 3, h: 4 } })),
  "DELETE /api/v2/dashboards/{dashboardID}/cells/{cellID}": at(cell),
  "GET /api/v2/dashboards/{dashboardID}/cells/{cellID}/view": at(async (world) => `${await cell(world)}/view`),
  "PATCH /api/v2/dashboards/{dashboardID}/cells/{cellID}/view": at(
    async (world) => `${await cell(world)}/view`,
    () => ({ body: { name: "a name", properties: MARKDOWN } }),
  ),
  "GET /api/v2/dashboards/{dashboardID}/labels": at(async (world) => `${await dashboard(world)}/labels`),
  "POST /api/v2/dashboards/{dashboardID}/labels": at(
    async (world) => `${await dashboard(world)}/labels`,
    async (world) => ({ body: { labelID: await world.freshLabel() } }),
  ),
  "DELETE /api/v2/dashboards/{dashboardID}/labels/{labelID}": at((world) => labelled(world, dashboard)),
  ...membersOf("/api/v2/dashboards/:dashboardID", (world) => world.freshDashboard()),
  "GET /api/v2/variables": (world) => ({ query: org(world) }),
  "POST /api/v2/variables": (world) => ({ body: world.newVariable() }),
  "GET /api/v2/variables/{variableID}": at(variable),
  "PATCH /api/v2/variables/{variableID}": at(variable, (world) => ({ body: world.newVariable() })),
  "PUT /api/v2/variables/{variableID}": at(variable, (world) => ({ body: world.newVariable() })),
  "DELETE /api/v2/variables/{variableID}": at(variable),
  "GET /api/v2/variables/{variableID}/labels": at(async (world) => `${await variable(world)}/labels`),
  "POST /api/v2/variables/{variableID}/labels": at(
    async (world) => `${await variable(world)}/labels`,
    async (world) => ({ body: { labelID: await world.freshLabel() } }),
  ),
  "DELETE /api/v2/variables/{variableID}/labels/{labelID}": at((world) => labelled(world, variable)),
  "GET /api/v2/telegraf/plugins": () => ({ query: { type: "input" } }),
  "GET /api/v2/telegrafs": ({ orgID }) => ({ query: { orgID } }),
  "POST /api/v2/telegrafs": (world) => ({ body: world.newTelegraf() }),
  "GET /api/v2/telegrafs/{telegrafID}": at(telegraf),
  "PUT /api/v2/telegrafs/{telegrafID}": at(telegraf, (world) => ({ body: world.newTelegraf() })),
  "DELETE /api/v2/telegrafs/{telegrafID}": at(telegraf),
  "GET /api/v2/telegrafs/{telegrafID}/labels": at(async (world) => `${await telegraf(world)}/labels`),
  "POST /api/v2/telegrafs/{telegrafID}/labels": at(
    async (world) => `${await telegraf(world)}/labels`,
    async (world) => ({ body: { labelID: await world.freshLabel() } }),
  ),
  "DELETE /api/v2/telegrafs/{telegrafID}/labels/{labelID}": at((world) => labelled(world, telegraf)),
  ...membersOf("/api/v2/telegrafs/:telegrafID", (world) => world.freshTelegraf()),
  "GET /api/v2/sources": () => ({ query: { org: ORG } }),
  "POST /api/v2/sources": (world) => ({ body: world.newSource() }),
  "GET /api/v2/sources/{sourceID}": at(source),
  "PATCH /api/v2/sources/{sourceID}": at(source, (world) => ({ body: world.newSource() })),
  "DELETE /api/v2/sources/{sourceID}": at(source),
  "GET /api/v2/sources/{sourceID}/health": at(async (world) => `${await source(world)}/health`),
  "GET /api/v2/sources/{sourceID}/buckets": at(
    async (world) => `${await source(world)}/buckets`,
    () => ({ query: { org: ORG } }),
  ),
  "GET /api/v2/documents/{namespace}": (world) => ({ path: "/api/v2/documents/templates", ...organization(world) }),
  "GET /api/v2private/notebooks": organization,
  "POST /api/v2private/notebooks": notebookBody,
  "GET /api/v2private/notebooks/{notebookID}": at(notebook),
  "PUT /api/v2private/notebooks/{notebookID}": at(notebook, notebookBody),
  "PATCH /api/v2private/notebooks/{notebookID}": at(notebook, notebookBody),
  "DELETE /api/v2private/notebooks/{notebookID}": at(notebook),
  "GET /api/v2private/annotations": ({ orgID }) => ({ query: { orgID, streamIncludes: "a name", ...range } }),
  "POST /api/v2private/annotations": (world) => ({ ...organization(world), body: JSON.stringify([world.newAnnotation()]) }),
  "DELETE /api/v2private/annotations": async (world) => {
    const { id, stream } = await world.freshStream();
    return { query: { orgID: world.orgID, stream, streamID: id, ...range } };
  },
  "GET /api/v2private/annotations/{annotationID}": at(annotation),
  "PUT /api/v2private/annotations/{annotationID}": at(annotation, annotationBody),
  "DELETE /api/v2private/annotations/{annotationID}": at(annotation),
  "GET /api/v2private/streams": ({ orgID }) => ({ query: { orgID, streamIncludes: "a name" } }),
  "PUT /api/v2private/streams": (world) => ({ ...organization(world), ...streamBody(world) }),
  "DELETE /api/v2private/streams": async (world) => ({ query: { orgID: world.orgID, stream: (await world.freshStream()).stream } }),
  "PUT /api/v2private/streams/{streamID}": at(stream, streamBody),
  "DELETE /api/v2private/streams/{streamID}": at(stream),
};
