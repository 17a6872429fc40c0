// POST /api/v3/plugin_test/wal and /schedule: runs a plugin without a trigger, and without writing what it writes.
import { t } from "elysia";
import type { PluginDryRun, PluginDryRunResult } from "../../../model/plugins.ts";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { json } from "../../shared/respond.ts";
import { type AnyCall, Routes } from "../../shared/route.ts";
import { requireReady } from "../../shared/write.ts";
import { configureAnswers, configureFailed } from "../configure/configure-route.ts";

const MEMBERS = {
  filename: t.String({ description: "Path of the plugin below --plugin-dir, or gh: and a path in the repository." }),
  database: t.String({ description: "Where statements and writes without a database go." }),
  cache_name: t.Optional(t.Union([t.String(), t.Null()], { description: "Name of the cache; dry runs of the same name share it." })),
  input_arguments: t.Optional(
    t.Union([t.Record(t.String(), t.String()), t.Null()], { description: "Arguments of the trigger that there would be." }),
  ),
};
const WritesBody = t.Object({ ...MEMBERS, input_lp: t.String({ description: "Lines that the plugin gets the rows of." }) });
const ScheduleBody = t.Object({
  ...MEMBERS,
  schedule: t.Optional(t.Union([t.String(), t.Null()], { description: "As in a trigger, or the fields of cron; absent: every second." })),
});

const RESULT = {
  log_lines: t.Array(t.String({ description: "As INFO: text" })),
  database_writes: t.Record(t.String(), t.Array(t.String()), { description: "Lines that would have been written, by database." }),
  errors: t.Array(t.String()),
};
const Result = t.Object(RESULT);
const ScheduleResult = t.Object({
  trigger_time: t.Union([t.String(), t.Null()], { description: "The time that the plugin was given." }),
  ...RESULT,
});

const ANSWERS = {
  400: "The body or the plugin cannot be understood.",
  404: "The database or the plugin does not exist, or the server has no --plugin-dir.",
  500: "There is no Python.",
};

interface DryRunBody {
  readonly filename: string;
  readonly database: string;
  readonly cache_name?: string | null;
  readonly input_arguments?: Record<string, string> | null;
}

function dryRunOf({ filename, database, cache_name: cacheName = null, input_arguments: given = null }: DryRunBody): PluginDryRun {
  return { filename, database, cacheName, arguments: given };
}

const resultJson = ({ logLines, writes, errors }: PluginDryRunResult) => ({ log_lines: logLines, database_writes: writes, errors });

async function answered(services: AppServices, call: AnyCall, run: () => Promise<object>): Promise<Response> {
  try {
    requireReady(services.status());
    // a plugin may take longer than a connection may be silent
    call.server?.timeout(call.request, 0);
    return json(200, await run());
  } catch (error) {
    return configureFailed(services, call, error);
  }
}

export const pluginDryRunRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  return new Routes(services.access)
    .post(
      "/api/v3/plugin_test/wal",
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Test a plugin for writes",
        description: "Runs process_writes on the rows of the lines. Nothing is written.",
        body: { "application/json": WritesBody },
        answers: { ...configureAnswers(ANSWERS), 200: { description: "What came of it.", content: { "application/json": Result } } },
      }),
      (call) =>
        answered(services, call, async () => {
          const body = await readJsonBody(WritesBody, call.request, reader);
          return resultJson(await services.plugins(call.caller).testWrites(dryRunOf(body), body.input_lp));
        }),
    )
    .post(
      "/api/v3/plugin_test/schedule",
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Test a plugin for schedules",
        description: "Runs process_scheduled_call at the schedule's next time, at once. Nothing is written.",
        body: { "application/json": ScheduleBody },
        answers: {
          ...configureAnswers(ANSWERS),
          200: { description: "What came of it.", content: { "application/json": ScheduleResult } },
        },
      }),
      (call) =>
        answered(services, call, async () => {
          const body = await readJsonBody(ScheduleBody, call.request, reader);
          const { timeMs, ...result } = await services.plugins(call.caller).testSchedule(dryRunOf(body), body.schedule ?? null);
          const time = timeMs === null ? null : new Date(timeMs).toISOString().replace(/\.000Z$/, "Z");
          return { trigger_time: time, ...resultJson(result) };
        }),
    );
};
