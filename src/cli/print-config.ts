// tsdb print-config: the configuration that `tsdb serve` would have with the same flags, environment and file, as a tsdb.toml.
import { TsdbError } from "../model/errors.ts";
import { type Given, readFlags } from "./arguments.ts";
import type { ConfigFile } from "./config-file.ts";
import { type Environment, FLAGS, type Flag, type FlagName } from "./flags.ts";
import { nearestName } from "./nearest-name.ts";
import { type Machine, parseServeFlags } from "./serve-config.ts";

const KEY_FLAG = "--key-name";
const HIDDEN = "(not shown)";

/** The help text of `print-config`. */
export function printConfigHelp(): string {
  return `Usage: tsdb print-config [flags of tsdb serve] [${KEY_FLAG} NAME]

Prints the configuration that \`tsdb serve\` would have with these flags, this environment and
tsdb.toml, as a tsdb.toml, with where each value comes from. Secrets are not shown.

  ${KEY_FLAG} NAME                   Print the value of this flag alone.
`;
}

/** @throws TsdbError config, as `tsdb serve` would */
export function printConfig(args: readonly string[], environment: Environment, machine: Machine, config: ConfigFile | null): string {
  const { key, rest } = takeKey(args);
  parseServeFlags(rest, environment, machine, config);
  const { flags: given, withoutEffect } = readFlags(rest, environment, config);
  const flags: readonly Flag[] = FLAGS;
  if (key === null) {
    const lines = [...flags.map((flag) => lineOf(flag, given.get(flag.name as FlagName))), ...withoutEffect.map((line) => `# ${line}`)];
    return `${lines.join("\n")}\n`;
  }
  const flag = flags.find(({ name }) => name === key) ?? unknownKey(key);
  const text = given.get(flag.name as FlagName)?.text ?? "";
  return `${flag.isSecret && text !== "" ? HIDDEN : text}\n`;
}

function takeKey(args: readonly string[]): { readonly key: string | null; readonly rest: readonly string[] } {
  const at = args.findIndex((argument) => argument === KEY_FLAG || argument.startsWith(`${KEY_FLAG}=`));
  if (at < 0) return { key: null, rest: args };
  if (args[at] !== KEY_FLAG) return { key: args[at]!.slice(KEY_FLAG.length + 1), rest: args.toSpliced(at, 1) };
  const key = args[at + 1];
  if (key === undefined || key.startsWith("--")) throw new TsdbError("config", `${KEY_FLAG} needs a value: ${KEY_FLAG} NAME`);
  return { key, rest: args.toSpliced(at, 2) };
}

function unknownKey(key: string): never {
  const nearest = nearestName(
    key,
    FLAGS.map(({ name }) => name),
  );
  throw new TsdbError("config", `${KEY_FLAG}: there is no flag "${key}"${nearest === null ? "" : `; did you mean ${nearest}?`}`);
}

/** What has no value is a comment. A value says where it comes from unless it is the default. */
function lineOf(flag: Flag, given: Given | undefined): string {
  const { name, value, default: usual, defaultNote, isSecret } = flag;
  if (given === undefined) return `# ${name}${defaultNote === undefined ? "" : `: ${defaultNote}`}`;
  const isUsual = given.text === usual && given.source === `--${name}`;
  const source = isUsual ? "" : `  # ${given.source}`;
  if (isSecret) return `# ${name}: ${HIDDEN}${source}`;
  return `${name} = ${value === null ? given.text : tomlText(given.text)}${source}`;
}

/** A basic string of TOML 1.0, which has JSON's escapes. */
function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}
