// Onboarding: GET and POST /api/v2/setup. Everybody may ask until the server is set up.
import { Type as t } from "@sinclair/typebox";
import { TsdbError } from "../../model/errors.ts";
import { json } from "./app/answers.ts";
import { JsonBodies } from "./app/params.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { shownBucket, shownOperator, shownOrganization, shownUser } from "./shown.ts";

export const SetupBody = t.Object({
  username: t.Optional(t.String()),
  password: t.Optional(t.String()),
  org: t.Optional(t.String()),
  bucket: t.Optional(t.String()),
  token: t.Optional(t.String()),
  retentionPeriodSeconds: t.Optional(t.Integer()),
  retentionPeriodHrs: t.Optional(t.Integer()),
});

const HOUR_SECONDS = 3600;

export const setupRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  return new V2Routes(services)
    .open("GET", "/api/v2/setup", () => json(200, { allowed: services.line().onboarding.isAllowed }))
    .open("POST", "/api/v2/setup", async ({ request }) => {
      const line = services.line();
      line.onboarding.requireAllowed();
      const body = await bodies.read(SetupBody, request, "");
      const { username = "", password = "", org = "", bucket = "", token = "" } = body;
      requireFields({ username, org, bucket });
      const given = body.retentionPeriodSeconds ?? (body.retentionPeriodHrs ?? 0) * HOUR_SECONDS;
      // for ever, as far as that is allowed
      const everySeconds = given === 0 ? (services.options.retentionSecondsMax ?? 0) : given;
      const wanted = { username, password, org, bucket, token: token === "" ? null : token, everySeconds };
      const made = await line.setUp(wanted, { strong: services.options.strongPasswords });
      return json(201, {
        user: shownUser(made.user),
        bucket: shownBucket(made.bucket, []),
        org: shownOrganization(made.org),
        auth: shownOperator(line, made.auth),
      });
    });
};

/** @throws TsdbError unprocessable */
function requireFields(fields: Readonly<Record<string, string>>): void {
  const missing = Object.keys(fields).filter((name) => fields[name] === "");
  if (missing.length > 0) throw new TsdbError("unprocessable", `onboarding failed: missing required fields [${missing.join(",")}]`);
}
