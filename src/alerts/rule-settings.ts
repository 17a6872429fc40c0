// Reads and validates a rule's settings from a request.
import { TsdbError } from "../model/errors.ts";
import { requiredPeriod, requireOffset } from "./check-settings.ts";
import type { RuleDraft } from "./draft.ts";
import type { EndpointType } from "./endpoint.ts";
import type { RuleSettings } from "./rule.ts";
import { periodText } from "./scripts/period.ts";

const WITHOUT_MESSAGE: Readonly<Partial<Record<EndpointType, string>>> = {
  slack: "slack msg template is empty",
  pagerduty: "pagerduty invalid message template",
  telegram: "Telegram MessageTemplate is invalid",
};

/** The settings that the script needs; `requireWholeRule` reports further errors. @throws TsdbError bad_request */
export function ruleSettings(draft: RuleDraft): RuleSettings {
  const { type, sleepUntil, runbookLink, cron, tagRules, statusRules, limit, limitEvery } = draft;
  const { channel, messageTemplate, parseMode, disableWebPagePreview } = draft;
  return {
    ...{ type, sleepUntil, runbookLink, cron, tagRules, statusRules, channel, messageTemplate, parseMode, disableWebPagePreview },
    every: requiredPeriod(draft.every, "Notification Rule Every"),
    offset: draft.offset === null ? null : periodText(draft.offset),
    limit: limit === null && limitEvery === null ? null : { limit: limit ?? 0, limitEvery: limitEvery ?? 0 },
  };
}

/** @throws TsdbError bad_request */
export function requireWholeRule(draft: RuleDraft, { tagRules, limit, messageTemplate, type }: RuleSettings): void {
  if (draft.name === "") throw refused("Notification Rule Name can't be empty");
  requireOffset(draft.offset, draft.every!, "Notification Rule Offset");
  if (tagRules.some(({ key, value }) => key === "" || value === "")) throw refused("tag must contain a key and a value");
  if (limit !== null && (limit.limit <= 0 || limit.limitEvery <= 0)) {
    throw refused("if limit is set, limit and limitEvery must be larger than 0");
  }
  const missing = WITHOUT_MESSAGE[type];
  if (messageTemplate === "" && missing !== undefined) throw refused(missing);
}

function refused(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
