// Resolves each flag's text from the argument list and the environment, with the name under which the user gave it. Own code instead of
// node:util's parseArgs, whose messages name neither the expected value nor the flag that was probably meant.
import { TsdbError } from "../model/errors.ts";
import type { ConfigFile } from "./config-file.ts";
import type { Flag } from "./flag.ts";
import { type Environment, environmentName, FLAGS, type FlagName } from "./flags.ts";
import { nearestName } from "./nearest-name.ts";

export interface Given {
  readonly text: string;
  /** `--http-bind` or the variable's name: the prefix of error messages about the text. */
  readonly source: string;
}

const KNOWN: readonly Flag[] = FLAGS;

/** The text of each flag: from the last occurrence, otherwise our variable, another's variable, the configuration file, or the default.
 *  @throws TsdbError config */
export function readFlags(
  args: readonly string[],
  environment: Environment,
  config: ConfigFile | null = null,
): ReadonlyMap<FlagName, Given> {
  const found = new Map<FlagName, Given>();
  for (const flag of KNOWN) {
    const given = fromEnvironment(flag, environment) ?? fromConfigFile(flag, config) ?? defaultOf(flag);
    if (given !== null) found.set(flag.name as FlagName, given);
  }
  for (const [flag, given] of fromArguments(args)) found.set(flag, given);
  return found;
}

function defaultOf({ name, default: text }: Flag): Given | null {
  return text === null ? null : { text, source: `--${name}` };
}

function fromConfigFile({ name }: Flag, config: ConfigFile | null): Given | null {
  const text = config?.serve.get(name as FlagName);
  return config === null || text === undefined ? null : { text, source: `${config.path}: ${name}` };
}

function fromEnvironment(flag: Flag, environment: Environment): Given | null {
  for (const source of [environmentName(flag.name), ...(flag.aliases ?? [])]) {
    const text = environment[source];
    if (text !== undefined && text !== "") return { text, source };
  }
  return null;
}

function* fromArguments(args: readonly string[]): Generator<[FlagName, Given]> {
  for (let at = 0; at < args.length; at++) {
    const argument = args[at]!;
    if (!/^--./.test(argument)) throw new TsdbError("config", `unexpected argument "${argument}"; flags begin with --`);
    const equals = argument.indexOf("=");
    const source = equals < 0 ? argument : argument.slice(0, equals);
    const flag = knownFlag(source);
    const name = flag.name as FlagName;
    if (equals >= 0) {
      yield [name, { text: argument.slice(equals + 1), source }];
    } else if (flag.value === null) {
      // A switch without a value means true; `--switch false` is accepted too.
      const next = args[at + 1];
      const hasValue = next === "true" || next === "false";
      if (hasValue) at++;
      yield [name, { text: hasValue ? next : "true", source }];
    } else {
      const text = args[++at];
      if (text === undefined || text.startsWith("--")) throw new TsdbError("config", `${source} needs a value: ${source} ${flag.value}`);
      yield [name, { text, source }];
    }
  }
}

/** A command line as others may see it: with `***` for the values of flags that are secret. */
export function shownArguments(args: readonly string[]): string[] {
  const isSecret = (flag: string) => KNOWN.some(({ name, isSecret }) => isSecret === true && flag === `--${name}`);
  return args.map((argument, i) => {
    if (i > 0 && isSecret(args[i - 1]!)) return "***";
    const equals = argument.indexOf("=");
    return equals > 0 && isSecret(argument.slice(0, equals)) ? `${argument.slice(0, equals)}=***` : argument;
  });
}

function knownFlag(source: string): Flag {
  const name = source.slice(2);
  const flag = KNOWN.find((each) => each.name === name);
  if (flag !== undefined) return flag;
  const nearest = nearestName(
    name,
    KNOWN.map((each) => each.name),
  );
  const hint = nearest === null ? "tsdb serve --help lists them" : `did you mean --${nearest}?`;
  throw new TsdbError("config", `unknown flag ${source}; ${hint}`);
}
