// The list of client commands, and finding one by its words.
import { nearestName } from "../nearest-name.ts";
import { INSPECT_COMMAND } from "../offline/inspect.ts";
import { RECOVERY_COMMANDS } from "../offline/recovery.ts";
import { BACKUP_COMMANDS } from "./backups.ts";
import { CACHE_COMMANDS } from "./caches.ts";
import type { ClientCommand } from "./command.ts";
import { completionsCommand } from "./completions.ts";
import { DATABASE_COMMANDS } from "./databases.ts";
import { FILE_INDEX_COMMANDS } from "./file-indexes.ts";
import { FLUX_COMMAND } from "./flux/shell.ts";
import { foreignCommand } from "./foreign-commands.ts";
import { PLUGIN_COMMANDS } from "./plugins.ts";
import { QUERY_COMMAND } from "./query.ts";
import { EXPORT_COMMANDS } from "./rows/exports.ts";
import { IMPORT_COMMANDS } from "./rows/imports.ts";
import { ROW_DELETE_COMMANDS } from "./rows/row-deletes.ts";
import { SETUP_COMMAND } from "./setup.ts";
import { SHELL_COMMAND } from "./shell/sql.ts";
import { SYSTEM_COMMANDS } from "./system.ts";
import { TOKEN_COMMANDS } from "./tokens.ts";
import { TRIGGER_COMMANDS } from "./triggers.ts";
import { LOGIN_COMMANDS } from "./users/login.ts";
import { USER_COMMANDS } from "./users/users.ts";
import { V2_COMMANDS } from "./v2/commands.ts";
import { WRITE_COMMAND } from "./write.ts";

export const CLIENT_COMMANDS: readonly ClientCommand[] = [
  QUERY_COMMAND,
  SHELL_COMMAND,
  FLUX_COMMAND,
  WRITE_COMMAND,
  ...DATABASE_COMMANDS,
  ...SYSTEM_COMMANDS,
  ...CACHE_COMMANDS,
  ...FILE_INDEX_COMMANDS,
  ...BACKUP_COMMANDS,
  ...ROW_DELETE_COMMANDS,
  ...EXPORT_COMMANDS,
  ...IMPORT_COMMANDS,
  ...TRIGGER_COMMANDS,
  ...PLUGIN_COMMANDS,
  ...TOKEN_COMMANDS,
  ...USER_COMMANDS,
  ...LOGIN_COMMANDS,
  SETUP_COMMAND,
  ...RECOVERY_COMMANDS,
  INSPECT_COMMAND,
  ...V2_COMMANDS,
  completionsCommand(() => CLIENT_COMMANDS),
];

/** The command at the start of `args` and its number of words; undefined if there is none. */
export function findCommand(args: readonly string[]): { command: ClientCommand; wordCount: number } | undefined {
  let found: { command: ClientCommand; wordCount: number } | undefined;
  for (const command of CLIENT_COMMANDS) {
    for (const words of [command.words, ...(command.aliases ?? []).map((alias) => alias.split(" "))]) {
      // the longest, because `v2 stacks` is a command, and `v2 stacks init` too
      if (words.length > (found?.wordCount ?? 0) && startsWith(words, args, words.length)) found = { command, wordCount: words.length };
    }
  }
  return found;
}

/** The commands that begin with the first of `args`, as many as lead to any; their words so far. Empty if there are none. */
export function familyOf(args: readonly string[]): { words: readonly string[]; commands: readonly ClientCommand[] } {
  const length = [3, 2, 1].find((each) => CLIENT_COMMANDS.some(({ words }) => words.length > each && startsWith(words, args, each)));
  if (length === undefined) return { words: [], commands: [] };
  const commands = CLIENT_COMMANDS.filter(({ words }) => words.length > length && startsWith(words, args, length));
  return { words: args.slice(0, length), commands };
}

/** The error for an incomplete or mistyped command; null if the first word belongs to no client command. */
export function missingCommand(args: readonly string[]): string | null {
  const foreign = foreignCommand(args);
  if (foreign !== null) return foreign;
  const { words: known, commands } = familyOf(args);
  if (commands.length === 0) return null;
  const first = known.join(" ");
  const second = args[known.length];
  const nouns = [...new Set(commands.map(({ words }) => words[known.length]!))];
  if (second === undefined || second.startsWith("-")) return `${first} what? ${nouns.join(", ")}`;
  const nearest = nearestName(second, nouns);
  return `cannot ${first} "${second}"; ${nearest === null ? `it is one of ${nouns.join(", ")}` : `did you mean "${first} ${nearest}"?`}`;
}

/** `last-cache` is `last_cache` too. */
function startsWith(words: readonly string[], args: readonly string[], length: number): boolean {
  return args.length >= length && args.slice(0, length).every((word, i) => words[i] === word || words[i]?.replaceAll("_", "-") === word);
}
