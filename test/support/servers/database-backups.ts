// Backups and restores of a test's server.
import type { TestServer } from "./server.ts";

/** A job as the server tells of it. */
export interface Job {
  readonly status: "in_progress" | "completed" | "failed";
  readonly total_files: number;
  readonly total_size_bytes: number;
  readonly processed_files: number;
  readonly error?: string;
  readonly name?: string;
  readonly type?: string;
  readonly parent?: string;
  readonly backup_name?: string;
  readonly restore_id?: string;
}

const POLL_MS = 3;

/** Calls `/api/v3/enterprise/<path>`; the body is null where there is none. */
export async function ask(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> | null }> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${server.url}/api/v3/enterprise/${path}`, { method, ...sent });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : (JSON.parse(text) as Record<string, unknown>) };
}

/** The job once it has ended. */
export async function ended(server: TestServer, path: string): Promise<Job> {
  for (;;) {
    const { status, body } = await ask(server, "GET", path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    const job = body as unknown as Job;
    if (job.status !== "in_progress") return job;
    await Bun.sleep(POLL_MS);
  }
}

/** Makes a backup. @throws Error unless it is accepted */
export async function backUp(server: TestServer, name: string, more: Readonly<Record<string, unknown>> = {}): Promise<Job> {
  const { status, body } = await ask(server, "POST", "backup", { type: "full", name, ...more });
  if (status !== 202) throw new Error(`backup ${name}: ${status} ${JSON.stringify(body)}`);
  return ended(server, `backup/${name}`);
}

/** Restores a backup. @throws Error unless it is accepted */
export async function restore(server: TestServer, name: string): Promise<Job> {
  const { status, body } = await ask(server, "POST", "restore", { backup_name: name });
  if (status !== 202) throw new Error(`restore ${name}: ${status} ${JSON.stringify(body)}`);
  return ended(server, `restore/${String(body!["restore_id"])}`);
}

/** Statuses of all backups by name. */
export async function statuses(server: TestServer): Promise<Record<string, string>> {
  const { body } = await ask(server, "GET", "backup");
  const { backups } = body as unknown as { backups: readonly Job[] };
  return Object.fromEntries(backups.map(({ name, status }) => [name!, status]));
}
