// tsdb create|show|status|cancel|delete backup, restore|show|status|cancel … : jobs of the server, awaited with a progress bar.
import { TsdbError } from "../../model/errors.ts";
import { printRows, type Row } from "../offline/table.ts";
import { Api, CONNECTION, jsonOf } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { confirmed, YES } from "./confirm.ts";
import type { Input, Option, Positional } from "./options.ts";
import { bar, megabytes } from "./progress.ts";

/** A backup or a restore as the server tells of it. */
interface Job {
  readonly name?: string;
  readonly type?: string;
  readonly parent?: string;
  readonly restore_id?: string;
  readonly backup_name?: string;
  readonly status: string;
  readonly created_at: string;
  readonly completed_at?: string;
  readonly total_files: number;
  readonly total_size_bytes: number;
  readonly processed_files: number;
  readonly processed_size_bytes: number;
  readonly error?: string;
}

const BACKUP = "/api/v3/enterprise/backup";
const RESTORE = "/api/v3/enterprise/restore";
const POLL_MS = 200;

const FORMAT: Option = { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" };
const NO_WAIT: Option = { name: "no-wait", value: null, help: "Return when it has begun: `status` tells of it." };
const NAME: Positional = { name: "NAME" };
const ID: Positional = { name: "ID" };

function backupPath(name: string): string {
  return `${BACKUP}/${encodeURIComponent(name)}`;
}

function restorePath(id: string): string {
  return `${RESTORE}/${encodeURIComponent(id)}`;
}

/** Until the job has ended, or not. @throws TsdbError io if it has failed */
async function follow(input: Input, terminal: Terminal, path: string, what: string): Promise<number> {
  if (input.flag("no-wait")) {
    terminal.out(`${what} has begun\n`);
    return 0;
  }
  const api = new Api(input);
  for (;;) {
    const job = await jsonOf<Job>(await api.call("GET", path));
    if (job.status === "in_progress") {
      if (terminal.isOutputTerminal) terminal.control(`\r${lineOf(job)}\x1b[K`);
      await Bun.sleep(POLL_MS);
      continue;
    }
    if (terminal.isOutputTerminal) terminal.control("\r\x1b[K");
    if (job.status !== "completed") throw new TsdbError("io", `${what} has failed: ${job.error ?? job.status}`);
    terminal.out(`${what} completed: ${job.total_files} ${job.total_files === 1 ? "file" : "files"}, ${megabytes(job.total_size_bytes)}\n`);
    return 0;
  }
}

function lineOf({ total_files: files, total_size_bytes: bytes, processed_files: doneFiles, processed_size_bytes: doneBytes }: Job): string {
  return `${bar(bytes === 0 ? 0 : doneBytes / bytes)}  ${doneFiles} of ${files} files  ${megabytes(doneBytes)}`;
}

function rowOf(job: Job): Row {
  const { name, type, parent, restore_id: id, backup_name: backup, status, error } = job;
  const what = name === undefined ? { restore: id!, backup: backup! } : { name, type: type!, parent: parent ?? "" };
  const times = { created: job.created_at, completed: job.completed_at ?? "" };
  return { ...what, status, ...times, files: job.total_files, bytes: job.total_size_bytes, error: error ?? "" };
}

const toShow = { options: [FORMAT, ...CONNECTION], verb: "Show" };

const RESTORE_COMMAND: ClientCommand = {
  words: ["restore", "backup"],
  summary: "Bring back the databases of a backup.",
  notes: `Tables that a database of the same name has are deleted then;
for three days \`tsdb restore table\` brings them back.`,
  positionals: [NAME],
  options: [NO_WAIT, ...CONNECTION],
  verb: "Restore",
  async run(input, terminal) {
    const body = { backup_name: input.positionals[0]! };
    const { restore_id: id } = await jsonOf<{ restore_id: string }>(await new Api(input).call("POST", RESTORE, { body }));
    return follow(input, terminal, restorePath(id), `Restore ${id}`);
  },
};

const CANCEL_RESTORE: ClientCommand = {
  words: ["cancel", "restore"],
  summary: "End a restore that is running: nothing is restored.",
  positionals: [ID],
  options: CONNECTION,
  verb: "Cancel",
  async run(input, { out }) {
    const id = input.positionals[0]!;
    await new Api(input).call("DELETE", restorePath(id));
    out(`Restore ${id} cancelled successfully\n`);
    return 0;
  },
};

export const BACKUP_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "backup"],
    summary: "Back all databases up, on the server.",
    notes: `tsdb create backup monday
tsdb create backup --type incremental --parent monday tuesday
The server needs --use-pacha-tree; --backup-dir says where backups are.`,
    positionals: [{ name: "NAME", isOptional: true }],
    options: [
      { name: "name", value: "NAME", help: "The same as the argument. Default: made from the time." },
      { name: "type", value: "TYPE", help: "full, or incremental: without files that earlier backups have.", default: "full" },
      { name: "parent", value: "NAME", help: "Backup that an incremental one goes on from. Default: the newest." },
      { name: "force", value: null, help: "Replace a backup of the name." },
      NO_WAIT,
      ...CONNECTION,
    ],
    verb: "Create",
    async run(input, terminal) {
      const [name = input.option("name")] = input.positionals;
      const parent = input.option("parent");
      const body = {
        ...{ type: input.option("type"), force: input.flag("force") },
        ...(name === undefined ? {} : { name }),
        ...(parent === undefined ? {} : { parent }),
      };
      const { backup_name: made } = await jsonOf<{ backup_name: string }>(await new Api(input).call("POST", BACKUP, { body }));
      return follow(input, terminal, backupPath(made), `Backup "${made}"`);
    },
  },
  {
    words: ["show", "backup"],
    aliases: ["show backups"],
    summary: "List backups, the newest first.",
    positionals: [],
    ...toShow,
    async run(input, terminal) {
      const { backups } = await jsonOf<{ backups: readonly Job[] }>(await new Api(input).call("GET", BACKUP));
      printRows(input, terminal, backups.map(rowOf));
      return 0;
    },
  },
  {
    words: ["status", "backup"],
    summary: "Show the state of a backup.",
    positionals: [NAME],
    ...toShow,
    async run(input, terminal) {
      printRows(input, terminal, [rowOf(await jsonOf<Job>(await new Api(input).call("GET", backupPath(input.positionals[0]!))))]);
      return 0;
    },
  },
  {
    words: ["cancel", "backup"],
    summary: "End a backup that is being made.",
    positionals: [NAME],
    options: CONNECTION,
    verb: "Cancel",
    async run(input, { out }) {
      const [name] = input.positionals;
      await new Api(input).call("DELETE", BACKUP, { body: { name } });
      out(`Backup "${name}" cancelled successfully\n`);
      return 0;
    },
  },
  {
    words: ["delete", "backup"],
    summary: "Delete a backup, with incremental backups that need it.",
    positionals: [NAME],
    options: [YES, ...CONNECTION],
    verb: "Delete",
    async run(input, terminal) {
      const name = input.positionals[0]!;
      const api = new Api(input);
      if (!(await confirmed(input, terminal, `backup "${name}" with the incremental backups that need it`))) return 1;
      await api.call("DELETE", backupPath(name));
      terminal.out(`Backup "${name}" deleted successfully\n`);
      return 0;
    },
  },
  RESTORE_COMMAND,
  { ...RESTORE_COMMAND, words: ["create", "restore"] },
  {
    words: ["show", "restore"],
    aliases: ["show restores"],
    summary: "List restores, the newest first.",
    positionals: [],
    ...toShow,
    async run(input, terminal) {
      const { restores } = await jsonOf<{ restores: readonly Job[] }>(await new Api(input).call("GET", RESTORE));
      printRows(input, terminal, restores.map(rowOf));
      return 0;
    },
  },
  {
    words: ["status", "restore"],
    summary: "Show the state of a restore.",
    positionals: [ID],
    ...toShow,
    async run(input, terminal) {
      printRows(input, terminal, [rowOf(await jsonOf<Job>(await new Api(input).call("GET", restorePath(input.positionals[0]!))))]);
      return 0;
    },
  },
  CANCEL_RESTORE,
  { ...CANCEL_RESTORE, words: ["delete", "restore"] },
];
