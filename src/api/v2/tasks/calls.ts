// What the routes of tasks and those of their runs share.
import { readId } from "../../../metadata/store/ids.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { parseInteger } from "../app/paging.ts";
import type { SearchParams } from "../app/params.ts";
import type { V2Call } from "../app/route.ts";

export const TASKS = "/api/v2/tasks";
export const DECODING = "failed to decode request: ";
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;

/** The permission for a task. */
export function taskNeed(action: "read" | "write", { id, orgID }: { readonly id: string; readonly orgID: string }) {
  return { action, type: "tasks", id, orgID } as const;
}

/** @throws TsdbError bad_request */
export function taskIdOf({ params }: Pick<V2Call, "params">): string {
  return headed(DECODING, () => readId(params["taskID"]!));
}

/** What is thrown has `head` in front. */
export function headed<T>(head: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw withHead(head, error);
  }
}

/** The same error with `head` in front, if it is one of the request. */
export function withHead(head: string, error: unknown): unknown {
  if (!(error instanceof TsdbError) || error.kind === "forbidden") return error;
  return new TsdbError(error.kind, head + error.message, error.details, { cause: error });
}

/** @throws TsdbError bad_request */
export function readLimit(search: SearchParams, name: string, outOfBounds = "limit"): number {
  const text = search.all(name)[0];
  if (text === undefined || text === "") return LIMIT_DEFAULT;
  const limit = parseInteger(text);
  if (limit === null) throw new TsdbError("bad_request", `${name} is no number: "${near(text)}"`);
  if (limit >= 1 && limit <= LIMIT_MAX) return Number(limit);
  throw new TsdbError("bad_request", `${outOfBounds} must be between 1 and ${LIMIT_MAX}`);
}
