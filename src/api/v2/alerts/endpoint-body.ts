// Bodies of notification endpoints.
import { type Static, Type as t } from "@sinclair/typebox";
import { type EndpointDraft, readSecret } from "../../../alerts/draft.ts";
import { ENDPOINT_TYPES } from "../../../alerts/endpoint.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { GivenTimes, IdText, type JsonBodies } from "../app/params.ts";
import { othersOf, readTypedBody } from "./typed-body.ts";

const text = t.Optional(t.String());
const secret = t.Optional(t.String({ description: "The secret, or `secret: KEY` of one of the organization's." }));

export const EndpointBody = t.Object({
  type: t.Optional(t.String({ description: "`slack`, `pagerduty`, `http` or `telegram`." })),
  id: IdText,
  orgID: IdText,
  name: text,
  description: text,
  status: t.Optional(t.String({ description: "`active` or `inactive`." })),
  labels: t.Optional(t.Array(t.String(), { description: "Ids; those of no label are left out." })),
  url: t.Optional(t.String({ description: "Of Slack and HTTP." })),
  clientURL: t.Optional(t.String({ description: "Of PagerDuty." })),
  channel: t.Optional(t.String({ description: "Of Telegram." })),
  token: secret,
  routingKey: secret,
  username: secret,
  password: secret,
  headers: t.Optional(t.Record(t.String(), t.String())),
  authMethod: t.Optional(t.String({ description: "`none`, `basic` or `bearer`." })),
  method: t.Optional(t.String({ description: "`POST`, `GET` or `PUT`." })),
  contentTemplate: text,
});

const OWN: Readonly<Record<string, readonly string[]>> = {
  slack: ["url", "token"],
  pagerduty: ["clientURL", "routingKey"],
  http: ["url", "token", "username", "password", "headers", "authMethod", "method", "contentTemplate"],
  telegram: ["token", "channel"],
};
const BODY = {
  schema: t.Composite([EndpointBody, GivenTimes]),
  types: ENDPOINT_TYPES,
  what: "notification endpoint",
  ignoredBy: othersOf(OWN),
};

/** @throws TsdbError bad_request; what reading throws */
export async function readEndpoint(bodies: JsonBodies, request: Request): Promise<EndpointDraft> {
  return draftOf(await readTypedBody(bodies, request, BODY));
}

/** Of an endpoint that replaces another one, and has its labels. @throws as `readEndpoint` */
export async function readReplacement(bodies: JsonBodies, request: Request): Promise<EndpointDraft> {
  return draftOf(await readTypedBody(bodies, request, { ...BODY, ignored: ["labels"] }));
}

function draftOf(body: Static<typeof EndpointBody>): EndpointDraft {
  const { name = "", description = "", status = "", labels = [], url = "", clientURL = "", channel = "" } = body;
  const { authMethod = "", method = "", contentTemplate = "", headers = null } = body;
  return {
    orgID: body.orgID === undefined ? undefined : readId(body.orgID),
    type: body.type as EndpointDraft["type"],
    ...{ name, description, status, labels, url, clientURL, channel, authMethod, method, contentTemplate, headers },
    token: readSecret(body.token ?? ""),
    routingKey: readSecret(body.routingKey ?? ""),
    username: readSecret(body.username ?? ""),
    password: readSecret(body.password ?? ""),
  };
}
