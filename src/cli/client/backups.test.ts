// What tsdb create backup shows on a terminal while the server makes it.
import { expect, test } from "bun:test";
import type { Terminal } from "./command.ts";
import { findCommand } from "./commands.ts";
import { runClient } from "./run.ts";

const JOB = { name: "b", type: "full", created_at: "2026-01-01T00:00:00Z", total_files: 4, total_size_bytes: 2_000_000 };

/** The command against a server that tells these states of the job, one after the other. */
async function run(
  args: readonly string[],
  states: readonly object[],
): Promise<{ code: number; out: string; error: string; shown: string }> {
  const left = [...states];
  using server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: ({ method }) => Response.json(method === "POST" ? { backup_name: "b", status: "in_progress" } : { ...JOB, ...left.shift() }),
  });
  const ran = { out: "", error: "", shown: "" };
  const add = (where: keyof typeof ran) => (text: string | Uint8Array) => {
    ran[where] += String(text);
    return undefined;
  };
  const terminal: Terminal = {
    ...{ out: add("out"), error: add("error"), control: add("shown"), input: () => new Blob([]).stream() },
    ...{ isInputTerminal: true, isOutputTerminal: true, columns: 80, rows: 24, environment: {} },
  };
  const { command, wordCount } = findCommand(args)!;
  return { code: await runClient(command, [...args.slice(wordCount), "--host", server.url.origin], terminal, {}), ...ran };
}

test("a bar with files and bytes, and then how it ended", async () => {
  const half = { status: "in_progress", processed_files: 1, processed_size_bytes: 1_000_000 };
  const whole = { status: "completed", processed_files: 4, processed_size_bytes: 2_000_000 };
  expect(await run(["create", "backup", "b"], [half, whole])).toEqual({
    code: 0,
    out: 'Backup "b" completed: 4 files, 2.0 MB\n',
    error: "",
    shown: "\r[############            ] 50 %  1 of 4 files  1.0 MB\x1b[K\r\x1b[K",
  });
});

test("a failure is one of the command", async () => {
  const failed = await run(["create", "backup"], [{ status: "failed", error: "the disk is full" }]);
  expect([failed.code, failed.out]).toEqual([1, ""]);
  expect(failed.error).toBe('Create command failed: Backup "b" has failed: the disk is full\n');
});
