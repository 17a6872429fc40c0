// Remote connections: /api/v2/remotes. No answer has a token.
import { Type as t } from "@sinclair/typebox";
import type { Remote } from "../../../metadata/resources/replication/remotes.ts";
import { parseId, readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { codeAnswer } from "../app/errors.ts";
import { IdText, JsonBodies, type SearchParams } from "../app/params.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";

const CHANGEABLE = {
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  remoteURL: t.Optional(t.String()),
  remoteAPIToken: t.Optional(t.String()),
  remoteOrgID: IdText,
  allowInsecureTLS: t.Optional(t.Boolean()),
};
export const RemoteBody = t.Object({ orgID: IdText, ...CHANGEABLE });
export const RemoteUpdateBody = t.Object(CHANGEABLE);

const REMOTES = "/api/v2/remotes";
const ITEM = `${REMOTES}/:remoteID`;
const HEAD = "failed to unmarshal json: ";

export const remoteRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const remotes = () => services.line().remotes;
  return new V2Routes(services)
    .get(REMOTES, ({ principal, search }) => {
      const found = remotes().list({ orgID: orgIn(search), name: search.get("name"), remoteURL: search.get("remoteURL") });
      const visible = found.filter((remote) => principal.allows(needOf("read", remote)));
      return json(200, { remotes: found.length === 0 ? null : visible.map(shownRemote) });
    })
    .post(REMOTES, async ({ principal, request }) => {
      const body = await bodies.read(RemoteBody, request);
      const { name = "", description = null, remoteURL = "", remoteAPIToken: token = "", allowInsecureTLS = false } = body;
      const orgID = requiredId(body.orgID, "invalid org id for permission: invalid ID");
      const remoteOrgID = optionalId(body.remoteOrgID) ?? null;
      principal.require({ action: "write", type: "remotes", orgID });
      const made = { orgID, name, description, remoteURL, remoteOrgID, allowInsecureTLS, token };
      return sameName(async () => json(201, shownRemote(await remotes().create(made))));
    })
    .get(ITEM, ({ principal, params }) => {
      const remote = remotes().get(pathId(params["remoteID"]!));
      principal.require(needOf("read", remote));
      return json(200, shownRemote(remote));
    })
    .patch(ITEM, async ({ principal, params, request }) => {
      const id = pathId(params["remoteID"]!);
      const { remoteAPIToken: token, remoteOrgID: org, ...body } = await bodies.read(RemoteUpdateBody, request);
      const remoteOrgID = optionalId(org);
      principal.require(needOf("write", remotes().get(id)));
      const { name, description, remoteURL, allowInsecureTLS } = body;
      const changed = given({ name, description, remoteURL, allowInsecureTLS, token, remoteOrgID });
      return sameName(async () => json(200, shownRemote(await remotes().update(id, changed))));
    })
    .delete(ITEM, async ({ principal, params }) => {
      const remote = remotes().get(pathId(params["remoteID"]!));
      principal.require(needOf("write", remote));
      return internal("unprocessable", async () => {
        await remotes().delete(remote.id);
        return noContent();
      });
    });
};

/** @throws TsdbError bad_request */
export function orgIn(search: SearchParams): string {
  const orgID = parseId(search.get("orgID") ?? "");
  if (orgID === null) throw new TsdbError("bad_request", "invalid or missing org ID");
  return orgID;
}

/** Of a body. @throws TsdbError bad_request */
export function optionalId(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return readId(text);
  } catch (error) {
    throw new TsdbError("bad_request", `${HEAD}${(error as Error).message}`);
  }
}

/** @throws TsdbError bad_request */
export function requiredId(text: string | undefined, ifMissing: string): string {
  const id = optionalId(text);
  if (id === undefined) throw new TsdbError("bad_request", ifMissing);
  return id;
}

/** Without members that are undefined. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** A name that another one has: the status is the vendor's, which clients know. */
export const sameName = (run: () => Promise<Response>): Promise<Response> => internal("already_exists", run);

/** Errors of the kind are answered 500, as the vendor's server does, and are no fault of this one's. */
async function internal(kind: TsdbError["kind"], run: () => Promise<Response>): Promise<Response> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof TsdbError && error.kind === kind) return codeAnswer("internal error", error.message);
    throw error;
  }
}

function pathId(text: string): string {
  const id = parseId(text);
  if (id === null) throw new TsdbError("bad_request", "remote-connection ID is invalid");
  return id;
}

function needOf(action: "read" | "write", { id, orgID }: Remote) {
  return { action, type: "remotes", id, orgID } as const;
}

function shownRemote({ description, ...remote }: Remote): object {
  const { id, orgID, name, remoteURL, remoteOrgID, allowInsecureTLS } = remote;
  return { id, orgID, name, ...(description === null ? {} : { description }), remoteURL, remoteOrgID, allowInsecureTLS };
}
