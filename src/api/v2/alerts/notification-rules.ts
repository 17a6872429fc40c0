// Notification rules: /api/v2/notificationRules.

import { checkedUpdate } from "../../../alerts/draft.ts";
import type { Rule } from "../../../alerts/rule.ts";
import { RULE, RuleService } from "../../../alerts/rule-service.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { pageLinks, readPage } from "../app/paging.ts";
import { JsonBodies, type SearchParams } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { addLabelRoutes, seen } from "../labels.ts";
import { addMemberRoutes } from "../members.ts";
import { alertNeed, listedOrganization, pageOf, readableLabels } from "./alert-list.ts";
import { AlertUpdateBody } from "./checks.ts";
import { readReplacement, readRule } from "./rule-body.ts";
import { RULES, shownRule } from "./shown-alerts.ts";

const ITEM = `${RULES}/:ruleID`;
const TYPE = "notificationRules";

export const notificationRuleRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const rules = () => new RuleService(line());
  const needOf = alertNeed(TYPE);
  const shown = (rule: Rule) => shownRule(rule, line().labels.ofResource(TYPE, rule.id), line().tasks.state(rule.taskID));
  const permitted = ({ principal, params }: V2Call, action: "read" | "write"): Rule => {
    const rule = rules().get(readId(params["ruleID"]!));
    principal.require(needOf(action, rule));
    return rule;
  };
  const routes = new V2Routes(services)
    .get(RULES, ({ principal, search }) => {
      const page = readPage(search);
      const orgID = listedOrganization(services, search);
      const tags = tagsOf(search);
      const all = line().notificationRules.list(orgID);
      const isListed = ({ id }: { readonly id: string }) => tags.length === 0 || matches(rules().get(id), tags);
      const visible = pageOf(all.filter(isListed), principal, TYPE, page);
      const given = search.id("orgID");
      const org = given === undefined ? search.get("org") : undefined;
      const filters = { orgID: given, org, tag: tags, sortBy: search.get("sortBy") };
      const find = (id: string) => (line().notificationRules.find(id) === null ? null : rules().get(id));
      return listAnswer("notificationRules", found(visible, find, shown), { links: pageLinks(RULES, page, visible.length, filters) });
    })
    .post(RULES, async ({ principal, request }) => {
      const draft = await readRule(bodies, request);
      const { orgID } = draft;
      if (orgID === undefined) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      principal.require({ action: "write", type: TYPE, orgID });
      const labels = readableLabels(services, principal, draft.labels);
      return json(201, shown(await rules().create({ ...draft, orgID, labels }, principal.userID)));
    })
    .get(ITEM, (call) => json(200, shown(permitted(call, "read"))))
    .get(`${ITEM}/query`, (call) => json(200, { flux: rules().script(permitted(call, "read")) }))
    .put(ITEM, async (call) => {
      const draft = await readReplacement(bodies, call.request);
      const { id } = permitted(call, "write");
      return json(200, shown(await rules().replace(id, draft, call.principal.userID)));
    })
    .patch(ITEM, async (call) => {
      readId(call.params["ruleID"]!);
      const update = await bodies.read(AlertUpdateBody, call.request, "");
      checkedUpdate(update, RULE);
      const { id } = permitted(call, "write");
      return json(200, shown(await rules().update(id, update)));
    })
    .delete(ITEM, async (call) => {
      const { id } = permitted(call, "write");
      await rules().delete(id);
      return noContent();
    });
  const find = ({ params }: V2Call): Rule => rules().get(readId(params["ruleID"]!));
  const parent = seen(find, needOf, () => "notification rule not found");
  const place = { path: RULES, type: TYPE, param: "ruleID", find, parent } as const;
  addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
  return addMemberRoutes(routes, services, { ...place, need: needOf, hasLogs: true });
};

/** `KEY:VALUE`; others mean nothing. */
function tagsOf(search: SearchParams): string[] {
  return search.all("tag").filter((tag) => /^[^:]+:[^:]+$/.test(tag));
}

/** Whether statuses with these tags are sent. */
function matches({ settings: { tagRules } }: Rule, tags: readonly string[]): boolean {
  return tagRules.every(({ key, value, operator }) => operator === "equal" && tags.includes(`${key}:${value}`));
}
