// The list of client commands, and finding one by its words.
import { nearestName } from "../nearest-name.ts";
import { CACHE_COMMANDS } from "./caches.ts";
import type { ClientCommand } from "./command.ts";
import { completionsCommand } from "./completions.ts";
import { DATABASE_COMMANDS } from "./databases.ts";
import { FILE_INDEX_COMMANDS } from "./file-indexes.ts";
import { PLUGIN_COMMANDS } from "./plugins.ts";
import { QUERY_COMMAND } from "./query.ts";
import { SHELL_COMMAND } from "./shell.ts";
import { SYSTEM_COMMANDS } from "./system.ts";
import { TOKEN_COMMANDS } from "./tokens.ts";
import { TRIGGER_COMMANDS } from "./triggers.ts";
import { WRITE_COMMAND } from "./write.ts";

export const CLIENT_COMMANDS: readonly ClientCommand[] = [
  QUERY_COMMAND,
  SHELL_COMMAND,
  WRITE_COMMAND,
  ...DATABASE_COMMANDS,
  ...SYSTEM_COMMANDS,
  ...CACHE_COMMANDS,
  ...FILE_INDEX_COMMANDS,
  ...TRIGGER_COMMANDS,
  ...PLUGIN_COMMANDS,
  ...TOKEN_COMMANDS,
  completionsCommand(() => CLIENT_COMMANDS),
];

/** The command at the start of `args` and its number of words; undefined if there is none. */
export function findCommand(args: readonly string[]): { command: ClientCommand; wordCount: number } | undefined {
  for (const command of CLIENT_COMMANDS) {
    const { words, aliases = [] } = command;
    if (words.every((word, i) => args[i] === word)) return { command, wordCount: words.length };
    if (aliases.includes(args[0] ?? "")) return { command, wordCount: 1 };
  }
  return undefined;
}

/** The error for an incomplete or mistyped command; null if the first word belongs to no client command. */
export function missingCommand(args: readonly string[]): string | null {
  const [first, second] = args;
  const family = CLIENT_COMMANDS.filter(({ words }) => words[0] === first && words.length > 1);
  if (family.length === 0) return null;
  const nouns = family.map(({ words }) => words[1]!);
  if (second === undefined || second.startsWith("-")) return `${first} what? ${nouns.join(", ")}`;
  const nearest = nearestName(second, nouns);
  return `cannot ${first} "${second}"; ${nearest === null ? `it is one of ${nouns.join(", ")}` : `did you mean "${first} ${nearest}"?`}`;
}
