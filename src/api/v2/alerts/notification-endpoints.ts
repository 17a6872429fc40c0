// Notification endpoints: /api/v2/notificationEndpoints.

import { checkedUpdate } from "../../../alerts/draft.ts";
import type { Endpoint } from "../../../alerts/endpoint.ts";
import { ENDPOINT, EndpointService } from "../../../alerts/endpoint-service.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { pageLinks, readPage } from "../app/paging.ts";
import { JsonBodies } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { addLabelRoutes, seen } from "../labels.ts";
import { addMemberRoutes } from "../members.ts";
import { alertNeed, listedOrganization, pageOf, readableLabels, shortenedPage } from "./alert-list.ts";
import { AlertUpdateBody } from "./checks.ts";
import { readEndpoint, readReplacement } from "./endpoint-body.ts";
import { ENDPOINTS, shownEndpoint } from "./shown-alerts.ts";

const ITEM = `${ENDPOINTS}/:endpointID`;
const TYPE = "notificationEndpoints";

export const notificationEndpointRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const endpoints = () => new EndpointService(line());
  const needOf = alertNeed(TYPE);
  const shown = (endpoint: Endpoint) => shownEndpoint(endpoint, line().labels.ofResource(TYPE, endpoint.id));
  const permitted = ({ principal, params }: V2Call, ...actions: readonly ("read" | "write")[]): Endpoint => {
    const endpoint = endpoints().get(readId(params["endpointID"]!));
    for (const action of actions) principal.require(needOf(action, endpoint));
    return endpoint;
  };
  const routes = new V2Routes(services)
    .get(ENDPOINTS, ({ principal, search }) => {
      const page = readPage(search);
      const orgID = listedOrganization(services, search);
      const userID = search.id("user");
      if (orgID === undefined && userID === undefined) {
        throw new TsdbError("unauthenticated", "cannot process a request without a org or user filter");
      }
      // as recorded, a user leaves nothing out
      const visible = pageOf(line().notificationEndpoints.list(orgID), principal, TYPE, shortenedPage(page));
      const given = search.id("orgID");
      const filters = { orgID: given, org: given === undefined ? search.get("org") : undefined, sortBy: search.get("sortBy") };
      const find = (id: string) => (line().notificationEndpoints.find(id) === null ? null : endpoints().get(id));
      return listAnswer("notificationEndpoints", found(visible, find, shown), {
        links: pageLinks(ENDPOINTS, page, visible.length, filters),
      });
    })
    .post(ENDPOINTS, async ({ principal, request }) => {
      const draft = await readEndpoint(bodies, request);
      const { orgID } = draft;
      if (orgID === undefined) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      principal.require({ action: "write", type: TYPE, orgID });
      const labels = readableLabels(services, principal, draft.labels);
      return json(201, shown(await endpoints().create({ ...draft, orgID, labels })));
    })
    .get(ITEM, (call) => json(200, shown(permitted(call, "read"))))
    .put(ITEM, async (call) => {
      const draft = await readReplacement(bodies, call.request);
      const { id } = permitted(call, "read", "write");
      return json(200, shown(await endpoints().replace(id, draft)));
    })
    .patch(ITEM, async (call) => {
      readId(call.params["endpointID"]!);
      const update = await bodies.read(AlertUpdateBody, call.request, "");
      checkedUpdate(update, ENDPOINT);
      const { id } = permitted(call, "read", "write");
      return json(200, shown(await endpoints().update(id, update)));
    })
    .delete(ITEM, async (call) => {
      const { id } = permitted(call, "read", "write");
      await endpoints().delete(id);
      return noContent();
    });
  const find = ({ params }: V2Call): Endpoint => endpoints().get(readId(params["endpointID"]!));
  const parent = seen(find, needOf, ({ id }) => `notification endpoint not found for key "${id}"`);
  const place = { path: ENDPOINTS, type: TYPE, param: "endpointID", find, parent } as const;
  addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
  return addMemberRoutes(routes, services, { ...place, need: needOf, hasLogs: true });
};
