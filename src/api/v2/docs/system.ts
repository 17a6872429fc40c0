// Operations by which the server tells about itself.
import { type TSchema, Type as t } from "@sinclair/typebox";
import { BYTES_TYPE, jsonOf, ok, type V2Operation, type V2Operations } from "./described.ts";
import { BytesShape, HealthShape, ReadyShape, TextShape } from "./shapes.ts";

const open = (summary: string, answers: V2Operation["answers"]): V2Operation => ({ tag: "System", credentials: "none", summary, answers });
const unavailable = (schema: TSchema): V2Operation["answers"] => ({
  503: { description: "It cannot take requests; the message says why.", content: jsonOf(schema) },
});
const health = open("Whether the server works", { ...ok("It does.", HealthShape), ...unavailable(HealthShape) });
const ready = open("Whether the server has started", { ...ok("It has.", ReadyShape), ...unavailable(ReadyShape) });
const ping = open("Answers", { 204: { description: "Headers tell the version." } });
const off = { 403: { description: "Switched off." } };
const whole = (description: string) => t.Optional(t.Integer({ minimum: 0, description }));
const profiles: V2Operation = {
  ...open("A profile of the server's process", {
    200: {
      description: "In the format of pprof; `all` is an archive of them, `cmdline` and `symbol` are texts.",
      content: { [BYTES_TYPE]: BytesShape, "text/plain": TextShape },
    },
    404: { description: "There is no such profile.", content: { "text/plain": TextShape } },
    429: { description: "One is being made, or this many seconds are too many." },
    501: { description: "The runtime has none of this kind." },
    ...off,
  }),
  query: {
    debug: whole("1: as a text."),
    seconds: whole("How long the processor is watched, at most 60."),
    cpu: t.Optional(t.String({ description: "With all: the processor is watched, for so long (`10s`), or `true`." })),
  },
};

export const SYSTEM: V2Operations = {
  "GET /api/v2": open("Lists the paths of resources", ok("Paths by name.", t.Object({}))),
  "GET /health": health,
  "HEAD /health": health,
  "GET /ready": ready,
  "HEAD /ready": ready,
  "GET /ping": ping,
  "HEAD /ping": ping,
  "GET /metrics": open("Counts and durations for Prometheus", {
    200: { description: "Families in the text format.", content: { "text/plain": TextShape } },
    ...off,
  }),
  "GET /debug/pprof": open("Lists the profiles", { 200: { description: "A page.", content: { "text/html": TextShape } }, ...off }),
  "GET /debug/pprof/:profile": profiles,
  "GET /api/v2/config": {
    tag: "System",
    summary: "Shows the settings of the server",
    description: "To operators.",
    answers: ok("Values by name.", t.Object({ config: t.Object({}) })),
  },
  "GET /api/v2/flags": { tag: "System", summary: "Lists switches of web interfaces", answers: ok("Values by name.", t.Object({})) },
  "GET /api/v2/maps/mapToken": {
    ...{ tag: "System", summary: "Gives the token of a service of maps", description: "There is none." },
    answers: ok("An empty one.", t.Object({ token: t.String() })),
  },
  "GET /api/v2/resources": {
    tag: "System",
    summary: "Lists the types of resources that permissions may name",
    answers: ok("The types.", t.Array(t.String())),
  },
};
