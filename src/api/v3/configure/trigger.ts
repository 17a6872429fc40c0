// /api/v3/configure/processing_engine_trigger: triggers are made, deleted, enabled and disabled. What a plugin does it does with the rights
// of the server, on all databases: only admins change triggers.
import { type Static, t } from "elysia";
import { TsdbError } from "../../../model/errors.ts";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import { QUERY_OR_BODY, readQueryOrBody } from "../../request/query-or-body.ts";
import { readRequiredQuery } from "../../request/query-string.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "./configure-route.ts";
import { NodeSpec, readNodeSpec } from "./node-spec.ts";

const PATH = "/api/v3/configure/processing_engine_trigger";

const db = t.String({ description: "Database." });
const name = t.String({ description: "Trigger." });
const TriggerBody = t.Object({
  db,
  plugin_filename: t.String({ description: "File or folder below --plugin-dir, or `gh:` and a path of --plugin-repo." }),
  trigger_name: name,
  trigger_specification: t.String({
    description: "`all_tables`, `table:NAME`, `cron:` with six fields (seconds first, UTC), `every:DURATION`, or `request:PATH`.",
  }),
  trigger_settings: t.Object(
    {
      run_async: t.Boolean({ description: "Runs may overlap." }),
      error_behavior: t.String({ description: "What becomes of a run that fails: `log`, `retry` (five times at most) or `disable`." }),
    },
    { description: "How it runs." },
  ),
  trigger_arguments: t.Optional(
    t.Union([t.Object({}, { additionalProperties: true }), t.Null()], { description: "What the plugin gets as `args`: texts by name." }),
  ),
  disabled: t.Boolean({ description: "It is made and does not run." }),
  node_spec: NodeSpec,
});
const Named = t.Object({ db, trigger_name: name });
const Deleted = t.Object({
  ...Named.properties,
  force: t.Optional(t.Boolean({ description: "Also while it runs; what runs is interrupted." })),
});

const NOT_FOUND = { 404: "The database or the trigger does not exist." };

export const triggerRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const isEnterprise = services.edition === "enterprise";
  const change = (verb: "enable" | "disable", summary: string, description: string) =>
    [
      `${PATH}/${verb}`,
      operation({
        ...{ tag: "Processing engine", access: "admin", summary, description, query: Named },
        answers: configureAnswers({
          200: "It is so now.",
          400: "A parameter is missing.",
          ...NOT_FOUND,
          500: "Its plugin cannot be found.",
        }),
      }),
    ] as const;
  return new Routes(services.access)
    .post(
      PATH,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Create a trigger",
        description: "It runs a Python plugin on rows that are written, by a schedule, or on requests to /api/v3/engine/PATH.",
        body: { "application/json": TriggerBody },
        answers: configureAnswers({
          200: "It exists now, and runs unless `disabled`.",
          400: "The body or the specification cannot be understood, the name is taken, or the server does not take such triggers.",
          404: "The database does not exist.",
          422: "There are as many triggers as there may be.",
          500: "The plugin cannot be used: no --plugin-dir, no such file, no Python, no such function in it.",
        }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const body = await readJsonBody(TriggerBody, call.request, reader);
          await services.triggers(call.caller).create({
            ...{ database: body.db, name: body.trigger_name, plugin: body.plugin_filename, specification: body.trigger_specification },
            ...{ runAsync: body.trigger_settings.run_async, errorBehavior: body.trigger_settings.error_behavior },
            ...{ arguments: textsOf(body.trigger_arguments ?? null), isDisabled: body.disabled },
            nodes: isEnterprise ? readNodeSpec(body.node_spec) : null,
          });
        }),
    )
    .delete(
      PATH,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Delete a trigger",
        description: QUERY_OR_BODY,
        query: Deleted,
        answers: configureAnswers({ 200: "It is gone.", 400: "A parameter is missing, or the trigger runs at the moment.", ...NOT_FOUND }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { force = false, ...named } = await readQueryOrBody(Deleted, call, reader);
          await services.triggers(call.caller).delete(nameOf(named), force);
        }),
    )
    .post(...change("enable", "Enable a trigger", "One for writes sees rows that are written from then on."), (call) =>
      configure(services, call, 200, () => {
        return services.triggers(call.caller).enable(nameOf(readRequiredQuery(Named, call.target.search)));
      }),
    )
    .post(...change("disable", "Disable a trigger", "What runs of it is interrupted: a KeyboardInterrupt in the plugin."), (call) =>
      configure(services, call, 200, () => {
        return services.triggers(call.caller).disable(nameOf(readRequiredQuery(Named, call.target.search)));
      }),
    );
};

function nameOf({ db: database, trigger_name }: Static<typeof Named>): { database: string; name: string } {
  return { database, name: trigger_name };
}

/** Numbers and booleans are what they are in JSON. @throws TsdbError bad_request for lists and objects */
function textsOf(members: Readonly<Record<string, unknown>> | null): Record<string, string> | null {
  if (members === null) return null;
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => {
      if (typeof value === "string") return [key, value];
      if (typeof value === "number" || typeof value === "boolean") return [key, String(value)];
      throw new TsdbError("bad_request", `serde json error: \`trigger_arguments.${key}\`: expected string`);
    }),
  );
}
