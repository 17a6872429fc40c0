// tsdb completions: scripts for completing commands and options in shells, generated from their tables.
import { TsdbError } from "../../model/errors.ts";
import { FLAGS } from "../flags.ts";
import type { ClientCommand } from "./command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** Lists database names of the server set in the environment. */
const DATABASES = "tsdb show databases --format csv 2>/dev/null | tail -n +2";

interface Words {
  /** Next words by the words so far. */
  readonly next: ReadonlyMap<string, readonly string[]>;
  readonly options: ReadonlyMap<string, readonly string[]>;
}

function wordsOf(commands: readonly ClientCommand[]): Words {
  const next = new Map<string, string[]>([["", ["serve", "print-config", "help", "version"]]]);
  const options = new Map<string, readonly string[]>([
    ["serve", FLAGS.map(({ name }) => `--${name}`)],
    ["print-config", FLAGS.map(({ name }) => `--${name}`)],
  ]);
  const add = (key: string, word: string) => {
    const list = next.get(key) ?? [];
    if (!list.includes(word)) list.push(word);
    next.set(key, list);
  };
  for (const { words, aliases = [], positionals, options: own } of commands) {
    words.forEach((word, i) => {
      add(words.slice(0, i).join(" "), word);
    });
    for (const choice of positionals[0]?.choices ?? []) add(words.join(" "), choice);
    for (const name of [words.join(" "), ...aliases]) {
      options.set(
        name,
        own.map((option) => `--${option.name}`),
      );
    }
  }
  return { next, options };
}

function bash({ next, options }: Words): string {
  // a command family has subcommands, a command has options: one case for both
  const merged = new Map<string, string>();
  for (const [key, words] of [...next, ...options]) merged.set(key, [merged.get(key), words.join(" ")].filter(Boolean).join(" "));
  const cases = [...merged].map(([key, words]) => `    "${key}") echo "${words}" ;;`).join("\n");
  return `_tsdb_words() {
  case "$1" in
${cases}
  esac
}
_tsdb() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" key="" words="" i
  if [[ "$prev" == --database || "$prev" == -d ]]; then
    # not by compgen, which would expand what a name may have in it
    COMPREPLY=()
    while IFS= read -r i; do
      [[ "$i" == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$i")")
    done < <(${DATABASES})
    return 0
  fi
  for ((i = 1; i < COMP_CWORD && i < 4; i++)); do
    [[ "\${COMP_WORDS[i]}" == -* ]] && break
    key="\${key:+$key }\${COMP_WORDS[i]}"
  done
  words="$(_tsdb_words "$key")"
  # what is no command's word is an argument of one
  while [[ -z "$words" && "$key" == *" "* ]]; do
    key="\${key% *}"
    words="$(_tsdb_words "$key")"
  done
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$cur"))
}
complete -F _tsdb tsdb
`;
}

function fish({ next, options }: Words): string {
  const lines = ["complete -c tsdb -f"];
  for (const [key, words] of next) {
    const condition = key === "" ? "__fish_use_subcommand" : seen(key);
    lines.push(`complete -c tsdb -n '${condition}' -a '${words.join(" ")}'`);
  }
  for (const [key, names] of options) {
    for (const name of names) {
      const values = name === "--database" ? ` -s d -x -a '(${DATABASES})'` : "";
      lines.push(`complete -c tsdb -n '${seen(key)}' -l ${name.slice(2)}${values}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The fish condition that all of these words are present. */
function seen(words: string): string {
  return words
    .split(" ")
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join("; and ");
}

/** The completion script for a shell. @throws TsdbError config for an unknown one */
export function completions(shell: string, commands: readonly ClientCommand[]): string {
  const words = wordsOf(commands);
  switch (shell) {
    case "bash":
      return bash(words);
    case "zsh":
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
    case "fish":
      return fish(words);
    default:
      throw new TsdbError("config", `unknown shell "${shell}", expected ${SHELLS.join(", ")}`, {});
  }
}

/** @param commands all commands, including this one: hence evaluated when it runs */
export const completionsCommand = (commands: () => readonly ClientCommand[]): ClientCommand => ({
  words: ["completions"],
  summary: "Print completions for bash, zsh or fish.",
  notes: `source <(tsdb completions bash)`,
  positionals: [{ name: "SHELL" }],
  options: [],
  verb: "Completions",
  async run(input, { out }) {
    out(completions(input.positionals[0]!, commands()));
    return 0;
  },
});
