// Which recorded conversations are replayed, and which of their steps ask for what the asked server does not have.
import { type Conversation, isRequest } from "./conversation.ts";

/** Groups that need no rows: they are replayed without sockets and threads. */
export const LIGHT_GROUPS = [
  ...([
    "authorizations",
    "buckets",
    "checks",
    "dashboards",
    "exports",
    "dbrps",
    "labels",
    "legacy_authorizations",
    "notification_endpoints",
    "notification_rules",
    "orgs",
    "remotes",
    "replications",
    "scrapers",
    "secrets",
    "session",
    "setup",
    "stacks",
    "system",
    "tasks",
    "templates",
    "users",
    "variables",
    "telegrafs",
    "notebooks_annotations",
    "sources",
  ] as const),
] as const;

/** Groups about rows: they are replayed against a process. */
export const FULL_GROUPS = ["delete", "backup", "query", "query_tools", "task_runs", "v1_query", "v1_write", "write"] as const;

/** The answer of a server without rows to requests for some. */
export const NO_ROWS = "there are no rows here";

/** Whether a conversation waits for what a server does by itself: it is replayed against a process alone. */
export function waitsForServer({ steps }: Conversation): boolean {
  return steps.some((step) => "expect" in step || (isRequest(step) && step.repeat !== undefined));
}

/** Whether a conversation of a light group is also replayed against a process: what is stored, and what scripts say when they are run. */
export function needsRows({ steps }: Conversation): boolean {
  return steps.some((step) => {
    if (!isRequest(step)) return false;
    // a remote is asked
    if (step.path.endsWith("/validate") && step.status === 204) return true;
    if (step.status < 300) return /^(?:\/api\/v2\/(?:delete|query|write)|\/write|\/query)$/.test(step.path);
    return step.method === "POST" && step.path === "/api/v2/query" && step.status !== 401 && step.status !== 403;
  });
}

/** What a step that differs asks for and this server does not have; null = nothing, it is to be compared. */
export function missingPart(mismatch: string): string | null {
  return mismatch.includes(NO_ROWS) ? "rows" : null;
}
