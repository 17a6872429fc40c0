// Streams of annotations: /api/v2private/streams. The rights are those for annotations.
import { type Static, Type as t } from "@sinclair/typebox";
import type { AnnotationStream } from "../../../metadata/resources/pages/annotation-streams.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { textAnswer } from "../app/list-answer.ts";
import { JsonBodies } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { DEFAULT_STREAM, requireShort } from "./annotations.ts";
import { organizationIn, pathId } from "./notebooks.ts";

export const StreamBody = t.Object({
  stream: t.Optional(t.String({ description: "The name. [default]" })),
  description: t.Optional(t.String()),
});

const STREAMS = "/api/v2private/streams";
const ITEM = `${STREAMS}/:streamID`;
const NAME_MAX = 255;
const DESCRIPTION_MAX = 1024;

export const annotationStreamRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const streams = () => services.line().annotationStreams;
  /** @throws TsdbError bad_request, forbidden */
  const ofOrganization = ({ principal, search }: V2Call, action: "read" | "write"): string => {
    const orgID = organizationIn(search);
    principal.require({ action, type: "annotations", orgID });
    return orgID;
  };
  const writable = ({ principal, params }: V2Call): AnnotationStream => {
    const stream = streams().get(pathId(params["streamID"]!, "stream"));
    principal.require({ action: "write", type: "annotations", id: stream.id, orgID: stream.orgID });
    return stream;
  };
  const read = async (request: Request, nameless = "") => readStream(await bodies.read(StreamBody, request), nameless);
  return new V2Routes(services)
    .get(STREAMS, (call) => {
      const found = streams().list(ofOrganization(call, "read"), call.search.all("streamIncludes"));
      return textAnswer(listTexts(found));
    })
    .put(STREAMS, async (call) => {
      const orgID = ofOrganization(call, "write");
      return json(200, shownStream(await streams().put({ orgID, ...(await read(call.request, DEFAULT_STREAM)) })));
    })
    .delete(STREAMS, async (call) => {
      const orgID = ofOrganization(call, "write");
      const names = call.search.all("stream").filter((name) => name !== "");
      if (names.length === 0) throw noName();
      for (const { id } of streams().list(orgID, names)) await streams().delete(id);
      return noContent();
    })
    .put(ITEM, async (call) => {
      const { id } = writable(call);
      return json(200, shownStream(await streams().update(id, await read(call.request))));
    })
    .delete(ITEM, async (call) => {
      await streams().delete(writable(call).id);
      return noContent();
    });
};

/** @param nameless the name of a stream without one; "": it is refused @throws TsdbError bad_request */
function readStream({ stream = "", description = "" }: Static<typeof StreamBody>, nameless: string) {
  const name = stream === "" ? nameless : stream;
  if (name === "") throw noName();
  requireShort("stream name", name, NAME_MAX);
  requireShort("stream description", description, DESCRIPTION_MAX);
  return { name, description };
}

function noName(): TsdbError {
  return new TsdbError("bad_request", "stream name must be set");
}

function* listTexts(streams: readonly AnnotationStream[]): Generator<string, void, void> {
  yield "[";
  for (const [i, stream] of streams.entries()) yield `${i === 0 ? "" : ","}${JSON.stringify(shownStream(stream))}`;
  yield "]\n";
}

function shownStream({ id, name, description, createdAt, updatedAt }: AnnotationStream): object {
  return { id, stream: name, ...(description === "" ? {} : { description }), createdAt, updatedAt };
}
