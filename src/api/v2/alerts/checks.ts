// Checks: /api/v2/checks.
import { Type as t } from "@sinclair/typebox";
import { CHECK, type Check, CheckService } from "../../../alerts/check-service.ts";
import { requireWholeCheck } from "../../../alerts/check-settings.ts";
import { checkedUpdate } from "../../../alerts/draft.ts";
import { checkScript } from "../../../alerts/scripts/check-script.ts";
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
import { readCheck, readReplacement } from "./check-body.ts";
import { CHECKS, shownCheck } from "./shown-alerts.ts";

export const AlertUpdateBody = t.Object({
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  status: t.Optional(t.String({ description: "`active` or `inactive`." })),
});

const ITEM = `${CHECKS}/:checkID`;

export const checkRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const checks = () => new CheckService(line());
  const needOf = alertNeed("checks");
  const shown = (check: Check) => shownCheck(check, line().labels.ofResource("checks", check.id), line().tasks.state(check.taskID));
  const permitted = ({ principal, params }: V2Call, ...actions: readonly ("read" | "write")[]): Check => {
    const check = checks().get(readId(params["checkID"]!));
    for (const action of actions) principal.require(needOf(action, check));
    return check;
  };
  const routes = new V2Routes(services)
    .get(CHECKS, ({ principal, search }) => {
      const page = readPage(search);
      const visible = pageOf(line().checks.list(listedOrganization(services, search)), principal, "checks", shortenedPage(page));
      const orgID = search.id("orgID");
      const filters = { orgID, org: orgID === undefined ? search.get("org") : undefined, sortBy: search.get("sortBy") };
      const find = (id: string) => (line().checks.find(id) === null ? null : checks().get(id));
      return listAnswer("checks", found(visible, find, shown), { links: pageLinks(CHECKS, page, visible.length, filters) });
    })
    .post(CHECKS, async ({ principal, request }) => {
      const draft = await readCheck(bodies, request);
      const { orgID } = draft;
      if (orgID === undefined) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      principal.require({ action: "write", type: "checks", orgID });
      const labels = readableLabels(services, principal, draft.labels);
      return json(201, shown(await checks().create({ ...draft, orgID, labels }, principal.userID)));
    })
    .get(ITEM, (call) => json(200, shown(permitted(call, "read"))))
    .get(`${ITEM}/query`, (call) => json(200, { flux: checkScript(permitted(call, "read")) }))
    .put(ITEM, async (call) => {
      const { params, request, principal } = call;
      requireCheckId(params["checkID"]!);
      const draft = await readReplacement(bodies, request, "malformed check body: ");
      requireWholeCheck(draft, params["checkID"]!);
      const { id } = permitted(call, "read", "write");
      return json(200, shown(await checks().replace(id, draft, principal.userID)));
    })
    .patch(ITEM, async (call) => {
      readId(call.params["checkID"]!);
      const update = await bodies.read(AlertUpdateBody, call.request, "");
      checkedUpdate(update, CHECK);
      const { id } = permitted(call, "read", "write");
      return json(200, shown(await checks().update(id, update)));
    })
    .delete(ITEM, async (call) => {
      const { id } = permitted(call, "read", "write");
      await checks().delete(id);
      return noContent();
    });
  const find = ({ params }: V2Call): Check => checks().get(readId(params["checkID"]!));
  const parent = seen(find, needOf, ({ id }) => `check not found for key "${id}"`);
  const place = { path: CHECKS, type: "checks", param: "checkID", find, parent } as const;
  addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
  return addMemberRoutes(routes, services, { ...place, need: needOf, hasLogs: true });
};

/** @throws TsdbError bad_request */
function requireCheckId(id: string): void {
  try {
    readId(id);
  } catch (cause) {
    throw new TsdbError("bad_request", "invalid check id format", {}, { cause });
  }
}
