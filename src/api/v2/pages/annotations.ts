// Annotations: /api/v2private/annotations. Their streams are in annotation-streams.ts.
import { type Static, Type as t } from "@sinclair/typebox";
import { timeText } from "../../../flux/values/duration.ts";
import type { Annotation, AnnotationFilter, NewAnnotation } from "../../../metadata/resources/pages/annotations.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { parseTimeText } from "../../../sql/parse/time-text.ts";
import { json, noContent } from "../app/answers.ts";
import { textAnswer } from "../app/list-answer.ts";
import { checkedMembers, JsonBodies, type SearchParams } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { organizationIn, pathId } from "./notebooks.ts";

export const AnnotationBody = t.Object({
  stream: t.Optional(t.String({ description: "Made if there is none of the name. [default]" })),
  summary: t.Optional(t.String()),
  message: t.Optional(t.String()),
  stickers: t.Optional(t.Record(t.String(), t.String(), { description: "Names with values, to find it by." })),
  startTime: t.Optional(t.String({ description: "RFC 3339. [endTime]" })),
  endTime: t.Optional(t.String({ description: "RFC 3339. [now]" })),
});

const ANNOTATIONS = "/api/v2private/annotations";
const ITEM = `${ANNOTATIONS}/:annotationID`;
const HEAD = "failed to unmarshal json: ";
export const DEFAULT_STREAM = "default";
const AT_ONCE_MAX = 1000;
/** Of an annotation. */
const STICKERS_MAX = 100;
/** In characters. */
const SHORT_MAX = 255;
const MESSAGE_MAX = 4096;
const FIRST_TIME = "0000-01-01T00:00:00.000000000Z";
const LAST_TIME = "9999-12-31T23:59:59.999999999Z";
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

export const annotationRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const annotations = () => services.line().annotations;
  const nowText = () => storedTime(BigInt(services.clockMs()) * 1_000_000n);
  /** @throws TsdbError bad_request, forbidden */
  const found = ({ principal, params }: V2Call, action: "read" | "write"): Annotation => {
    const annotation = annotations().get(pathId(params["annotationID"]!, "annotation"));
    principal.require({ action, type: "annotations", id: annotation.id, orgID: annotation.orgID });
    return annotation;
  };
  return new V2Routes(services)
    .get(ANNOTATIONS, ({ principal, search }) => {
      const orgID = organizationIn(search);
      principal.require({ action: "read", type: "annotations", orgID });
      const startTime = timeIn(search, "startTime") ?? FIRST_TIME;
      const endTime = timeIn(search, "endTime") ?? nowText();
      requireOrder(startTime, endTime);
      const ids = annotations().ids({ orgID, startTime, endTime, streams: search.all("streamIncludes"), stickers: stickersIn(search) });
      return textAnswer(listTexts(ids.map((id) => annotations().find(id))));
    })
    .post(ANNOTATIONS, async ({ principal, request, search }) => {
      const orgID = organizationIn(search);
      principal.require({ action: "write", type: "annotations", orgID });
      const given = await bodies.rawValue(request, HEAD);
      if (!Array.isArray(given))
        throw new TsdbError("bad_request", `${HEAD}json: cannot unmarshal the body: a list of annotations is wanted`);
      if (given.length > AT_ONCE_MAX) throw new TsdbError("bad_request", `got ${given.length} annotations, want at most ${AT_ONCE_MAX}`);
      const read = given.map((each) => readAnnotation(checkedMembers(AnnotationBody, each ?? {}, HEAD), nowText()));
      return json(200, (await annotations().create(orgID, read)).map(shownEvent));
    })
    .delete(ANNOTATIONS, async ({ principal, search }) => {
      const orgID = organizationIn(search);
      principal.require({ action: "write", type: "annotations", orgID });
      await annotations().deleteAll(deletedIn(services, search, orgID));
      return noContent();
    })
    .get(ITEM, (call) => json(200, shownEvent(found(call, "read"))))
    .put(ITEM, async (call) => {
      pathId(call.params["annotationID"]!, "annotation");
      const change = readAnnotation(await bodies.read(AnnotationBody, call.request, HEAD), nowText());
      const { id } = found(call, "write");
      return json(200, shownEvent(await annotations().update(id, change)));
    })
    .delete(ITEM, async (call) => {
      await annotations().delete(found(call, "write").id);
      return noContent();
    });
};

/** @throws TsdbError bad_request */
function readAnnotation(body: Static<typeof AnnotationBody>, now: string): NewAnnotation {
  const { summary, message, stickers, stream } = body;
  const text = summary ?? "";
  if (text === "") throw new TsdbError("bad_request", "summary cannot be empty");
  requireShort("summary", text, SHORT_MAX);
  requireShort("stream tag", stream ?? "", SHORT_MAX);
  requireShort("message", message ?? "", MESSAGE_MAX);
  const stickerCount = Object.keys(stickers ?? {}).length;
  if (stickerCount > STICKERS_MAX) throw new TsdbError("bad_request", `got ${stickerCount} stickers, want at most ${STICKERS_MAX}`);
  for (const sticker of Object.entries(stickers ?? {}).flat()) requireShort("stickers", sticker, SHORT_MAX);
  const endTime = body.endTime === undefined ? now : readTime(body.endTime, "endTime");
  const startTime = body.startTime === undefined ? endTime : readTime(body.startTime, "startTime");
  requireOrder(startTime, endTime);
  return {
    ...{ stream: (stream ?? "") === "" ? DEFAULT_STREAM : stream!, summary: text, message: message ?? "" },
    ...{ stickers: stickers ?? {}, startTime, endTime },
  };
}

/** @throws TsdbError bad_request */
export function requireShort(what: string, text: string, max: number): void {
  if (text.length > max) throw new TsdbError("bad_request", `${what} must be at most ${max} characters, got ${text.length}`);
}

function requireOrder(startTime: string, endTime: string): void {
  if (endTime < startTime) throw new TsdbError("bad_request", "start time must come before end time");
}

/** What is deleted. @throws TsdbError bad_request */
function deletedIn(services: V2Services, search: SearchParams, orgID: string): AnnotationFilter {
  const [name, id] = [search.get("stream"), search.get("streamID")];
  const [startTime, endTime] = [timeIn(search, "startTime"), timeIn(search, "endTime")];
  const missing = [
    ...(name === undefined && id === undefined ? ["stream tag or id must be set"] : []),
    ...(startTime === undefined ? ["start time must be set"] : []),
    ...(endTime === undefined ? ["end time must be set"] : []),
  ];
  if (startTime === undefined || endTime === undefined || missing.length > 0) throw new TsdbError("bad_request", missing.join("; "));
  requireOrder(startTime, endTime);
  return { orgID, startTime, endTime, streams: [nameOf(services, orgID, name, id)], stickers: stickersIn(search, "stickers") };
}

/** Of the stream of the name or the id; "", which no stream has, if they mean another one or none. @throws TsdbError bad_request */
function nameOf(services: V2Services, orgID: string, name: string | undefined, id: string | undefined): string {
  if (id === undefined) return name ?? "";
  const stream = services.line().annotationStreams.find(pathId(id, "stream"));
  return stream?.orgID === orgID && (name === undefined || name === stream.name) ? stream.name : "";
}

/** An end of a range, which may lie before or after all times that annotations have. @throws TsdbError bad_request */
function timeIn(search: SearchParams, name: string): string | undefined {
  const text = search.get(name);
  if (text === undefined) return undefined;
  const time = parsedTime(text, name);
  return time === "range" ? (text < "1970" ? FIRST_TIME : LAST_TIME) : time;
}

/** As it is stored. @throws TsdbError bad_request */
function readTime(text: string, name: string): string {
  const time = parsedTime(text, name);
  if (time === "range") throw new TsdbError("bad_request", `${name}: want a time within 1678 and 2261, got "${near(text)}"`);
  return time;
}

/** @throws TsdbError bad_request */
function parsedTime(text: string, name: string): string | "range" {
  const ns = RFC_3339.test(text) ? parseTimeText(text) : null;
  if (ns === null) throw new TsdbError("bad_request", `${name}: want a time of RFC 3339, got "${near(text)}"`);
  return ns === "range" ? ns : storedTime(ns);
}

/** With nine digits of the second. */
function storedTime(ns: bigint): string {
  const [seconds, fraction = ""] = timeText(ns).slice(0, -1).split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}Z`;
}

/** With as many digits as needed. */
function shownTime(stored: string): string {
  return stored.replace(/\.?0+Z$/, "Z");
}

/** `NAME[key]=value`. */
function stickersIn(search: SearchParams, name = "stickerIncludes"): Record<string, string> {
  return Object.fromEntries(search.ofMap(name));
}

/** Groups by stream of a list in that order. */
function* listTexts(annotations: Iterable<Annotation | null>): Generator<string, void, void> {
  let stream: string | null = null;
  yield "[";
  for (const annotation of annotations) {
    if (annotation === null) continue;
    const text = JSON.stringify(shownAnnotation(annotation));
    if (annotation.stream === stream) yield `,${text}`;
    else yield `${stream === null ? "" : "]},"}{"stream":${JSON.stringify(annotation.stream)},"annotations":[${text}`;
    stream = annotation.stream;
  }
  yield stream === null ? "]\n" : "]}]\n";
}

/** Without its stream. */
function shownAnnotation({ id, summary, message, stickers, startTime, endTime }: Annotation): object {
  return {
    ...{ id, summary, ...(message === "" ? {} : { message }) },
    ...(Object.keys(stickers).length === 0 ? {} : { stickers }),
    ...{ startTime: shownTime(startTime), endTime: shownTime(endTime) },
  };
}

function shownEvent(annotation: Annotation): object {
  return { stream: annotation.stream, ...shownAnnotation(annotation) };
}
