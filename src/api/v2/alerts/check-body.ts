// Bodies of checks.
import { type Static, Type as t } from "@sinclair/typebox";
import { CHECK_TYPES, type CheckQuery, type Threshold } from "../../../alerts/check.ts";
import type { CheckDraft } from "../../../alerts/draft.ts";
import { readLevel } from "../../../alerts/level.ts";
import { type Period, readPeriod } from "../../../alerts/scripts/period.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { GivenTimes, IdText, type JsonBodies, PeriodText } from "../app/params.ts";
import { othersOf, readTypedBody } from "./typed-body.ts";

const text = t.Optional(t.String());
const texts = t.Optional(t.Array(t.String()));
const number = t.Optional(t.Number());
const boolean = t.Optional(t.Boolean());
const TagsBody = t.Optional(t.Array(t.Object({ key: text, value: text })));

const QueryBody = t.Object({
  text,
  editMode: text,
  name: text,
  builderConfig: t.Optional(
    t.Object({
      buckets: texts,
      tags: t.Optional(t.Array(t.Object({ key: text, values: texts, aggregateFunctionType: text }))),
      functions: t.Optional(t.Array(t.Object({ name: text }))),
      aggregateWindow: t.Optional(t.Object({ period: text, fillValues: boolean })),
    }),
  ),
});
const ThresholdBody = t.Object({ type: text, level: text, allValues: boolean, value: number, min: number, max: number, within: boolean });

export const CheckBody = t.Object({
  type: t.Optional(t.String({ description: "`threshold`, `deadman` or `custom`." })),
  id: IdText,
  orgID: IdText,
  ownerID: IdText,
  taskID: IdText,
  name: text,
  description: text,
  status: t.Optional(t.String({ description: "`active` or `inactive`." })),
  labels: t.Optional(t.Array(t.String(), { description: "Ids; those of no label are left out." })),
  query: t.Optional(QueryBody),
  statusMessageTemplate: t.Optional(t.String({ description: "Text with `$` and a column in braces: `{ r.column }`." })),
  every: PeriodText,
  offset: PeriodText,
  cron: t.Optional(t.String({ description: "Kept and shown, not run." })),
  tags: TagsBody,
  thresholds: t.Optional(t.Array(ThresholdBody)),
  timeSince: PeriodText,
  staleTime: PeriodText,
  reportZero: boolean,
  level: text,
});

const PERIODS = ["every", "offset", "timeSince", "staleTime"];
const COMMON = ["statusMessageTemplate", "every", "offset", "cron", "tags"];
const OWN: Readonly<Record<string, readonly string[]>> = {
  threshold: [...COMMON, "thresholds"],
  deadman: [...COMMON, "timeSince", "staleTime", "reportZero", "level"],
  custom: [],
};
const BODY = {
  schema: t.Composite([CheckBody, GivenTimes]),
  types: CHECK_TYPES,
  what: "check",
  periods: PERIODS,
  ignoredBy: othersOf(OWN),
};

/** @throws TsdbError bad_request; what reading throws */
export async function readCheck(bodies: JsonBodies, request: Request): Promise<CheckDraft> {
  return draftOf(await readTypedBody(bodies, request, BODY));
}

/** Of a check that replaces another one, and has its labels. Messages start with `head`. @throws as `readCheck` */
export async function readReplacement(bodies: JsonBodies, request: Request, head: string): Promise<CheckDraft> {
  const body = await readTypedBody(bodies, request, { ...BODY, ignored: ["labels"] }, head);
  try {
    return draftOf(body);
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError(error.kind, `${head}${error.message}`, {}, { cause: error });
  }
}

function draftOf(body: Static<typeof CheckBody>): CheckDraft {
  const { name = "", description = "", status = "", labels = [], statusMessageTemplate = "", cron = "", level = "" } = body;
  return {
    orgID: body.orgID === undefined ? undefined : readId(body.orgID),
    type: body.type as CheckDraft["type"],
    ...{ name, description, status, labels, statusMessageTemplate, cron },
    query: queryOf(body.query ?? {}),
    every: readPeriodOf(body.every),
    offset: readPeriodOf(body.offset),
    timeSince: readPeriodOf(body.timeSince),
    staleTime: readPeriodOf(body.staleTime),
    tags: body.tags?.map(({ key = "", value = "" }) => ({ key, value })) ?? null,
    thresholds: body.thresholds?.map(thresholdOf) ?? null,
    reportZero: body.reportZero ?? false,
    level: readLevel(level),
  };
}

/** @throws TsdbError bad_request */
export function readPeriodOf(text: string | undefined): Period | null {
  return text === undefined ? null : readPeriod(text);
}

function queryOf({ text = "", editMode = "", name = "", builderConfig = {} }: Static<typeof QueryBody>): CheckQuery {
  const { buckets = [], tags = [], functions = [], aggregateWindow = {} } = builderConfig;
  return {
    ...{ text, editMode, name },
    builderConfig: {
      buckets,
      tags: tags.map(({ key = "", values = null, aggregateFunctionType = "" }) => ({ key, values, aggregateFunctionType })),
      functions: functions.map((each) => ({ name: each.name ?? "" })),
      aggregateWindow: { period: aggregateWindow.period ?? "", fillValues: aggregateWindow.fillValues ?? false },
    },
  };
}

function thresholdOf({ type = "", allValues = false, value = 0, min = 0, max = 0, ...rest }: Static<typeof ThresholdBody>): Threshold {
  const limit = { allValues, level: readLevel(rest.level ?? "") };
  if (type === "range") return { ...limit, type, min, max, within: rest.within ?? false };
  if (type === "greater" || type === "lesser") return { ...limit, type, value };
  throw new TsdbError("bad_request", `invalid threshold type ${type.slice(0, 64)}`);
}
