// Operations on dashboards, their cells, variables, and configurations of agents.
import { Type as t } from "@sinclair/typebox";
import { LabelIdBody } from "../labels.ts";
import { NewCellBody, PlaceBody, PlacedCellBody, ViewBody } from "../pages/cells.ts";
import { DashboardBody } from "../pages/dashboards.ts";
import { PLUGIN_TYPES } from "../pages/telegraf-plugins.ts";
import { TelegrafBody } from "../pages/telegrafs.ts";
import { VariableBody, WholeVariableBody } from "../pages/variables.ts";
import { membersOf, PAGE } from "./accounts.ts";
import { done, id, jsonOf, made, ok, requiring, type Tag, text, type V2Operations } from "./described.ts";
import { LabelShape, LabelsShape, OneLabelShape } from "./shapes.ts";

const Id = t.String({ minLength: 16, maxLength: 16 });
const Time = t.String({ format: "date-time" });
const Links = t.Record(t.String(), t.String());
const PageLinks = t.Object({ prev: t.Optional(t.String()), self: t.String(), next: t.Optional(t.String()) });
const Properties = t.Object({}, { additionalProperties: true, description: "As the client gave them." });

const CellShape = t.Object(
  {
    ...{ id: Id, x: t.Integer(), y: t.Integer(), w: t.Integer(), h: t.Integer() },
    ...{ name: t.Optional(t.String()), properties: t.Optional(Properties), links: Links },
  },
  { $id: "Cell" },
);
const CellsShape = t.Object({ cells: t.Array(CellShape), links: Links }, { $id: "Cells" });
const ViewShape = t.Object({ id: Id, name: t.String(), properties: Properties, links: Links }, { $id: "View" });
const DashboardShape = t.Object(
  {
    ...{ id: Id, orgID: Id, name: t.String(), description: t.String(), meta: t.Object({ createdAt: Time, updatedAt: Time }) },
    ...{ cells: t.Array(CellShape), labels: t.Array(LabelShape), links: Links },
  },
  { $id: "Dashboard" },
);
const DashboardsShape = t.Object({ links: PageLinks, dashboards: t.Array(DashboardShape) }, { $id: "Dashboards" });
const VariableShape = t.Object(
  {
    ...{ id: Id, orgID: Id, name: t.String(), description: t.String(), selected: t.Union([t.Array(t.String()), t.Null()]) },
    arguments: t.Object(
      { type: t.String(), values: t.Any() },
      { description: "`constant`: a list; `map`; `query`: `query` and `language`." },
    ),
    ...{ createdAt: Time, updatedAt: Time, labels: t.Array(LabelShape), links: Links },
  },
  { $id: "Variable" },
);
const VariablesShape = t.Object({ links: PageLinks, variables: t.Array(VariableShape) }, { $id: "Variables" });

const organization = {
  ...{ orgID: id("Of this organization; goes before `org`."), org: text("Of the organization of this name.") },
};
const unnamed = { 404: { description: "No organization of this name." } };
const taken = { 422: { description: "The organization has a variable of this name." } };

const labelsOf = (item: string, tag: Tag, one: string): V2Operations => ({
  [`GET ${item}/labels`]: { tag, summary: `Lists the labels of ${one}`, answers: ok("The list.", LabelsShape) },
  [`POST ${item}/labels`]: {
    ...{ tag, summary: `Puts a label on ${one}`, body: jsonOf(requiring(LabelIdBody, "labelID")) },
    answers: { ...made("The label.", OneLabelShape), 422: { description: "It has the label." } },
  },
  [`DELETE ${item}/labels/:labelID`]: { tag, summary: `Takes a label off ${one}`, answers: done("It is off.") },
});

const DASHBOARD = "/api/v2/dashboards/:dashboardID";
const CELL = `${DASHBOARD}/cells/:cellID`;

const DASHBOARDS: V2Operations = {
  "GET /api/v2/dashboards": {
    ...{ tag: "Dashboards", summary: "Lists dashboards" },
    query: {
      ...{ ...PAGE, ...organization, id: id("This one; may be repeated."), ownerID: id("Owned by this user.") },
      sortBy: t.Optional(t.Union([t.Literal("ID"), t.Literal("CreatedAt"), t.Literal("UpdatedAt")])),
    },
    answers: { ...ok("Those that the sender may read.", DashboardsShape), ...unnamed },
  },
  "POST /api/v2/dashboards": {
    ...{ tag: "Dashboards", summary: "Makes a dashboard", body: jsonOf(requiring(DashboardBody, "orgID")) },
    answers: { ...made("As made.", DashboardShape), 404: { description: "No such organization." } },
  },
  [`GET ${DASHBOARD}`]: {
    ...{ tag: "Dashboards", summary: "Shows a dashboard" },
    query: { include: t.Optional(t.Literal("properties", { description: "Cells with their views." })) },
    answers: ok("The dashboard.", DashboardShape),
  },
  [`PATCH ${DASHBOARD}`]: {
    ...{ tag: "Dashboards", summary: "Changes a dashboard", description: "Given cells take the place of all others." },
    body: jsonOf(DashboardBody),
    answers: ok("As changed.", DashboardShape),
  },
  [`DELETE ${DASHBOARD}`]: { tag: "Dashboards", summary: "Deletes a dashboard", answers: done("It is gone.") },
  [`POST ${DASHBOARD}/cells`]: {
    ...{ tag: "Dashboards", summary: "Adds a cell", description: "`usingView`: the id of a cell whose view it begins with." },
    body: jsonOf(NewCellBody),
    answers: made("The cell.", CellShape),
  },
  [`PUT ${DASHBOARD}/cells`]: {
    ...{ tag: "Dashboards", summary: "Places cells anew", description: "Those that the list leaves out go." },
    body: jsonOf(t.Array(requiring(PlacedCellBody, "id"))),
    answers: { ...made("The cells.", CellsShape), 422: { description: "A cell is not of the dashboard." } },
  },
  [`PATCH ${CELL}`]: { tag: "Dashboards", summary: "Moves a cell", body: jsonOf(PlaceBody), answers: ok("The cell.", CellShape) },
  [`DELETE ${CELL}`]: { tag: "Dashboards", summary: "Removes a cell", answers: done("It is gone.") },
  [`GET ${CELL}/view`]: { tag: "Dashboards", summary: "Shows the view of a cell", answers: ok("The view.", ViewShape) },
  [`PATCH ${CELL}/view`]: {
    ...{
      tag: "Dashboards",
      summary: "Changes the view of a cell",
      description: "Properties are kept as they come. Members of its type that are left out are shown with their defaults.",
    },
    body: jsonOf(ViewBody),
    answers: ok("The view.", ViewShape),
  },
  ...labelsOf(DASHBOARD, "Dashboards", "a dashboard"),
  ...membersOf(DASHBOARD, "Dashboards", "a dashboard"),
};

const VARIABLE = "/api/v2/variables/:variableID";

const VARIABLES: V2Operations = {
  "GET /api/v2/variables": {
    ...{ tag: "Variables", summary: "Lists variables", query: { ...PAGE, ...organization } },
    answers: { ...ok("Those that the sender may read.", VariablesShape), ...unnamed },
  },
  "POST /api/v2/variables": {
    ...{ tag: "Variables", summary: "Makes a variable", body: jsonOf(requiring(VariableBody, "orgID", "name", "arguments")) },
    answers: { ...made("As made.", VariableShape), ...taken, 404: { description: "No such organization." } },
  },
  [`GET ${VARIABLE}`]: { tag: "Variables", summary: "Shows a variable", answers: ok("The variable.", VariableShape) },
  [`PATCH ${VARIABLE}`]: {
    ...{ tag: "Variables", summary: "Changes a variable", body: jsonOf(VariableBody) },
    answers: { ...ok("As changed.", VariableShape), ...taken },
  },
  [`PUT ${VARIABLE}`]: {
    ...{ tag: "Variables", summary: "Replaces a variable", body: jsonOf(requiring(WholeVariableBody, "orgID", "name", "arguments")) },
    answers: { ...ok("As changed.", VariableShape), ...taken },
  },
  [`DELETE ${VARIABLE}`]: { tag: "Variables", summary: "Deletes a variable", answers: done("It is gone.") },
  ...labelsOf(VARIABLE, "Variables", "a variable"),
};

const TELEGRAF = "/api/v2/telegrafs/:telegrafID";
const TelegrafShape = t.Object(
  {
    ...{ id: Id, orgID: Id, name: t.Optional(t.String()), description: t.Optional(t.String()) },
    config: t.Optional(t.String({ description: "TOML." })),
    metadata: t.Object(
      { buckets: t.Optional(t.Array(t.String())) },
      { additionalProperties: true, description: "`buckets`: those of its v2 outputs, or as the client gave them." },
    ),
    ...{ labels: t.Array(LabelShape), links: Links },
  },
  { $id: "Telegraf" },
);
const TelegrafsShape = t.Object({ configurations: t.Array(TelegrafShape) }, { $id: "Telegrafs" });

const PluginsShape = t.Object(
  {
    version: t.String({ description: "Of the agent that has them." }),
    os: t.Optional(t.String()),
    plugins: t.Array(t.Object({ type: t.String(), name: t.String(), description: t.String(), config: t.String({ description: "TOML." }) })),
  },
  { $id: "TelegrafPlugins" },
);

const TELEGRAFS: V2Operations = {
  "GET /api/v2/telegraf/plugins": {
    ...{ tag: "Telegraf configurations", summary: "Lists the plugins that agents can be configured with" },
    query: { type: t.Optional(t.Unsafe<string>({ type: "string", enum: PLUGIN_TYPES, description: "Of this type." })) },
    answers: ok("Name, what it is for, and a configuration to begin with.", PluginsShape),
  },
  "GET /api/v2/telegrafs": {
    ...{ tag: "Telegraf configurations", summary: "Lists configurations of agents" },
    query: { orgID: id("Of this organization.") },
    answers: ok("Those that the sender may read.", TelegrafsShape),
  },
  "POST /api/v2/telegrafs": {
    ...{ tag: "Telegraf configurations", summary: "Keeps a configuration", body: jsonOf(requiring(TelegrafBody, "orgID")) },
    answers: { ...made("As kept.", TelegrafShape), 404: { description: "No such organization." } },
  },
  [`GET ${TELEGRAF}`]: {
    ...{ tag: "Telegraf configurations", summary: "Reads a configuration" },
    description: "TOML, for `telegraf --config <this address>`; `Accept` chooses the object in JSON, or a file.",
    answers: {
      200: {
        description: "The configuration.",
        content: { "application/toml": t.String(), "application/json": TelegrafShape, "application/octet-stream": t.String() },
      },
    },
  },
  [`PUT ${TELEGRAF}`]: {
    ...{ tag: "Telegraf configurations", summary: "Replaces a configuration", body: jsonOf(TelegrafBody) },
    answers: ok("As changed.", TelegrafShape),
  },
  [`DELETE ${TELEGRAF}`]: { tag: "Telegraf configurations", summary: "Deletes a configuration", answers: done("It is gone.") },
  ...labelsOf(TELEGRAF, "Telegraf configurations", "a configuration"),
  ...membersOf(TELEGRAF, "Telegraf configurations", "a configuration"),
};

/** By `METHOD path`. */
export const PAGES: V2Operations = { ...DASHBOARDS, ...VARIABLES, ...TELEGRAFS };
