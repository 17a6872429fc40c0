// Runs of tasks, and what may be done with them.

export type RunStatus = "scheduled" | "started" | "success" | "failed" | "canceled";

export interface RunEvent {
  /** RFC 3339. */
  readonly time: string;
  readonly message: string;
}

/** Times are RFC 3339; null: not yet, or never. */
export interface TaskRun {
  readonly id: string;
  readonly taskID: string;
  readonly status: RunStatus;
  /** Value of now() in the script. */
  readonly scheduledFor: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Null: no client asked for it. */
  readonly requestedAt: string | null;
  readonly log: readonly RunEvent[];
}

export interface RunFilter {
  /** Bounds of `scheduledFor` in milliseconds since 1970, both exclusive; null: none. */
  readonly afterMs: number | null;
  readonly beforeMs: number | null;
  readonly limit: number;
}

/** The task that runs belong to. */
export interface RunOwner {
  readonly id: string;
  readonly orgID: string;
}

/** All methods throw TsdbError not_found for a run that the task does not have. */
export interface TaskRunService {
  /** By `scheduledFor`, the latest first; of equal ones the first started one first. */
  list(task: RunOwner, filter: RunFilter): Promise<readonly TaskRun[]>;
  get(task: RunOwner, runID: string): Promise<TaskRun>;
  /** Queues a run besides those that are due; it survives a restart. @param scheduledForMs null: now, in whole seconds @throws TsdbError
   *  unprocessable when such a run waits, bad_request for an inactive task, limit_exceeded */
  force(task: RunOwner, scheduledForMs: number | null): Promise<TaskRun>;
  /** Queues a run for the same time. @throws as `force` */
  retry(task: RunOwner, runID: string): Promise<TaskRun>;
  /** No effect on a run that is being canceled. */
  cancel(task: RunOwner, runID: string): Promise<void>;
}
