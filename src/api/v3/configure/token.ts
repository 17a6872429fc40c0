// /api/v3/configure/token: creates, replaces and deletes tokens. Their texts are returned once.
import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { checkPermission } from "../../../auth/permissions.ts";
import type { NewToken } from "../../../model/access.ts";
import { type OperationSource, operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import { readRequiredQuery } from "../../request/query-string.ts";
import type { AppServices } from "../../services.ts";
import { sizedResponse } from "../../shared/body-size.ts";
import { text } from "../../shared/respond.ts";
import { type AnyCall, Routes } from "../../shared/route.ts";
import { requireReady } from "../../shared/write.ts";
import { configure, configureAnswers, configureFailed } from "./configure-route.ts";

const PATH = "/api/v3/configure/token";
const ENTERPRISE_PATH = "/api/v3/enterprise/configure/token";

const Token = t.Object({
  id: Type.Integer(),
  name: t.String(),
  token: t.String({ description: "The text to send: it is shown this once." }),
  hash: t.String({ description: "SHA-512 of the text, which is all that is kept." }),
  created_at: t.String({ format: "date-time" }),
  expiry: t.Union([t.String({ format: "date-time" }), t.Null()]),
});
const expirySeconds = t.Optional(t.Union([Type.Integer({ minimum: 1 }), t.Null()], { description: "Absent or null: never." }));
const NamedAdminBody = t.Object({ token_name: t.String(), expiry_secs: expirySeconds });
const ResourceTokenBody = t.Object({
  token_name: t.String(),
  permissions: t.Array(
    t.Object({
      resource_type: t.String({ description: "`db` or `system`." }),
      resource_names: t.Array(t.String(), { description: "Names of databases, or health, ping, metrics, ready; `*` = all." }),
      actions: t.Array(t.String(), { description: "`read`, `write`, `create`, `describe`, `delete`; of system resources `read`." }),
    }),
    { minItems: 1, maxItems: 1000 },
  ),
  expiry_secs: expirySeconds,
});
const DeleteQuery = t.Object({ token_name: t.String() });

const CREATED: OperationSource["answers"] = {
  201: { description: "The token, with its text.", content: { "application/json": Token } },
  503: { description: "The server is replaying its log or stopping; try again." },
};

/** Times have milliseconds, as existing clients expect. */
export function tokenCreated({ id, name, token, hash, createdMs, expiryMs }: NewToken): Response {
  const expiry = expiryMs === null ? null : new Date(expiryMs).toISOString();
  const body = JSON.stringify({ id, name, token, hash, created_at: new Date(createdMs).toISOString(), expiry });
  return sizedResponse(body, { status: 201, headers: { "content-type": "application/json", "cache-control": "no-store" } });
}

const CREATE_THE_FIRST_ADMIN_TOKEN = operation({
  tag: "Tokens",
  summary: "Create the first admin token",
  access: "open",
  description: "Works once, without a token: do it when the server has started.",
  answers: { ...CREATED, 409: { description: "There is one." } },
});

const REPLACE_THE_FIRST_ADMIN_TOKEN = operation({
  tag: "Tokens",
  summary: "Replace the first admin token",
  access: "admin",
  description: "The text before is worth nothing from then on.",
  answers: CREATED,
});

const CREATE_AN_ADMIN_TOKEN_WITH_A = operation({
  tag: "Tokens",
  summary: "Create an admin token with a name",
  access: "admin",
  body: { "application/json": NamedAdminBody },
  answers: { ...CREATED, 400: { description: "The name or expiry cannot be." }, 409: { description: "The name is taken." } },
});

const DELETE_A_TOKEN = operation({
  tag: "Tokens",
  summary: "Delete a token",
  access: "admin",
  query: DeleteQuery,
  answers: configureAnswers({
    200: "Deleted.",
    404: "No token has the name.",
    405: "The first admin token and the last one cannot be deleted.",
  }),
});

const CREATE_A_TOKEN_FOR_SOME_DATABASES = operation({
  tag: "Tokens",
  summary: "Create a token for some databases or pages",
  access: "admin",
  body: { "application/json": ResourceTokenBody },
  answers: {
    ...CREATED,
    400: { description: "A permission, the name or the expiry cannot be." },
    409: { description: "The name is taken." },
  },
});

/** Routes for tokens. */
export const tokenRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const isOff = () => text(405, "endpoint disabled, started without auth");
  const make = async (call: AnyCall, run: () => Promise<NewToken>): Promise<Response> => {
    if (!services.access.isOn) return isOff();
    try {
      requireReady(services.status());
      return tokenCreated(await run());
    } catch (error) {
      return configureFailed(services, call, error);
    }
  };
  const routes = new Routes(services.access)
    .post(`${PATH}/admin`, CREATE_THE_FIRST_ADMIN_TOKEN, (call) => make(call, () => services.tokens().createOperatorToken()))
    .post(`${PATH}/admin/regenerate`, REPLACE_THE_FIRST_ADMIN_TOKEN, (call) =>
      make(call, () => services.tokens().regenerateOperatorToken(call.caller)),
    )
    .post(`${PATH}/named_admin`, CREATE_AN_ADMIN_TOKEN_WITH_A, (call) =>
      make(call, async () => {
        const { token_name: name, expiry_secs: expiry = null } = await readJsonBody(NamedAdminBody, call.request, reader);
        return services.tokens().createToken(call.caller, { name, expirySeconds: expiry, permissions: null });
      }),
    )
    .delete(PATH, DELETE_A_TOKEN, (call) => {
      if (!services.access.isOn) return isOff();
      return configure(services, call, 200, async () => {
        await services.tokens().deleteToken(call.caller, readRequiredQuery(DeleteQuery, call.target.search).token_name);
      });
    });
  if (services.edition !== "enterprise") return routes;
  return routes.post(ENTERPRISE_PATH, CREATE_A_TOKEN_FOR_SOME_DATABASES, (call) =>
    make(call, async () => {
      const { token_name: name, permissions, expiry_secs: expiry = null } = await readJsonBody(ResourceTokenBody, call.request, reader);
      const checked = permissions.map((each) => checkPermission(each.resource_type, each.resource_names, each.actions));
      return services.tokens().createToken(call.caller, { name, expirySeconds: expiry, permissions: checked });
    }),
  );
};
