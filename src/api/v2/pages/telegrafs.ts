// Configurations of Telegraf: /api/v2/telegrafs. An agent reads its own as TOML, with the address as its `--config`.
import { type Static, Type as t } from "@sinclair/typebox";
import type { Telegraf } from "../../../metadata/resources/pages/telegrafs.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { GivenId, JsonBodies, type SearchParams } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { addLabelRoutes, seen } from "../labels.ts";
import { addMemberRoutes } from "../members.ts";
import { shownLabel } from "../shown.ts";
import { bucketsOf, configOf } from "./telegraf-config.ts";

const PluginBody = t.Object({
  name: t.Optional(t.String()),
  type: t.Optional(t.String()),
  alias: t.Optional(t.String()),
  comment: t.Optional(t.String()),
  description: t.Optional(t.String()),
  config: t.Optional(t.Union([t.String(), t.Record(t.String(), t.Any())])),
});

export const TelegrafBody = t.Object({
  orgID: t.Optional(t.String()),
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  config: t.Optional(t.String({ description: "TOML." })),
  metadata: t.Optional(
    t.Record(t.String(), t.Any(), { description: "Kept as they come. [`buckets`: the names of those that `config` writes to]" }),
  ),
  agent: t.Optional(t.Object({ collectionInterval: t.Optional(t.Integer({ minimum: 0, description: "In milliseconds." })) })),
  plugins: t.Optional(t.Array(PluginBody, { maxItems: 1000, description: "Of old clients, instead of `config`." })),
});
const WholeTelegrafBody = t.Composite([TelegrafBody, GivenId]);

const TELEGRAFS = "/api/v2/telegrafs";
const ITEM = `${TELEGRAFS}/:telegrafID`;

const TOML = "application/toml";
const JSON_TYPE = "application/json";
const FILE = "application/octet-stream";

export const telegrafRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const shown = (telegraf: Telegraf) => shownTelegraf(services, telegraf);
  const routes = new V2Routes(services)
    .get(TELEGRAFS, ({ principal, search }) => {
      const visible = line()
        .telegrafs.heads(organizationOf(search))
        .filter((telegraf) => principal.allows(needOf("read", telegraf)));
      return listAnswer(
        "configurations",
        found(visible, (id) => line().telegrafs.find(id), shown),
      );
    })
    .post(TELEGRAFS, async ({ principal, request }) => {
      const { orgID, ...content } = contentOf(await bodies.read(WholeTelegrafBody, request, ""));
      if (orgID === null) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      principal.require({ action: "write", type: "telegrafs", orgID });
      return json(201, shown(await line().telegrafs.create({ orgID, ...content })));
    })
    .get(ITEM, ({ principal, params, request }) => {
      const telegraf = line().telegrafs.get(readId(params["telegrafID"]!));
      principal.require(needOf("read", telegraf));
      switch (wanted(request.headers.get("accept") ?? "")) {
        case JSON_TYPE:
          return json(200, shown(telegraf));
        case FILE:
          return new Response(telegraf.config, { headers: { "content-type": FILE, "content-disposition": attachment(telegraf) } });
        default:
          return new Response(telegraf.config, { headers: { "content-type": `${TOML}; charset=utf-8` } });
      }
    })
    .put(ITEM, async ({ principal, params, request }) => {
      // it stays in its organization
      const { orgID: _, ...content } = contentOf(await bodies.read(WholeTelegrafBody, request, ""));
      const id = readId(params["telegrafID"]!);
      requireChange(principal, line().telegrafs.get(id));
      return json(200, shown(await line().telegrafs.update(id, content)));
    })
    .delete(ITEM, async ({ principal, params }) => {
      const telegraf = line().telegrafs.get(readId(params["telegrafID"]!));
      requireChange(principal, telegraf);
      await line().telegrafs.delete(telegraf.id);
      return noContent();
    });
  const find = ({ params }: V2Call): Telegraf => line().telegrafs.get(readId(params["telegrafID"]!));
  const parent = seen(find, needOf, () => "telegraf configuration not found");
  const place = { path: TELEGRAFS, type: "telegrafs", param: "telegrafID", find, parent } as const;
  addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
  return addMemberRoutes(routes, services, { ...place, need: needOf, hasLogs: true });
};

function needOf(action: "read" | "write", { id, orgID }: { readonly id: string; readonly orgID: string }) {
  return { action, type: "telegrafs", id, orgID } as const;
}

function requireChange(principal: V2Call["principal"], telegraf: Telegraf): void {
  principal.require(needOf("read", telegraf));
  principal.require(needOf("write", telegraf));
}

/** @throws TsdbError bad_request */
function organizationOf(search: SearchParams): string | null {
  try {
    return search.id("orgID") ?? null;
  } catch (error) {
    throw new TsdbError("bad_request", `orgID is invalid: ${(error as Error).message}`);
  }
}

/** What is kept of a body; the organization is null where there is none. @throws TsdbError bad_request */
function contentOf(body: Static<typeof TelegrafBody>): Omit<Telegraf, "id" | "orgID"> & { readonly orgID: string | null } {
  const { name = "", description = "", agent, plugins, metadata = {} } = body;
  const orgID = body.orgID === undefined ? null : readId(body.orgID);
  const whole = plugins?.map(({ name = "", type = "", comment, description = "", config = {} }) => {
    return { name, type, comment: comment ?? description, config };
  });
  // of both the plugins count, also where there are none
  const config = whole === undefined ? (body.config ?? "") : configOf(agent?.collectionInterval, whole);
  const isGiven = Object.keys(metadata).length > 0;
  return { orgID, name, description, config, metadata: isGiven ? metadata : { buckets: bucketsOf(config) } };
}

/** The content type of the answer: what `Accept` names with the highest weight; TOML if it names none. */
function wanted(accept: string): string {
  let best = { type: TOML, weight: 0 };
  for (const range of accept.toLowerCase().split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim());
    if (type !== TOML && type !== JSON_TYPE && type !== FILE) continue;
    const given = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = given === undefined ? 1 : Number(given.slice(2));
    if (weight > best.weight) best = { type, weight };
  }
  return best.type;
}

/** A file named after the configuration. */
function attachment({ name }: Telegraf): string {
  const plain = name.replaceAll(/\s/g, "_").replaceAll(/[^\w.-]/g, "");
  return `attachment; filename="${plain === "" ? "telegraf" : plain}.toml"`;
}

/** Those that are not empty. */
function given(texts: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ""));
}

/** A configuration as clients read it. */
function shownTelegraf(services: V2Services, telegraf: Telegraf): object {
  const { id, orgID, name, description, config, metadata } = telegraf;
  const self = `${TELEGRAFS}/${id}`;
  return {
    ...{ id, orgID, ...given({ name, description, config }), metadata },
    labels: services.line().labels.ofResource("telegrafs", id).map(shownLabel),
    links: { self, labels: `${self}/labels`, members: `${self}/members`, owners: `${self}/owners` },
  };
}
