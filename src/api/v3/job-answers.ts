// What backups and restores have in common: how their routes answer, and what a job looks like in JSON.
import { t } from "elysia";
import type { BackupInfo } from "../../model/rows/backup-jobs.ts";
import { UnacceptableType } from "../request/json-body.ts";
import type { AppServices } from "../services.ts";
import { failureOf } from "../shared/errors.ts";
import { errorJson, text } from "../shared/respond.ts";
import type { AnyCall } from "../shared/route.ts";
import { requireReady } from "../shared/write.ts";
import { ErrorBody } from "../shared/write-schemas.ts";
import { requireUpgradedEngine } from "./upgraded-engine.ts";

/** An answer with an error. */
export const failed = (description: string) => ({ description, content: { "application/json": ErrorBody } });

export const JOB_ANSWERS = {
  503: failed("The server runs without --use-pacha-tree, is replaying its log, is stopping, or has no space."),
};

export const READ_ONLY = failed("The token is not an admin's, or the server was started with --read-only.");

const Count = t.Integer({ minimum: 0 });

/** Members of every job. */
export const JOB_MEMBERS = {
  status: t.Union([t.Literal("in_progress"), t.Literal("completed"), t.Literal("failed")]),
  created_at: t.String({ format: "date-time" }),
  completed_at: t.Optional(t.String({ format: "date-time", description: "Left out unless it is complete." })),
  total_files: Count,
  total_size_bytes: Count,
  processed_files: Count,
  processed_size_bytes: Count,
  error: t.Optional(t.String({ description: "Why it failed." })),
};

/** @see JOB_MEMBERS */
export function jobJson(job: Omit<BackupInfo, "name" | "type" | "parent">): Record<string, unknown> {
  const { status, createdMs, completedMs, totalFiles, totalBytes, doneFiles, doneBytes, error } = job;
  return {
    ...{ status, created_at: new Date(createdMs).toISOString() },
    ...(completedMs === null ? {} : { completed_at: new Date(completedMs).toISOString() }),
    ...{ total_files: totalFiles, total_size_bytes: totalBytes },
    ...{ processed_files: doneFiles, processed_size_bytes: doneBytes },
    ...(error === null ? {} : { error }),
  };
}

/** The answer, or that of an error; 503 without --use-pacha-tree. */
export function answered(services: AppServices, call: AnyCall, answer: () => Promise<Response>): Promise<Response> {
  return answeredJson(services, call, () => {
    requireUpgradedEngine(services);
    return answer();
  });
}

/** The answer, or that of an error, which is JSON. */
export async function answeredJson(
  services: AppServices,
  { request, target }: AnyCall,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    requireReady(services.status());
    return await answer();
  } catch (error) {
    if (error instanceof UnacceptableType) return text(415, error.message);
    const failure = failureOf(error);
    if (failure.isOurs) services.report(error, `${request.method} ${target.path}`);
    return errorJson(failure);
  }
}
