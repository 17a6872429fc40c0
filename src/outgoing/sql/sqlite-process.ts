// SQLite in a process of its own for each request: a query may compute for ever, or ask for gigabytes in one value, and nothing within a
// process can stop either. The kernel limits its memory and processor time, and it is killed when its time is over.

import { deserialize, serialize } from "bun:jsc";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import type { SqlInsert, SqlRows } from "../../model/query/sql-service.ts";
import { fileOf } from "./sqlite.ts";
import { SQLITE_COMMAND } from "./sqlite-command.ts";

export interface SqliteProcessLimits {
  /** Null: only what is in memory. */
  readonly folder: string | null;
  readonly timeoutMs: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** What the process reads; a file is a path that was checked, or null for memory. */
export type SqliteRequest =
  | { readonly file: string | null; readonly query: string; readonly rowsMax: number; readonly bytesMax: number }
  | { readonly file: string | null; readonly insert: SqlInsert };

/** What it writes. */
export type SqliteAnswer = { readonly rows: SqlRows } | { readonly error: string } | { readonly done: true };

/** Private memory. An answer of a million rows takes about half of it. */
const MEMORY_BYTES_MAX = 1 << 30;
/** Bytes that the process may write for each byte of an answer's values: numbers and marks around them. */
const WRITTEN_PER_BYTE = 4;

/** @throws Error: also for an answer that is too large, and a query that takes too long or too much memory */
export async function querySqlite(
  dataSource: string,
  query: string,
  { folder, rowsMax, bytesMax, ...limits }: SqliteProcessLimits,
  signal?: AbortSignal,
): Promise<SqlRows> {
  const request = { file: fileOf(dataSource, folder), query, rowsMax, bytesMax };
  const answer = await asked(request, { ...limits, writtenMax: bytesMax * WRITTEN_PER_BYTE + rowsMax * 64 }, signal);
  if (!("rows" in answer)) throw new Error("error" in answer ? answer.error : "BUG: no rows");
  return answer.rows;
}

/** All rows or none. @throws Error */
export async function insertSqlite(
  dataSource: string,
  insert: SqlInsert,
  { folder, ...limits }: SqliteProcessLimits,
  signal?: AbortSignal,
): Promise<void> {
  const answer = await asked({ file: fileOf(dataSource, folder), insert }, { ...limits, writtenMax: 1 << 20 }, signal);
  if ("error" in answer) throw new Error(answer.error);
}

async function asked(
  request: SqliteRequest,
  { timeoutMs, writtenMax }: { readonly timeoutMs: number; readonly writtenMax: number },
  signal?: AbortSignal,
): Promise<SqliteAnswer> {
  const child = Bun.spawn(command(timeoutMs), {
    stdin: new Uint8Array(serialize(request)),
    stdout: "pipe",
    stderr: "ignore",
    env: {},
  });
  lowerPriority(child.pid);
  let killedFor: string | null = null;
  const kill = (why: string) => {
    killedFor ??= why;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => kill(`no answer within ${timeoutMs} ms`), timeoutMs);
  const cancel = () => kill("cancelled");
  if (signal?.aborted === true) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of child.stdout) {
      length += part.length;
      if (length > writtenMax) kill(`the answer is longer than ${writtenMax} bytes`);
      else parts.push(part);
    }
    const status = await child.exited;
    if (killedFor !== null) throw new Error(killedFor);
    if (status !== 0) throw new Error("the query takes too much memory or time");
    return deserialize(Buffer.concat(parts)) as SqliteAnswer;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    child.kill("SIGKILL");
  }
}

/** Answers of the server itself come first. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // it has ended, or the system refuses
  }
}

/** The shell sets the limits. The one of processor time also ends a process whose server was killed. */
function command(timeoutMs: number): string[] {
  const isCompiled = import.meta.path.startsWith("/$bunfs/");
  const program = [process.execPath, isCompiled ? SQLITE_COMMAND : join(import.meta.dir, "sqlite-request.ts")];
  const seconds = Math.ceil(timeoutMs / 1000) + 1;
  return ["/bin/sh", "-c", `ulimit -d ${MEMORY_BYTES_MAX / 1024} && ulimit -t ${seconds} && exec "$0" "$@"`, ...program];
}
