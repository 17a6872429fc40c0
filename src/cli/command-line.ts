// What the program was asked to do: serve, or tell about itself.
import { TsdbError } from "../model/errors.ts";
import { type Environment, nearestName } from "./arguments.ts";
import { mainHelp, serveHelp, versionLine } from "./help.ts";
import { type Machine, parseServeFlags, type ServeConfig } from "./serve-config.ts";

export type Command = { readonly name: "serve"; readonly config: ServeConfig } | { readonly name: "print"; readonly text: string };

const COMMANDS = ["serve", "help", "version"] as const;

/** `args` without the program's own name.
 *  @throws TsdbError config */
export function parseCommandLine(args: readonly string[], environment: Environment, machine?: Machine): Command {
  const [command, ...rest] = args;
  if (command === "help") return print(rest[0] === "serve" ? serveHelp() : mainHelp());
  if (command === undefined || isHelp(command)) return print(mainHelp());
  if (command === "version" || isVersion(command)) return print(versionLine());
  if (command !== "serve") throw new TsdbError("config", unknownCommand(command));
  if (rest.some(isHelp)) return print(serveHelp());
  if (rest.some(isVersion)) return print(versionLine());
  return { name: "serve", config: parseServeFlags(rest, environment, machine) };
}

function print(text: string): Command {
  return { name: "print", text };
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h";
}

function isVersion(argument: string): boolean {
  return argument === "--version" || argument === "-V";
}

function unknownCommand(command: string): string {
  if (command.startsWith("-")) return `the command comes before the flags: tsdb serve ${command} …`;
  const nearest = nearestName(command, COMMANDS);
  return `unknown command "${command}"; ${nearest === null ? "tsdb --help lists them" : `did you mean "${nearest}"?`}`;
}
