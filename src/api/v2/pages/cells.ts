// Cells of a dashboard and their views: below /api/v2/dashboards/{dashboardID}.
import { type Static, Type as t } from "@sinclair/typebox";
import {
  type CellHead,
  type Dashboard,
  type DashboardCell,
  type NewCell,
  type ReplacingCell,
  viewOf,
} from "../../../metadata/resources/pages/dashboards.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { checkedMembers, IdText, JsonBodies } from "../app/params.ts";
import type { V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { shownProperties } from "./view-properties.ts";

const whole = t.Optional(t.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }));
const place = { x: whole, y: whole, w: whole, h: whole };
const properties = t.Optional(t.Union([t.Object({}, { additionalProperties: true }), t.Null()]));

/** A cell within a dashboard's body. */
export const CellBody = t.Object({ id: IdText, ...place, name: t.Optional(t.String()), properties });
export const NewCellBody = t.Object({ ...place, name: t.Optional(t.String()), usingView: t.Optional(t.String()) });
export const PlaceBody = t.Object(place);
export const PlacedCellBody = t.Object({ ...place, id: t.Optional(t.String()) });
export const ViewBody = t.Object({ name: t.Optional(t.String()), properties });

const HEAD = "bad request json body: ";

type Find = (call: V2Call, action: "read" | "write") => Dashboard;

/** Adds the routes. `find`: the dashboard of a call, which the sender may read or write. */
export function addCellRoutes(routes: V2Routes, services: V2Services, item: string, find: Find): V2Routes {
  const bodies = new JsonBodies(services.now);
  const dashboards = () => services.line().dashboards;
  const self = ({ id }: Dashboard) => `/api/v2/dashboards/${id}`;
  const cellIdOf = ({ params }: V2Call) => {
    readId(params["dashboardID"]!);
    return readId(params["cellID"]!);
  };
  const cell = `${item}/cells/:cellID`;
  return routes
    .post(`${item}/cells`, async (call) => {
      readId(call.params["dashboardID"]!);
      const given = (await bodies.rawValue(call.request, HEAD)) ?? {};
      const { usingView, ...body } = checkedMembers(NewCellBody, given, HEAD);
      // a place that is null is one, too; other members do not count
      const isEmpty =
        usingView === undefined && body.name === undefined && Object.keys(place).every((member) => !(member in Object(given)));
      if (isEmpty) throw new TsdbError("bad_request", "req body is empty");
      const view = usingView === undefined ? null : readViewId(usingView);
      const dashboard = find(call, "write");
      const made = await dashboards().addCell(dashboard.id, { ...placeOf(body), name: body.name ?? "" }, view);
      return json(201, shownCell(self(dashboard), made, "none"));
    })
    .put(`${item}/cells`, async (call) => {
      readId(call.params["dashboardID"]!);
      // null is a list without cells
      const given = (await bodies.rawValue(call.request, "")) ?? [];
      if (!Array.isArray(given)) throw new TsdbError("bad_request", "json: cannot unmarshal the body: a list of cells is wanted");
      const places = given.map((each) => {
        const { id, ...rest } = checkedMembers(PlacedCellBody, each);
        if (id === undefined) throw new TsdbError("bad_request", "cannot provide empty cell id");
        return { id: readId(id), ...placeOf(rest) };
      });
      const dashboard = find(call, "write");
      const { cells } = await dashboards().replaceCells(dashboard.id, places);
      const path = self(dashboard);
      return json(201, { cells: cells.map((each) => shownCell(path, each, "none")), links: { self: `${path}/cells` } });
    })
    .patch(cell, async (call) => {
      const cellID = cellIdOf(call);
      const body = await bodies.read(PlaceBody, call.request, "");
      const { x, y, w, h } = body;
      const changes = Object.fromEntries(Object.entries({ x, y, w, h }).filter(([, value]) => value !== undefined));
      if (Object.keys(changes).length === 0) throw new TsdbError("bad_request", "must update at least one attribute");
      const dashboard = find(call, "write");
      return json(200, shownCell(self(dashboard), await dashboards().updateCell(dashboard.id, cellID, changes), "none"));
    })
    .delete(cell, async (call) => {
      const cellID = cellIdOf(call);
      await dashboards().removeCell(find(call, "write").id, cellID);
      return noContent();
    })
    .get(`${cell}/view`, (call) => {
      const cellID = cellIdOf(call);
      const dashboard = find(call, "read");
      return json(200, shownView(self(dashboard), cellID, viewOf(dashboard, cellID)));
    })
    .patch(`${cell}/view`, async (call) => {
      const cellID = cellIdOf(call);
      const { name, properties: given } = await bodies.read(ViewBody, call.request, "");
      // an empty view alone is no change
      const isEmpty = given === undefined || (given as { readonly shape?: unknown } | null)?.shape === "empty";
      if (name === undefined && isEmpty) throw new TsdbError("bad_request", "expected at least one attribute to be updated");
      const dashboard = find(call, "write");
      const changes = { ...(name === undefined ? {} : { name }), ...(given === undefined ? {} : { properties: given }) };
      const changed = await dashboards().updateView(dashboard.id, cellID, changes);
      return json(200, shownView(self(dashboard), cellID, changed));
    });
}

/** A cell of a new dashboard. */
export function newCell({ name = "", properties: given = null, ...body }: Static<typeof CellBody>): NewCell {
  return { ...placeOf(body), name, properties: given };
}

/** A cell in the place of the former ones: it keeps the id that it was given. */
export function replacingCell(body: Static<typeof CellBody>): ReplacingCell {
  return { ...newCell(body), ...(body.id === undefined ? {} : { id: readId(body.id) }) };
}

/** Which cells show their views: none, all, or those that were given one. */
export type ShownViews = "none" | "all" | "given";

/** A cell as clients read it. `path`: of its dashboard. */
export function shownCell(path: string, { name, properties: given, firstName, ...place }: DashboardCell, views: ShownViews): object {
  const isShown = views === "all" || (views === "given" && (name !== "" || given !== null));
  if (!isShown) return cellHead(path, firstName === undefined ? place : { ...place, firstName });
  return { ...cellHead(path, place), properties: shownProperties(given), ...(name === "" ? {} : { name }) };
}

/** A cell without its view. */
export function cellHead(path: string, { id, x, y, w, h, firstName }: CellHead): object {
  const self = `${path}/cells/${id}`;
  return {
    ...{ id, x, y, w, h, links: { self, view: `${self}/view` } },
    ...(firstName === undefined ? {} : { properties: shownProperties(null) }),
    ...(firstName === undefined || firstName === "" ? {} : { name: firstName }),
  };
}

function shownView(path: string, id: string, { name, properties: given }: Pick<DashboardCell, "name" | "properties">): object {
  return { id, name, links: { self: `${path}/cells/${id}` }, properties: shownProperties(given) };
}

function placeOf({ x = 0, y = 0, w = 0, h = 0 }: Static<typeof PlaceBody>) {
  return { x, y, w, h };
}

/** @throws TsdbError bad_request */
function readViewId(text: string): string {
  try {
    return readId(text);
  } catch (error) {
    throw new TsdbError("bad_request", HEAD + (error as Error).message);
  }
}
