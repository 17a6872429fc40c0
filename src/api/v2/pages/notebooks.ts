// Notebooks: /api/v2private/notebooks. What is in one passes through as text.
import { Type as t } from "@sinclair/typebox";
import type { Notebook } from "../../../metadata/resources/pages/notebooks.ts";
import { parseId, readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { noContent } from "../app/answers.ts";
import { listAnswer, found as listed, textAnswer } from "../app/list-answer.ts";
import { JsonBodies, type SearchParams } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";

export const NotebookBody = t.Object({
  orgID: t.Optional(t.String()),
  name: t.Optional(t.String()),
  spec: t.Optional(t.Object({}, { additionalProperties: true, description: "Of the interface that shows it; kept as it comes." })),
});

const NOTEBOOKS = "/api/v2private/notebooks";
const ITEM = `${NOTEBOOKS}/:notebookID`;
const HEAD = "failed to unmarshal json: ";

export const notebookRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const notebooks = () => services.line().notebooks;
  /** @throws TsdbError bad_request, not_found, forbidden */
  const found = ({ principal, params }: V2Call, action: "read" | "write"): Notebook => {
    const notebook = notebooks().get(pathId(params["notebookID"]!, "notebook"));
    principal.require({ action, type: "notebooks", id: notebook.id, orgID: notebook.orgID });
    return notebook;
  };
  const read = async (request: Request) => {
    const { orgID, name = "", spec } = await bodies.read(NotebookBody, request, HEAD);
    const org = orgID === undefined ? null : bodyId(orgID);
    if (org === null) throw new TsdbError("bad_request", "OrgID required");
    if (name === "") throw new TsdbError("bad_request", "Name required");
    if (spec === undefined) throw new TsdbError("bad_request", "Spec required");
    return { orgID: org, name, spec: JSON.stringify(spec) };
  };
  const replace = async (call: V2Call) => {
    pathId(call.params["notebookID"]!, "notebook");
    const { name, spec } = await read(call.request);
    const { id } = found(call, "write");
    return shown(await notebooks().update(id, { name, spec }));
  };
  return new V2Routes(services)
    .get(NOTEBOOKS, ({ principal, search }) => {
      const orgID = organizationIn(search);
      principal.require({ action: "read", type: "notebooks", orgID });
      return listAnswer(
        "flows",
        listed(notebooks().heads(orgID), (id) => notebooks().find(id), textOf),
      );
    })
    .post(NOTEBOOKS, async ({ principal, request }) => {
      const notebook = await read(request);
      principal.require({ action: "write", type: "notebooks", orgID: notebook.orgID });
      return shown(await notebooks().create(notebook));
    })
    .get(ITEM, (call) => shown(found(call, "read")))
    .put(ITEM, replace)
    .patch(ITEM, replace)
    .delete(ITEM, async (call) => {
      await notebooks().delete(found(call, "write").id);
      return noContent();
    });
};

/** @throws TsdbError bad_request */
export function organizationIn(search: SearchParams): string {
  const orgID = parseId(search.get("orgID") ?? "");
  if (orgID === null) throw new TsdbError("bad_request", "invalid or missing org id");
  return orgID;
}

/** @throws TsdbError bad_request */
export function pathId(text: string, what: string): string {
  const id = parseId(text);
  if (id === null) throw new TsdbError("bad_request", `${what} id is invalid`);
  return id;
}

/** @throws TsdbError bad_request */
function bodyId(text: string): string {
  try {
    return readId(text);
  } catch (error) {
    throw new TsdbError("bad_request", `${HEAD}${(error as Error).message}`);
  }
}

function shown(notebook: Notebook): Response {
  return textAnswer([`${textOf(notebook)}\n`].values());
}

function textOf(notebook: Notebook): string {
  const { id, orgID, name, spec, createdAt, updatedAt } = notebook;
  return `${JSON.stringify({ orgID, id, name, createdAt, updatedAt }).slice(0, -1)},"spec":${spec}}`;
}
