// /api/v3/enterprise/restore: databases of a backup come back, in the background.
import { t } from "elysia";
import type { RestoreInfo } from "../../model/rows/backup-jobs.ts";
import { operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { readJsonBody } from "../request/json-body.ts";
import type { AppServices } from "../services.ts";
import { sizedResponse } from "../shared/body-size.ts";
import { json } from "../shared/respond.ts";
import { Routes } from "../shared/route.ts";
import { answered, failed, JOB_ANSWERS, JOB_MEMBERS, jobJson, READ_ONLY } from "./job-answers.ts";

const PATH = "/api/v3/enterprise/restore";

const StartBody = t.Object({ backup_name: t.String({ description: "A backup that is complete." }) });
const Path = t.Object({ id: t.String({ description: "Of a restore." }) });
const Info = t.Object({ restore_id: t.String(), backup_name: t.String(), ...JOB_MEMBERS });

const content = (schema: ReturnType<typeof t.Object>) => ({ "application/json": schema });

function infoJson({ id, backup, ...job }: RestoreInfo): Record<string, unknown> {
  return { restore_id: id, backup_name: backup, ...jobJson(job) };
}

const COMMON = { tag: "Backup", access: "admin" } as const;

/** What the documentation says of each route. */
const OPERATIONS = {
  start: operation({
    ...{ ...COMMON, summary: "Start a restore", body: content(StartBody) },
    description:
      "All databases of the backup appear at once, as they were. In a database that exists the present tables are deleted in the same " +
      "moment, and can be restored for three days; databases that the backup does not have stay. Files are verified before.",
    answers: {
      ...JOB_ANSWERS,
      202: {
        description: "It is running.",
        content: content(t.Object({ restore_id: t.String(), status: t.Literal("in_progress") })),
      },
      400: failed("The body cannot be understood, the name is none, or the backup is not complete."),
      403: READ_ONLY,
      404: failed("No backup has the name."),
      409: failed("Another restore is running."),
    },
  }),
  list: operation({
    ...{ ...COMMON, summary: "List restores" },
    answers: {
      ...JOB_ANSWERS,
      200: { description: "The newest 1,000, the newest first.", content: content(t.Object({ restores: t.Array(Info) })) },
    },
  }),
  show: operation({
    ...{ ...COMMON, summary: "Get a restore", path: Path },
    answers: { ...JOB_ANSWERS, 200: { description: "The restore.", content: content(Info) }, 404: failed("No restore has the id.") },
  }),
  cancel: operation({
    ...{ ...COMMON, summary: "Cancel a restore", path: Path },
    answers: {
      ...JOB_ANSWERS,
      204: { description: "It will end, as failed; nothing is restored." },
      404: failed("No such restore is running."),
    },
  }),
};

/** Only with the extended edition. */
export const restoreRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  return routes
    .post(PATH, OPERATIONS.start, (call) =>
      answered(services, call, async () => {
        const { backup_name: name } = await readJsonBody(StartBody, call.request, reader);
        return json(202, { restore_id: await services.backups(call.caller).startRestore(name), status: "in_progress" });
      }),
    )
    .get(PATH, OPERATIONS.list, (call) =>
      answered(services, call, async () => json(200, { restores: (await services.backups(call.caller).restores()).map(infoJson) })),
    )
    .pattern("GET", `${PATH}/{id}`, OPERATIONS.show, (call) =>
      answered(services, call, async () => json(200, infoJson(await services.backups(call.caller).findRestore(call.parameters["id"]!)))),
    )
    .pattern("DELETE", `${PATH}/{id}`, OPERATIONS.cancel, (call) =>
      answered(services, call, async () => {
        await services.backups(call.caller).cancelRestore(call.parameters["id"]!);
        return sizedResponse(null, { status: 204 });
      }),
    );
};
