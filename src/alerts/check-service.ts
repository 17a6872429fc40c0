// Checks: each has a script, which its settings give.
import type { V2Line } from "../metadata/line.ts";
import type { StoredAlert } from "../metadata/resources/alert-records.ts";
import type { Change } from "../metadata/store/metadata.ts";
import { TsdbError } from "../model/errors.ts";
import type { CheckSettings } from "./check.ts";
import { checkSettings } from "./check-settings.ts";
import { type AlertUpdate, type CheckDraft, checkedUpdate, requireStatus } from "./draft.ts";
import { addLabels } from "./labels.ts";
import { checkScript } from "./scripts/check-script.ts";
import { customScript } from "./scripts/custom-check.ts";
import { requireTask } from "./task-script.ts";

export type Check = Omit<StoredAlert<"check">, "settings"> & { readonly settings: CheckSettings };

type CheckLine = Pick<V2Line, "metadata" | "checks" | "organizations" | "labels">;

/** Creates, finds, changes and deletes checks. */
export class CheckService {
  constructor(private readonly line: CheckLine) {}

  /** @throws TsdbError not_found */
  get(id: string): Check {
    return checkOf(this.line.checks.get(id));
  }

  /** Of the organization that the draft names. @throws TsdbError bad_request, not_found, already_exists */
  create(draft: CheckDraft & { readonly orgID: string }, ownerID: string): Promise<Check> {
    const { metadata, organizations, labels } = this.line;
    return metadata.change((change) => {
      organizations.get(draft.orgID);
      const id = change.newId();
      const { orgID, name, description } = draft;
      const { settings, status } = whole(draft, id);
      const taskID = change.newId();
      const record = { orgID, name, description, status, settings, ownerID, taskID, createdAt: change.now, updatedAt: change.now };
      const made = this.put(change, { id, ...record });
      addLabels(change, labels, draft.labels, { resourceType: "checks", resourceID: id });
      return made;
    });
  }

  /** All but where it belongs. @param ownerID with whose rights the new script runs @throws TsdbError bad_request, not_found,
   *  already_exists */
  replace(id: string, draft: CheckDraft, ownerID: string): Promise<Check> {
    return this.line.metadata.change((change) => {
      const before = this.get(id);
      const { settings, status } = whole(draft, id);
      const { name, description } = draft;
      return this.put(change, { ...before, name, description, status, settings, ownerID, updatedAt: change.now });
    });
  }

  /** @throws TsdbError bad_request, not_found, already_exists */
  update(id: string, given: AlertUpdate): Promise<Check> {
    const changed = checkedUpdate(given, "Check");
    return this.line.metadata.change((change) => {
      const before = this.get(id);
      const after: Check = { ...before, ...changed, updatedAt: change.now };
      // the names in a custom check's script are the user's
      if (after.settings.type === "custom") customScript(after.settings.query.text, after);
      return this.put(change, after);
    });
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.line.metadata.change((change) => {
      this.line.checks.get(id);
      this.line.checks.planDelete(change, id);
    });
  }

  private put(change: Change, { id, ...record }: Check): Check {
    taskScript({ id, ...record });
    return checkOf(this.line.checks.planPut(change, id, record));
  }
}

function whole(draft: CheckDraft, id: string) {
  const settings = checkSettings(draft, id);
  return { settings, status: requireStatus(draft.status) };
}

/** What the check's task runs. @throws TsdbError bad_request */
function taskScript(check: Check): string {
  try {
    return requireTask(checkScript(check));
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError(error.kind, `Could not create task from check: ${error.message}`, {}, { cause: error });
  }
}

function checkOf(record: StoredAlert<"check">): Check {
  return { ...record, settings: record.settings as CheckSettings };
}
