// Reads and validates a rule's settings from a request.

import type { Status } from "../metadata/store/kinds.ts";
import { TsdbError } from "../model/errors.ts";
import { requiredPeriod, requireShorter } from "./check-settings.ts";
import { type RuleDraft, requireStatus } from "./draft.ts";
import type { EndpointType } from "./endpoint.ts";
import type { RuleSettings } from "./rule.ts";
import type { Period } from "./scripts/period.ts";

const NO_PERIOD: Period = { parts: [] };
const WITHOUT_MESSAGE: Readonly<Partial<Record<EndpointType, string>>> = {
  slack: "slack msg template is empty",
  pagerduty: "pagerduty invalid message template",
  telegram: "Telegram MessageTemplate is invalid",
};

/** The settings that the script needs; `requireWholeRule` refuses further faults. @throws TsdbError bad_request */
export function ruleSettings(draft: RuleDraft): RuleSettings {
  const { type, sleepUntil, runbookLink, tagRules, statusRules, limit, limitEvery } = draft;
  const { channel, messageTemplate, parseMode, disableWebPagePreview } = draft;
  return {
    ...{ type, sleepUntil, runbookLink, tagRules, statusRules, channel, messageTemplate, parseMode, disableWebPagePreview },
    every: requiredPeriod(draft.every, "Notification Rule Every"),
    offset: draft.offset === null ? null : requiredPeriod(draft.offset, "Notification Rule Offset"),
    limit: limit === null && limitEvery === null ? null : { limit: limit ?? 0, limitEvery: limitEvery ?? 0 },
  };
}

/** The draft's status. @throws TsdbError bad_request */
export function requireWholeRule({ name, endpointID, every, offset, tagRules, messageTemplate, type, ...draft }: RuleDraft): Status {
  if (name === "") throw refused("Notification Rule Name can't be empty");
  if (endpointID === undefined) throw refused("Notification Rule EndpointID is invalid");
  if (offset !== null) requireShorter(offset, every ?? NO_PERIOD);
  if (tagRules.some(({ key, value }) => key === "" || value === "")) throw refused("tag must contain a key and a value");
  const [limit, limitEvery] = [draft.limit ?? 0, draft.limitEvery ?? 0];
  if ((draft.limit !== null || draft.limitEvery !== null) && (limit <= 0 || limitEvery <= 0)) {
    throw refused("if limit is set, limit and limitEvery must be larger than 0");
  }
  const missing = WITHOUT_MESSAGE[type];
  if (messageTemplate === "" && missing !== undefined) throw refused(missing);
  return requireStatus(draft.status);
}

function refused(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
