// Tasks: scripts that run by a schedule. What a script says of its schedule is read by who makes or changes the task; here it is kept.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";
import type { Labels } from "./labels.ts";
import type { Members } from "./members.ts";

export type Task = RecordTypes["task"] & { readonly id: string };
/** How far a task has come; under its id. */
export type TaskState = RecordTypes["task_state"];
/** A run that a client asked for and that has not ended. */
export type RequestedRun = RecordTypes["task_run"] & { readonly id: string };

/** What the script of a task says. */
export interface TaskScript {
  readonly name: string;
  readonly flux: string;
  readonly every: string | null;
  readonly cron: string | null;
  readonly offset: string | null;
}

export interface NewTask extends TaskScript {
  readonly orgID: string;
  readonly ownerID: string;
  readonly kind: Task["kind"];
  readonly description: string;
  readonly status: Task["status"];
}

export type TaskChanges = Partial<TaskScript & Pick<Task, "description" | "status" | "ownerID">>;

export interface TaskFilter {
  readonly orgID?: string | undefined;
  readonly name?: string | undefined;
  readonly ownerID?: string | undefined;
  readonly status?: string | undefined;
  /** Tasks with greater ids. */
  readonly after?: string | undefined;
}

type StateRow = Omit<TaskState, "doneAhead"> & { readonly doneAhead: string };

const COLUMNS = "id, orgID, ownerID, kind, name, description, status, flux, every, cron, offset, createdAt, updatedAt";
const STATE = "latestCompleted, doneAhead, lastRunStatus, lastRunError, lastSuccess";

/** Creates, finds, changes and deletes tasks. */
export class Tasks {
  private listener: (taskID: string) => void = () => {};

  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels; readonly members: Members },
  ) {}

  get count(): number {
    return this.metadata.view.count("from tasks");
  }

  /** Grows when a restore has replaced all records. */
  get generation(): number {
    return this.metadata.generation;
  }

  /** Called in the step in which a task is made, changed or deleted. One at a time. */
  onChange(listener: (taskID: string) => void): void {
    this.listener = listener;
  }

  find(id: string): Task | null {
    return this.metadata.view.get<Task>(`select ${COLUMNS} from tasks where id = ?`, id);
  }

  /** @throws TsdbError not_found */
  get(id: string): Task {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "task not found");
    return found;
  }

  /** Those of checks and rules too, in order of creation. */
  all(): Task[] {
    return this.metadata.view.all<Task>(`select ${COLUMNS} from tasks order by id`);
  }

  /** Without those of checks and rules, in order of creation. */
  heads({ orgID, name, ownerID, status, after }: TaskFilter): Pick<Task, "id" | "orgID">[] {
    const where = ["kind = 'task'", "(?1 is null or orgID = ?1)", "(?2 is null or name = ?2)", "(?3 is null or ownerID = ?3)"];
    const sql = `${where.join(" and ")} and (?4 is null or status = ?4) and (?5 is null or id > ?5) order by id`;
    const values = [orgID ?? null, name ?? null, ownerID ?? null, status ?? null, after ?? null];
    return this.metadata.view.all(`select id, orgID from tasks where ${sql}`, ...values);
  }

  state(id: string): TaskState {
    const { doneAhead, ...row } = this.metadata.view.get<StateRow>(`select ${STATE} from taskStates where id = ?`, id)!;
    return { ...row, doneAhead: JSON.parse(doneAhead) as string[] };
  }

  /** In the order of the requests. */
  requestedRuns(taskID: string): RequestedRun[] {
    return this.metadata.view.all<RequestedRun>(
      "select id, taskID, scheduledFor, requestedAt from taskRuns where taskID = ? order by id",
      taskID,
    );
  }

  /** @throws TsdbError not_found for an unknown organization */
  create(task: NewTask): Promise<Task> {
    return this.metadata.change((change) => this.planCreate(change, task));
  }

  planCreate(change: Change, { kind, ...task }: NewTask): Task {
    const now = wholeSeconds(change.now);
    const id = change.newId();
    const record = { ...task, kind, createdAt: now, updatedAt: null };
    change.put("task", id, record);
    change.put("task_state", id, { latestCompleted: now, doneAhead: [], lastRunStatus: null, lastRunError: null, lastSuccess: null });
    this.listener(id);
    return { id, ...record };
  }

  /** @throws TsdbError not_found */
  update(id: string, changes: TaskChanges): Promise<Task> {
    return this.metadata.change((change) => this.planUpdate(change, id, changes));
  }

  planUpdate(change: Change, id: string, changes: TaskChanges): Task {
    const before = this.get(id);
    const now = wholeSeconds(change.now);
    const isSame = Object.keys(changes).length === 1 && changes.status === before.status;
    const after = { ...before, ...changes, updatedAt: isSame ? before.updatedAt : now };
    const { id: _, ...record } = after;
    change.put("task", id, record);
    const isResumed = after.status === "active" && before.status !== "active";
    const isRescheduled = after.every !== before.every || after.cron !== before.cron;
    // times before it are not made up for
    const state = this.state(id);
    if ((isResumed || isRescheduled) && state.latestCompleted < now) {
      change.put("task_state", id, { ...state, latestCompleted: now, doneAhead: [] });
    }
    this.listener(id);
    return after;
  }

  /** With its labels, members, owners and the runs that wait. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    this.parts.labels.planRemoveAll(change, "tasks", id);
    this.parts.members.planRemoveAll(change, "tasks", id);
    for (const run of this.requestedRuns(id)) change.remove("task_run", run.id);
    change.remove("task_state", id);
    change.remove("task", id);
    this.listener(id);
  }

  /** @param wanted null: the first second from now on that no run is for
   *  @param isRepeat the time may be that of a run that waits @throws TsdbError unprocessable when it is, and may not be */
  addRun(taskID: string, wanted: string | null, isRepeat = false): Promise<RequestedRun> {
    return this.metadata.change((change) => {
      const taken = new Set(this.requestedRuns(taskID).map((run) => run.scheduledFor));
      if (wanted !== null && !isRepeat && taken.has(wanted)) throw new TsdbError("unprocessable", "run already queued");
      let scheduledFor = wanted ?? wholeSeconds(change.now);
      while (!isRepeat && taken.has(scheduledFor)) scheduledFor = wholeSeconds(new Date(Date.parse(scheduledFor) + 1000).toISOString());
      const id = change.newId();
      const run = { taskID, scheduledFor, requestedAt: wholeSeconds(change.now) };
      change.put("task_run", id, run);
      return { id, ...run };
    });
  }

  /** Keeps how far tasks have come, and forgets requested runs that have ended, in one step. Tasks that are gone are left out. */
  saveRuns(states: ReadonlyMap<string, TaskState>, endedRuns: readonly string[]): Promise<void> {
    return this.metadata.change((change) => {
      for (const [id, state] of states) if (this.find(id) !== null) change.put("task_state", id, state);
      for (const id of endedRuns) {
        if (this.metadata.view.get("select id from taskRuns where id = ?", id) !== null) change.remove("task_run", id);
      }
    });
  }
}

/** Tasks show times in seconds. */
function wholeSeconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}
