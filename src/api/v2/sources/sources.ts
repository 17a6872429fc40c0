// Sources: /api/v2/sources. A password and a shared secret are in no answer.
import { Type as t } from "@sinclair/typebox";
import type { Source } from "../../../metadata/resources/pages/sources.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { JsonBodies } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { canRead } from "../buckets.ts";
import { given } from "../replication/remotes.ts";
import { shownBucket } from "../shown.ts";
import { AskedSources, SOURCE_BUCKETS_MAX } from "./asked-source.ts";

export const SourceBody = t.Object({
  orgID: t.Optional(t.String()),
  default: t.Optional(t.Boolean()),
  name: t.Optional(t.String()),
  type: t.Optional(t.String({ description: "`self`: this server. `v1`, `v2`: a server of that line. Others are kept and not asked." })),
  url: t.Optional(t.String({ description: "Of the server." })),
  insecureSkipVerify: t.Optional(t.Boolean({ description: "The certificate of the server is not checked." })),
  telegraf: t.Optional(t.String()),
  token: t.Optional(t.String({ description: "Of the server. Kept encrypted." })),
  username: t.Optional(t.String({ description: "Of a v1 server." })),
  password: t.Optional(t.String({ description: "Of a v1 server. Kept encrypted, and in no answer." })),
  sharedSecret: t.Optional(t.String({ description: "Of a v1 server, goes before the password. Kept encrypted, and in no answer." })),
  metaUrl: t.Optional(t.String()),
  defaultRP: t.Optional(t.String()),
});

const SOURCES = "/api/v2/sources";
const ITEM = `${SOURCES}/:sourceID`;

export const sourceRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const asked = new AskedSources(services.options.sourcesAllowPrivateNetwork, services.clockMs);
  const sources = () => services.line().sources;
  /** @throws TsdbError bad_request, not_found, forbidden */
  const permitted = ({ principal, params }: V2Call, action: "read" | "write"): Source => {
    const source = sources().get(readId(params["sourceID"]!));
    principal.require(needOf(action, source));
    return source;
  };
  return new V2Routes(services)
    .get(SOURCES, ({ principal, search }) => {
      // no filter, as on release 2.8.0, but it has to be text
      search.get("org");
      const all = sources().heads();
      const visible = all.filter((source) => principal.allows(needOf("read", source)));
      const items = found(visible, (id) => sources().find(id), shownSource);
      return listAnswer("sources", items, { links: { self: SOURCES } });
    })
    .post(SOURCES, async ({ principal, request }) => {
      const { orgID: org = "", default: isDefault = false, ...body } = await bodies.read(SourceBody, request);
      if (org === "") throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      const orgID = readId(org);
      principal.require({ action: "write", type: "sources", orgID });
      const { name = "", type = "", url = "", metaUrl = "", telegraf = "", defaultRP = "", username = "" } = body;
      const { insecureSkipVerify = false, token = "", password = "", sharedSecret = "" } = body;
      const place = { orgID, isDefault, name, type, url, metaUrl, insecureSkipVerify };
      const made = { ...place, telegraf, defaultRP, username, token, password, sharedSecret };
      return json(201, shownSource(await sources().create(made)));
    })
    .get(ITEM, (call) => json(200, shownSource(permitted(call, "read"))))
    .patch(ITEM, async (call) => {
      const id = readId(call.params["sourceID"]!);
      const body = await bodies.read(SourceBody, call.request);
      permitted(call, "write");
      // it stays in its organization
      const { name, type, url, metaUrl, telegraf, defaultRP, username, insecureSkipVerify, token, password, sharedSecret } = body;
      const place = { name, type, url, metaUrl, telegraf, defaultRP, username, insecureSkipVerify };
      const source = await sources().update(id, given({ ...place, token, password, sharedSecret }));
      // who may change it alone does not learn the token
      return json(200, shownSource(call.principal.allows(needOf("read", source)) ? source : { ...source, token: "" }));
    })
    .delete(ITEM, async (call) => {
      await sources().delete(permitted(call, "write").id);
      return noContent();
    })
    .get(`${ITEM}/health`, async (call) => {
      const fault = await asked.fault(permitted(call, "read"));
      const health = (status: "pass" | "fail", message: string) => ({ name: "sources", message, status, checks: [] });
      return fault === null ? json(200, health("pass", "source is healthy")) : json(503, health("fail", fault));
    })
    .get(`${ITEM}/buckets`, async (call) => {
      const source = permitted(call, "read");
      const org = call.search.get("org");
      const buckets = source.type === "self" ? ownBuckets(services, call, org) : await asked.buckets(source, org);
      return json(200, { links: { self: `${SOURCES}/${source.id}/buckets` }, buckets });
    });
};

function needOf(action: "read" | "write", { id, orgID }: Pick<Source, "id" | "orgID">) {
  return { action, type: "sources", id, orgID } as const;
}

/** Those of this server that the sender may read. @throws TsdbError not_found */
function ownBuckets(services: V2Services, { principal }: V2Call, org: string | undefined): object[] {
  const { buckets, organizations, labels } = services.line();
  const filter = org === undefined ? {} : { orgID: organizations.byName(org).id };
  const page = { limit: SOURCE_BUCKETS_MAX, offset: 0, after: null, isDescending: false };
  const visible = buckets.list(filter, page).filter((bucket) => canRead(principal, bucket));
  return visible.map((bucket) => shownBucket(bucket, labels.ofResource("buckets", bucket.id)));
}

/** Members that are empty are absent, as clients know it. */
function shownSource(source: Source): object {
  const { id, orgID, isDefault, name, type, url, insecureSkipVerify, telegraf, token, username, metaUrl, defaultRP } = source;
  const self = `${SOURCES}/${id}`;
  const filled = Object.entries({ type, username, metaUrl }).filter(([, text]) => text !== "");
  return {
    ...{ id, orgID, default: isDefault, name, url, telegraf, token, defaultRP, ...Object.fromEntries(filled) },
    ...(insecureSkipVerify ? { insecureSkipVerify } : {}),
    links: { self, query: `${self}/query`, buckets: `${self}/buckets`, health: `${self}/health` },
  };
}
