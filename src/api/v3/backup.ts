// /api/v3/enterprise/backup: backups of all databases, made in the background.
import { t } from "elysia";
import type { BackupInfo } from "../../model/rows/backup-jobs.ts";
import { operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { readJsonBody } from "../request/json-body.ts";
import type { AppServices } from "../services.ts";
import { json } from "../shared/respond.ts";
import { Routes } from "../shared/route.ts";
import { answered, failed, JOB_ANSWERS, JOB_MEMBERS, jobJson, READ_ONLY } from "./job-answers.ts";

const PATH = "/api/v3/enterprise/backup";

const Type = t.Union([t.Literal("full"), t.Literal("incremental")], {
  description: "An incremental one has only files that its parent has not.",
});
const StartBody = t.Object({
  type: Type,
  name: t.Optional(t.String({ description: "At most 128 letters, digits, `_`, `-`, `=` and `.`. Default: made from the time." })),
  parent: t.Optional(t.String({ description: "Of an incremental one. Default: the newest." })),
  force: t.Optional(t.Boolean({ description: "Take the place of a backup of the name, which is there until then." })),
});
const CancelBody = t.Object({ name: t.String({ description: "Of a backup that is being made." }) });
const Path = t.Object({ name: t.String({ description: "Name of a backup." }) });
const Info = t.Object({ name: t.String(), type: Type, ...JOB_MEMBERS, parent: t.Optional(t.String()) });

const content = (schema: ReturnType<typeof t.Object>) => ({ "application/json": schema });

function infoJson({ name, type, parent, ...job }: BackupInfo): Record<string, unknown> {
  return { name, type, ...jobJson(job), ...(parent === null ? {} : { parent }) };
}

const COMMON = { tag: "Backup", access: "admin" } as const;

/** What the documentation says of each route. */
const OPERATIONS = {
  start: operation({
    ...{ ...COMMON, summary: "Start a backup", body: content(StartBody) },
    description:
      "Of all databases that this port shows: rows, tables, retention, deletions, caches, triggers and file indexes as of one moment, " +
      "with everything acknowledged before. Tokens, plugins, and what port 8086 has beside the rows are not in it.",
    answers: {
      ...JOB_ANSWERS,
      202: {
        description: "It is being made, or waits for others.",
        content: content(t.Object({ backup_name: t.String(), status: t.Literal("in_progress") })),
      },
      400: failed("The body cannot be understood, the name is no name, or the parent cannot be one."),
      403: READ_ONLY,
      404: failed("The parent does not exist."),
      409: failed("A backup of the name exists and `force` is false, one is being made, or an incremental one needs it."),
    },
  }),
  list: operation({
    ...{ ...COMMON, summary: "List backups" },
    answers: {
      ...JOB_ANSWERS,
      200: { description: "Backups, the newest first.", content: content(t.Object({ backups: t.Array(Info) })) },
    },
  }),
  cancel: operation({
    ...{ ...COMMON, summary: "Cancel a backup", body: content(CancelBody) },
    answers: {
      ...JOB_ANSWERS,
      200: { description: "It will end, as failed.", content: content(t.Object({ backup_name: t.String() })) },
      400: failed("The body cannot be understood."),
      404: failed("No backup of the name is being made."),
    },
  }),
  show: operation({
    ...{ ...COMMON, summary: "Get a backup", path: Path },
    answers: { ...JOB_ANSWERS, 200: { description: "The backup.", content: content(Info) }, 404: failed("No backup has the name.") },
  }),
  delete: operation({
    ...{ ...COMMON, summary: "Delete a backup", path: Path },
    description: "With all incremental backups that need it.",
    answers: {
      ...JOB_ANSWERS,
      200: { description: "Deleted.", content: content(t.Object({ backup_name: t.String(), type: Type })) },
      403: READ_ONLY,
      404: failed("No backup has the name."),
      409: failed("It, or a backup that needs it, is being made or restored."),
    },
  }),
};

/** Only with the extended edition. */
export const backupRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  return routes
    .post(PATH, OPERATIONS.start, (call) =>
      answered(services, call, async () => {
        const { type, name, parent, force } = await readJsonBody(StartBody, call.request, reader);
        const wanted = { type, name: name ?? null, parent: parent ?? null, force: force ?? false };
        const started = await services.backups(call.caller).start(wanted);
        return json(202, { backup_name: started, status: "in_progress" });
      }),
    )
    .get(PATH, OPERATIONS.list, (call) =>
      answered(services, call, async () => json(200, { backups: (await services.backups(call.caller).list()).map(infoJson) })),
    )
    .delete(PATH, OPERATIONS.cancel, (call) =>
      answered(services, call, async () => {
        const { name } = await readJsonBody(CancelBody, call.request, reader);
        await services.backups(call.caller).cancel(name);
        return json(200, { backup_name: name });
      }),
    )
    .pattern("GET", `${PATH}/{name}`, OPERATIONS.show, (call) =>
      answered(services, call, async () => json(200, infoJson(await services.backups(call.caller).find(call.parameters["name"]!)))),
    )
    .pattern("DELETE", `${PATH}/{name}`, OPERATIONS.delete, (call) =>
      answered(services, call, async () => {
        const name = call.parameters["name"]!;
        return json(200, { backup_name: name, type: await services.backups(call.caller).delete(name) });
      }),
    );
};
