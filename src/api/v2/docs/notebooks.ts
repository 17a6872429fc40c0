// Operations on notebooks, and on annotations and their streams.
import { Type as t } from "@sinclair/typebox";
import { StreamBody } from "../pages/annotation-streams.ts";
import { AnnotationBody } from "../pages/annotations.ts";
import { NotebookBody } from "../pages/notebooks.ts";
import { done, id, jsonOf, ok, requiring, text, type V2Operations } from "./described.ts";
import { Id, Time } from "./shapes.ts";

const tag = "Notebooks and annotations";
const orgID = t.String({ pattern: "^[0-9a-fA-F]{16}$", description: "Of this organization." });
const unknownOrganization = { 404: { description: "No such organization." } };

const NOTEBOOK = "/api/v2private/notebooks/:notebookID";
const NotebookShape = t.Object(
  { ...{ id: Id, orgID: Id, name: t.String(), createdAt: Time, updatedAt: Time }, spec: t.Object({}, { additionalProperties: true }) },
  { $id: "Notebook" },
);
const NotebooksShape = t.Object({ flows: t.Array(NotebookShape) }, { $id: "Notebooks" });
const wholeNotebook = jsonOf(requiring(NotebookBody, "orgID", "name", "spec"));

const ANNOTATIONS = "/api/v2private/annotations";
const ANNOTATION = `${ANNOTATIONS}/:annotationID`;
const annotation = {
  ...{ id: Id, summary: t.String(), message: t.Optional(t.String()), stickers: t.Optional(t.Record(t.String(), t.String())) },
  ...{ startTime: Time, endTime: Time },
};
const AnnotationShape = t.Object({ stream: t.String(), ...annotation }, { $id: "Annotation" });
const AnnotationsShape = t.Array(t.Object({ stream: t.String(), annotations: t.Array(t.Object(annotation)) }), {
  $id: "AnnotationsByStream",
});
const wholeAnnotation = requiring(AnnotationBody, "summary");
const range = {
  startTime: text("RFC 3339. Those that begin before it are left out."),
  endTime: text("RFC 3339. Those that end after it are left out."),
};
const requiredRange = {
  startTime: t.String({ description: range.startTime.description! }),
  endTime: t.String({ description: range.endTime.description! }),
};

const STREAMS = "/api/v2private/streams";
const STREAM = `${STREAMS}/:streamID`;
const StreamShape = t.Object(
  { id: Id, stream: t.String(), description: t.Optional(t.String()), createdAt: Time, updatedAt: Time },
  { $id: "AnnotationStream" },
);
const wholeStream = jsonOf(requiring(StreamBody, "stream"));
const streamIncludes = text("Of the streams of this name; may be repeated.");

/** By `METHOD path`. */
export const NOTEBOOKS: V2Operations = {
  "GET /api/v2private/notebooks": { tag, summary: "Lists notebooks", query: { orgID }, answers: ok("All of them.", NotebooksShape) },
  "POST /api/v2private/notebooks": {
    ...{ tag, summary: "Keeps a notebook", body: wholeNotebook },
    answers: { ...ok("As kept.", NotebookShape), ...unknownOrganization },
  },
  [`GET ${NOTEBOOK}`]: { tag, summary: "Shows a notebook", answers: ok("The notebook.", NotebookShape) },
  [`PUT ${NOTEBOOK}`]: { tag, summary: "Replaces a notebook", body: wholeNotebook, answers: ok("As changed.", NotebookShape) },
  [`PATCH ${NOTEBOOK}`]: { tag, summary: "Replaces a notebook", body: wholeNotebook, answers: ok("As changed.", NotebookShape) },
  [`DELETE ${NOTEBOOK}`]: { tag, summary: "Deletes a notebook", answers: done("It is gone.") },
  "GET /api/v2/documents/:namespace": {
    ...{ tag, summary: "Lists documents of old interfaces", query: { orgID } },
    answers: ok("There are none.", t.Object({ documents: t.Array(t.Object({})) })),
  },
  [`GET ${ANNOTATIONS}`]: {
    ...{ tag, summary: "Lists annotations by stream" },
    description: "`stickerIncludes[name]=value`, which may be repeated: those that have it.",
    query: { orgID, ...range, streamIncludes },
    answers: ok("Those that lie within the range; without `endTime` until now.", AnnotationsShape),
  },
  [`POST ${ANNOTATIONS}`]: {
    ...{ tag, summary: "Makes annotations, all or none, at most 1000", query: { orgID } },
    body: jsonOf(t.Array(wholeAnnotation)),
    answers: { ...ok("As made.", t.Array(AnnotationShape)), ...unknownOrganization },
  },
  [`DELETE ${ANNOTATIONS}`]: {
    ...{ tag, summary: "Deletes annotations of a stream within a range" },
    description: "One of `stream` and `streamID` is needed. `stickers[name]=value`: those that have it.",
    query: { orgID, ...requiredRange, stream: text("Of the stream of this name."), streamID: id("Of this stream.") },
    answers: done("They are gone."),
  },
  [`GET ${ANNOTATION}`]: { tag, summary: "Shows an annotation; 400 if there is none", answers: ok("The annotation.", AnnotationShape) },
  [`PUT ${ANNOTATION}`]: {
    ...{ tag, summary: "Replaces an annotation", body: jsonOf(wholeAnnotation) },
    answers: ok("As changed.", AnnotationShape),
  },
  [`DELETE ${ANNOTATION}`]: { tag, summary: "Deletes an annotation", answers: done("It is gone.") },
  [`GET ${STREAMS}`]: {
    ...{ tag, summary: "Lists streams of annotations", query: { orgID, streamIncludes } },
    answers: ok("The streams.", t.Array(StreamShape)),
  },
  [`PUT ${STREAMS}`]: {
    ...{ tag, summary: "Makes a stream, or describes the one of the name", query: { orgID }, body: jsonOf(StreamBody) },
    answers: { ...ok("The stream.", StreamShape), ...unknownOrganization },
  },
  [`DELETE ${STREAMS}`]: {
    ...{ tag, summary: "Deletes streams with their annotations" },
    query: { orgID, stream: t.String({ minLength: 1, description: "The stream of this name; may be repeated." }) },
    answers: done("They are gone."),
  },
  [`PUT ${STREAM}`]: {
    ...{ tag, summary: "Changes a stream", body: wholeStream },
    answers: { ...ok("As changed.", StreamShape), 422: { description: "The name is taken." } },
  },
  [`DELETE ${STREAM}`]: { tag, summary: "Deletes a stream with its annotations", answers: done("It is gone.") },
};
