// Secrets of organizations: their keys are listed, their values never.
import { Type as t } from "@sinclair/typebox";
import { near, TsdbError } from "../../model/errors.ts";
import { noContent } from "./app/answers.ts";
import { found, listAnswer } from "./app/list-answer.ts";
import { JsonBodies } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { parentOrganization } from "./organizations.ts";

export const SecretKeys = t.Object({ secrets: t.Optional(t.Array(t.String())) });
const HEAD = "failed to unmarshal json: ";
const SECRETS = "/api/v2/orgs/:orgID/secrets";

export const secretRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const secrets = () => services.line().secrets;
  const organization = (call: V2Call, action: "read" | "write"): string => {
    const { id } = parentOrganization(services, call);
    call.principal.require({ action, type: "secrets", orgID: id });
    return id;
  };
  return new V2Routes(services)
    .get(SECRETS, (call) => {
      const id = organization(call, "read");
      const org = `/api/v2/orgs/${id}`;
      const keys = found(secrets().heads(id), (secretID) => secrets().key(secretID), JSON.stringify);
      return listAnswer("secrets", keys, { links: { org, self: `${org}/secrets` } });
    })
    .patch(SECRETS, async (call) => {
      parentOrganization(services, call);
      const values = readSecrets(await bodies.rawValue(call.request, HEAD));
      await secrets().put(organization(call, "write"), values);
      return noContent();
    })
    .post(`${SECRETS}/delete`, async (call) => {
      parentOrganization(services, call);
      const { secrets: keys = [] } = await bodies.read(SecretKeys, call.request);
      await secrets().delete(organization(call, "write"), keys);
      return noContent();
    })
    .delete(`${SECRETS}/:secretID`, async (call) => {
      await secrets().delete(organization(call, "write"), [call.params["secretID"]!]);
      return noContent();
    });
};

/** Each is encrypted, and an operation of the log. */
const AT_ONCE_MAX = 1000;

/** A value that is null is empty. @throws TsdbError bad_request */
function readSecrets(body: unknown): Map<string, string> {
  const values = new Map<string, string>();
  if (body === null) return values;
  if (typeof body !== "object" || Array.isArray(body))
    throw new TsdbError("bad_request", `${HEAD}json: cannot unmarshal: want an object of texts`);
  const given = Object.entries(body);
  if (given.length > AT_ONCE_MAX) throw new TsdbError("bad_request", `${HEAD}got ${given.length} secrets, want at most ${AT_ONCE_MAX}`);
  for (const [key, value] of given) {
    if (value !== null && typeof value !== "string") {
      throw new TsdbError("bad_request", `${HEAD}json: cannot unmarshal the value of ${near(JSON.stringify(key))}: want a text`);
    }
    values.set(key, value ?? "");
  }
  return values;
}
