// Parses the program's command line: serve, a client command, help or version.
import { TsdbError } from "../model/errors.ts";
import type { ClientCommand } from "./client/command.ts";
import { CLIENT_COMMANDS, familyOf, findCommand, missingCommand } from "./client/commands.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import type { Environment } from "./flags.ts";
import { commandHelp, familyHelp, mainHelp, serveHelp, versionLine } from "./help.ts";
import { nearestName } from "./nearest-name.ts";
import { printConfig, printConfigHelp } from "./print-config.ts";
import { type Machine, parseServeFlags, type ServeConfig, thisMachine } from "./serve-config.ts";

export type Command =
  | { readonly name: "serve"; readonly config: ServeConfig }
  | { readonly name: "print"; readonly text: string }
  | {
      readonly name: "client";
      readonly command: ClientCommand;
      /** Arguments after the command's words. */
      readonly args: readonly string[];
      /** Option values from the configuration file. */
      readonly configured: Readonly<Record<string, string>>;
      /** Path of the configuration file if it contains a token. */
      readonly secretFile: string | null;
    };

const COMMANDS = ["serve", "print-config", "help", "version"] as const;

/** `args` without the program's name. @throws TsdbError config */
export function parseCommandLine(given: readonly string[], environment: Environment, machine: Machine = thisMachine()): Command {
  const inOrder = commandFirst(given);
  const wantsHelp = inOrder[0] === "help" || inOrder.some(isHelp);
  const { config, args } = wantsHelp ? { config: null, args: inOrder } : readConfigFile(inOrder, environment, machine.readFile);
  const [command, ...rest] = args;
  if (command === "help") return help(rest);
  if (command === undefined || isHelp(command)) return print(mainHelp());
  if (command === "version" || isVersion(command)) return print(versionLine());
  const found = findCommand(args);
  if (found !== undefined) {
    return {
      name: "client",
      command: found.command,
      args: args.slice(found.wordCount),
      configured: found.command.isApart === true ? {} : (config?.client ?? {}),
      secretFile: secretFileOf(config),
    };
  }
  if (command === "print-config") {
    return print(rest.some(isHelp) ? printConfigHelp() : printConfig(rest, environment, machine, config));
  }
  if (rest.some(isHelp) && familyOf(args).commands.length > 0) return print(familyHelp(familyOf(args)));
  if (command !== "serve") throw new TsdbError("config", missingCommand(args) ?? unknownCommand(command));
  if (rest.some(isHelp)) return print(serveHelp());
  if (rest.some(isVersion)) return print(versionLine());
  return { name: "serve", config: parseServeFlags(rest, environment, machine, config) };
}

/** Other servers take the number of their I/O threads before the command. */
function commandFirst(args: readonly string[]): readonly string[] {
  const flag = "--num-io-threads";
  const count = args[0] === flag ? 2 : args[0]?.startsWith(`${flag}=`) ? 1 : 0;
  return args[count] === "serve" ? ["serve", ...args.slice(0, count), ...args.slice(count + 1)] : args;
}

function help(words: readonly string[]): Command {
  if (words[0] === "serve") return print(serveHelp());
  if (words[0] === "print-config") return print(printConfigHelp());
  const found = findCommand(words);
  if (found !== undefined) return print(commandHelp(found.command));
  const family = familyOf(words);
  return print(family.commands.length > 0 ? familyHelp(family) : mainHelp());
}

function secretFileOf(config: ConfigFile | null): string | null {
  return config?.client["token"] === undefined ? null : config.path;
}

function print(text: string): Command {
  return { name: "print", text };
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h" || argument === "--help-all";
}

function isVersion(argument: string): boolean {
  return argument === "--version" || argument === "-V";
}

function unknownCommand(command: string): string {
  if (command.startsWith("-")) return `the command comes before the flags: tsdb serve ${command} …`;
  const nearest = nearestName(command, [...COMMANDS, ...CLIENT_COMMANDS.map(({ words }) => words[0]!)]);
  return `unknown command "${command}"; ${nearest === null ? "tsdb --help lists them" : `did you mean "${nearest}"?`}`;
}
