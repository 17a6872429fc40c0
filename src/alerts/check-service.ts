// Checks: each has a script, which is generated from its settings.
import { randomBytes } from "node:crypto";
import type { V2Line } from "../metadata/line.ts";
import type { StoredAlert } from "../metadata/resources/alert-records.ts";
import type { TaskScript } from "../metadata/resources/tasks.ts";
import type { Change } from "../metadata/store/metadata.ts";
import { TsdbError } from "../model/errors.ts";
import type { CheckSettings, NamedCheck } from "./check.ts";
import { checkSettings } from "./check-settings.ts";
import { type AlertUpdate, type CheckDraft, checkedUpdate, requireStatus } from "./draft.ts";
import { addLabels } from "./labels.ts";
import { checkScript, NO_TASK, requireTagKeys } from "./scripts/check-script.ts";
import { customScript } from "./scripts/custom-check.ts";
import { taskScript } from "./task-script.ts";

export type Check = Omit<StoredAlert<"check">, "settings"> & { readonly settings: CheckSettings };

/** Start of messages. */
export const CHECK = "Check";

type CheckLine = Pick<V2Line, "metadata" | "checks" | "organizations" | "labels" | "tasks">;

/** The script of a check, generated before the change that needs it. For a new check it contains a placeholder instead of the id. */
export interface PreparedScript {
  readonly id: string;
  readonly script: TaskScript;
}

/** Creates, finds, changes and deletes checks. */
export class CheckService {
  constructor(private readonly line: CheckLine) {}

  /** @throws TsdbError not_found */
  get(id: string): Check {
    return checkOf(this.line.checks.get(id));
  }

  /** Creates a check in the draft's organization. @throws TsdbError bad_request, not_found, already_exists */
  create(draft: CheckDraft & { readonly orgID: string }, ownerID: string): Promise<Check> {
    return this.line.metadata.change((change) => this.planCreate(change, draft, ownerID));
  }

  /** Generates the script, which takes long (1 ms), so that a change can contain many. @param id null: of a new check @throws TsdbError
   *  bad_request */
  prepare(draft: CheckDraft, id: string | null): PreparedScript {
    // random, and as long as an id, so that lines break at the same places
    const place = id ?? randomBytes(8).toString("hex");
    return { id: place, script: scriptOf({ id: place, name: draft.name, settings: checkSettings(draft, place) }) };
  }

  /** @param prepared from the same draft @throws as `create` */
  planCreate(change: Change, draft: CheckDraft & { readonly orgID: string }, ownerID: string, prepared?: PreparedScript): Check {
    const { organizations, labels, tasks, checks } = this.line;
    const status = requireStatus(draft.status);
    organizations.get(draft.orgID);
    const id = change.newId();
    const { orgID, name, description } = draft;
    const settings = checkSettings(draft, id);
    const script = prepared === undefined ? scriptOf({ id, name, settings }) : withId(prepared, id);
    const task = tasks.planCreate(change, { ...script, orgID, ownerID, kind: "check", description, status });
    const times = { createdAt: change.now, updatedAt: change.now };
    const record = { orgID, name, description, status, settings, ownerID, taskID: task.id, ...times };
    const made = checkOf(checks.planPut(change, id, record));
    addLabels(change, labels, draft.labels, { resourceType: "checks", resourceID: id });
    return made;
  }

  /** Replaces everything except the organization. @param ownerID the new script runs with this user's permissions @throws TsdbError
   *  bad_request, not_found, already_exists */
  replace(id: string, draft: CheckDraft, ownerID: string): Promise<Check> {
    return this.line.metadata.change((change) => this.planReplace(change, id, draft, ownerID));
  }

  /** @param prepared from the same draft @throws as `replace` */
  planReplace(change: Change, id: string, draft: CheckDraft, ownerID: string, prepared?: PreparedScript): Check {
    const before = this.get(id);
    const settings = checkSettings(draft, id);
    const { name, description } = draft;
    if (this.line.checks.isTaken({ orgID: before.orgID, name }, id)) throw new TsdbError("already_exists", "check name is not unique");
    const status = requireStatus(draft.status);
    const after = { ...before, name, description, status, settings, ownerID, updatedAt: change.now };
    if (prepared === undefined) requireTagKeys(after);
    return this.put(change, after, prepared === undefined ? undefined : withId(prepared, id));
  }

  /** @throws TsdbError bad_request, not_found, already_exists */
  update(id: string, given: AlertUpdate): Promise<Check> {
    const changed = checkedUpdate(given, CHECK);
    return this.line.metadata.change((change) => {
      const before = this.get(id);
      const after: Check = { ...before, ...changed, updatedAt: change.now };
      // the user defines the names in the script of a custom check
      if (after.settings.type === "custom") customScript(after.settings.query.text, after);
      return this.put(change, after);
    });
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.line.metadata.change((change) => this.planDelete(change, id));
  }

  /** @throws as `delete` */
  planDelete(change: Change, id: string): void {
    const { checks, tasks } = this.line;
    const { taskID } = checks.get(id);
    checks.planDelete(change, id);
    tasks.planDelete(change, taskID);
  }

  /** Stores the check and its task. */
  private put(change: Change, { id, ...record }: Check, script = taskScript(checkScript({ id, ...record }))): Check {
    const { checks, tasks } = this.line;
    const { description, status, ownerID } = record;
    const made = checkOf(checks.planPut(change, id, record));
    tasks.planUpdate(change, record.taskID, { ...script, description, status, ownerID });
    return made;
  }
}

function withId({ id: place, script }: PreparedScript, id: string): TaskScript {
  return { ...script, flux: script.flux.replaceAll(place, id) };
}

/** @throws TsdbError bad_request */
function scriptOf(check: NamedCheck): TaskScript {
  try {
    requireTagKeys(check);
    return taskScript(checkScript(check));
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError(error.kind, NO_TASK + error.message, {}, { cause: error });
  }
}

function checkOf(record: StoredAlert<"check">): Check {
  return { ...record, settings: record.settings as CheckSettings };
}
