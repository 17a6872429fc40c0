// Dashboards: /api/v2/dashboards. Their cells are in cells.ts.
import { Type as t } from "@sinclair/typebox";
import { CELLS_MAX, type Dashboard, type DashboardSummary } from "../../../metadata/resources/pages/dashboards.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { pageLinks, pageOf, readPage } from "../app/paging.ts";
import { GivenId, GivenTimes, JsonBodies } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { addLabelRoutes } from "../labels.ts";
import { addMemberRoutes } from "../members.ts";
import { parentId } from "../organizations.ts";
import { shownLabel } from "../shown.ts";
import { addCellRoutes, CellBody, cellHead, newCell, replacingCell, type ShownViews, shownCell } from "./cells.ts";

export const DashboardBody = t.Object({
  orgID: t.Optional(t.String()),
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  cells: t.Optional(t.Array(CellBody, { maxItems: CELLS_MAX })),
});
/** It stays in its organization. */
const DashboardChanges = t.Omit(DashboardBody, ["orgID"]);
const NewDashboardBody = t.Composite([DashboardBody, GivenId, t.Object({ meta: t.Optional(GivenTimes) })]);

const DASHBOARDS = "/api/v2/dashboards";
const ITEM = `${DASHBOARDS}/:dashboardID`;
const SORT_KEYS: ReadonlyMap<string, "createdAt" | "updatedAt"> = new Map([
  ["CreatedAt", "createdAt"],
  ["UpdatedAt", "updatedAt"],
]);

export const dashboardRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const find = ({ params }: V2Call) => line().dashboards.get(readId(params["dashboardID"]!));
  const routes = new V2Routes(services)
    .get(DASHBOARDS, (call) => listed(services, call))
    .post(DASHBOARDS, async ({ principal, request }) => {
      const { orgID, name = "", description = "", cells = [] } = await bodies.read(NewDashboardBody, request);
      if (orgID === undefined) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      const org = readOrgId(orgID);
      principal.require({ action: "write", type: "dashboards", orgID: org });
      const made = await line().dashboards.create({ orgID: org, name, description, cells: cells.map(newCell) });
      return json(201, shownDashboard(services, made, "given"));
    })
    .get(ITEM, (call) => {
      const dashboard = find(call);
      call.principal.require(dashboardNeed("read", dashboard));
      return json(200, shownDashboard(services, dashboard, viewsOf(call)));
    })
    .patch(ITEM, async (call) => {
      const { name, description, cells } = await bodies.read(DashboardChanges, call.request, "");
      const id = readId(call.params["dashboardID"]!);
      // cells alone are no change
      if (name === undefined && description === undefined) {
        throw new TsdbError("bad_request", "must update at least one attribute");
      }
      const before = line().dashboards.get(id);
      call.principal.require(dashboardNeed("write", before));
      call.principal.require(dashboardNeed("read", before));
      const changes = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(cells === undefined ? {} : { cells: cells.map(replacingCell) }),
      };
      return json(200, shownDashboard(services, await line().dashboards.update(id, changes), "none"));
    })
    .delete(ITEM, async (call) => {
      const dashboard = find(call);
      call.principal.require(dashboardNeed("write", dashboard));
      await line().dashboards.delete(dashboard.id);
      return noContent();
    });
  addCellRoutes(routes, services, ITEM, (call, action) => {
    const dashboard = find(call);
    call.principal.require(dashboardNeed(action, dashboard));
    return dashboard;
  });
  const place = {
    ...({ path: DASHBOARDS, type: "dashboards", param: "dashboardID" } as const),
    parent: (call: V2Call) => parentDashboard(services, call),
  };
  addLabelRoutes(routes, services, place);
  return addMemberRoutes(routes, services, { ...place, need: dashboardNeed });
};

/** The dashboard that a path below /api/v2/dashboards is about: a dashboard that the sender may not see does not exist.
 *  @throws TsdbError bad_request, not_found */
export function parentDashboard(services: V2Services, { params, principal }: Pick<V2Call, "params" | "principal">): Dashboard {
  const dashboard = services.line().dashboards.find(parentId(params["dashboardID"]!));
  if (dashboard !== null && principal.allows(dashboardNeed("read", dashboard))) return dashboard;
  throw new TsdbError("not_found", "404 page not found");
}

function dashboardNeed(action: "read" | "write", { id, orgID }: { readonly id: string; readonly orgID: string }) {
  return { action, type: "dashboards", id, orgID } as const;
}

/** @throws TsdbError bad_request */
function readOrgId(text: string): string {
  try {
    return readId(text);
  } catch (error) {
    throw new TsdbError("bad_request", `failed to unmarshal json: ${(error as Error).message}`);
  }
}

/** Those of the page that the sender may read. */
function listed(services: V2Services, { principal, search }: V2Call): Response {
  const { dashboards, organizations, members } = services.line();
  const page = readPage(search);
  // one filter counts: ids before the owner, that before the organization
  const ids = search.all("id").map(readId);
  const named = new Set(ids);
  const owner = ids.length > 0 ? undefined : search.id("ownerID");
  const isOfOrganization = ids.length === 0 && owner === undefined;
  const given = isOfOrganization ? search.id("orgID") : undefined;
  const org = isOfOrganization && given === undefined ? search.get("org") : undefined;
  const orgID = given ?? (org === undefined ? null : organizations.byName(org).id);
  const sortBy = search.get("sortBy");
  const owned = owner === undefined ? null : new Set(members.resourcesOf(owner, "dashboards", "owner"));
  const wanted = dashboards.heads(orgID).filter((head) => {
    return (ids.length === 0 || named.has(head.id)) && principal.allows(dashboardNeed("read", head)) && (owned?.has(head.id) ?? true);
  });
  const key = SORT_KEYS.get(sortBy ?? "");
  // equal times in order of creation
  if (key !== undefined) wanted.sort((a, b) => (a[key] === b[key] ? 0 : a[key] < b[key] ? -1 : 1));
  if (page.isDescending) wanted.reverse();
  // where one is named, every page has it
  const first = named.size === 1 ? 0 : page.offset;
  const shown = pageOf(wanted, page, orgID !== null, first);
  const links = pageLinks(DASHBOARDS, page, shown.length, { id: ids, org, orgID: given, owner, sortBy });
  const head = (summary: DashboardSummary) => dashboardWith(services, summary, (self) => summary.cells.map((cell) => cellHead(self, cell)));
  const items = found(shown, (id) => dashboards.summary(id), head);
  return listAnswer("dashboards", items, { links });
}

function viewsOf({ search }: V2Call): ShownViews {
  return search.get("include") === "properties" ? "all" : "none";
}

/** A dashboard as clients read it. */
function shownDashboard(services: V2Services, dashboard: Dashboard, views: ShownViews): object {
  return dashboardWith(services, dashboard, (self) => dashboard.cells.map((cell) => shownCell(self, cell, views)));
}

function dashboardWith(services: V2Services, dashboard: Omit<DashboardSummary, "cells">, cellsAt: (self: string) => object[]): object {
  const { id, orgID, name, description, createdAt, updatedAt } = dashboard;
  const self = `${DASHBOARDS}/${id}`;
  const links = ["members", "owners", "cells", "labels"].map((each) => [each, `${self}/${each}`]);
  return {
    ...{ id, orgID, name, description, meta: { createdAt, updatedAt } },
    cells: cellsAt(self),
    labels: services.line().labels.ofResource("dashboards", id).map(shownLabel),
    links: { self, ...Object.fromEntries(links), org: `/api/v2/orgs/${orgID}` },
  };
}
