// Reads and validates a check's settings from a request.
import { TsdbError } from "../model/errors.ts";
import type { CheckSettings } from "./check.ts";
import type { CheckDraft } from "./draft.ts";
import { requireQuery } from "./scripts/check-script.ts";
import { customScript } from "./scripts/custom-check.ts";
import { type Period, periodNs, periodText } from "./scripts/period.ts";

/** @throws TsdbError bad_request */
export function checkSettings(draft: CheckDraft, id: string): CheckSettings {
  const { type, query, statusMessageTemplate, cron, tags, thresholds, timeSince, staleTime, reportZero, level } = draft;
  if (type === "custom") return { type, query: { ...query, text: customScript(query.text, { id, name: draft.name }) } };
  requireGenerated(draft);
  const every = requiredPeriod(draft.every, "Check Every");
  const common = { query, statusMessageTemplate, cron, every, offset: draft.offset === null ? null : periodText(draft.offset), tags };
  if (type === "threshold") return { type, ...common, thresholds };
  // the query is told before these times, as by release 2.8.0
  if (!isGiven(timeSince) || !isGiven(staleTime)) requireQuery(query.text);
  return {
    ...{ type, ...common, reportZero, level },
    timeSince: requiredPeriod(timeSince, "Check TimeSince"),
    staleTime: requiredPeriod(staleTime, "Check StaleTime"),
  };
}

function isGiven(period: Period | null): boolean {
  return period !== null && period.parts.length > 0;
}

/** Refuses a draft for what makes no check of the id, and for no organization. @throws TsdbError bad_request */
export function requireWholeCheck(draft: CheckDraft, id: string): void {
  if (draft.type === "custom") customScript(draft.query.text, { id, name: draft.name });
  else requireName(draft.name);
  // before the period is missed, as release 2.8.0
  if (draft.orgID === undefined) throw refused("Check OrgID is invalid");
  if (draft.type !== "custom") requireGenerated(draft);
}

function requireName(name: string): void {
  if (name === "") throw refused("Check Name can't be empty");
}

/** The settings of which a script is generated, but for times of a deadman check. @throws TsdbError bad_request */
function requireGenerated({ type, name, every, offset, tags, thresholds }: CheckDraft): void {
  requireName(name);
  requiredPeriod(every, "Check Every");
  requireOffset(offset, every!, "Check Offset");
  if (tags?.some(({ key, value }) => key === "" || value === "")) throw refused("tag must contain a key and a value");
  const isInverted = type === "threshold" && thresholds?.some((each) => each.type === "range" && each.min > each.max);
  if (isInverted === true) throw refused("range threshold min can't be larger than max");
}

/** @param what start of the error messages @throws TsdbError bad_request */
export function requiredPeriod(period: Period | null, what: string): string {
  if (period === null) throw refused(`${what} must exist`);
  if (period.parts.length === 0) throw refused(`${what} can't be empty`);
  return periodText(period);
}

/** @throws TsdbError bad_request */
export function requireOffset(offset: Period | null, every: Period, what: string): void {
  if (offset === null) return;
  if (offset.parts.length === 0) throw refused(`${what} can't be empty`);
  requireShorter(offset, every);
}

/** @throws TsdbError bad_request */
export function requireShorter(offset: Period, every: Period): void {
  if (periodNs(offset) >= periodNs(every)) throw refused("Offset should not be equal or greater than the interval");
}

function refused(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
