// Resolves each flag's text from the argument list and the environment, with the name under which the user gave it. Own code instead of
// node:util's parseArgs, whose messages name neither the expected value nor the flag that was probably meant.
import { TsdbError } from "../model/errors.ts";
import type { ConfigFile } from "./config-file.ts";
import type { Flag } from "./flag.ts";
import { FOREIGN_FLAGS, type ForeignFlag, foreignVariables } from "./flags/foreign-flags.ts";
import { type Environment, environmentName, FLAGS, type FlagName } from "./flags.ts";
import { nearestName } from "./nearest-name.ts";

export interface Given {
  readonly text: string;
  /** `--http-bind` or the variable's name: the prefix of error messages about the text. */
  readonly source: string;
  /** Given under a name of another server's: a size above ours is lowered rather than refused. */
  readonly isForeign?: true;
}

export interface GivenFlags {
  readonly flags: ReadonlyMap<FlagName, Given>;
  /** A line for each flag and variable that was accepted without effect. */
  readonly withoutEffect: readonly string[];
}

const KNOWN: readonly Flag[] = FLAGS;
/** Variables of existing installations that have a flag of the same name there. */
const FOREIGN_PREFIX = /^(?:INFLUXDB3_ENTERPRISE_|INFLUXDB3_|INFLUXD_)/;
/** Another server's flags by name: ours, and the variable that each belongs to. */
const SPELLINGS: ReadonlyMap<string, { readonly flag: Flag; readonly alias: string }> = new Map(
  KNOWN.flatMap((flag) =>
    (flag.aliases ?? []).filter((alias) => FOREIGN_PREFIX.test(alias)).map((alias) => [spelledBy(alias), { flag, alias }] as const),
  ),
);
const WITHOUT_EFFECT: ReadonlyMap<string, ForeignFlag> = new Map(FOREIGN_FLAGS.map((flag) => [flag.name, flag]));

/** The text of each flag: from the last occurrence, otherwise our variable, another's variable, the configuration file, or the default.
 *  @throws TsdbError config */
export function readFlags(args: readonly string[], environment: Environment, config: ConfigFile | null = null): GivenFlags {
  const found = new Map<FlagName, Given>();
  const withoutEffect = FOREIGN_FLAGS.flatMap((flag) =>
    foreignVariables(flag)
      .filter((name) => (environment[name] ?? "") !== "")
      .map((name) => noEffect(name, flag)),
  );
  for (const flag of KNOWN) {
    const given = fromEnvironment(flag, environment) ?? fromConfigFile(flag, config) ?? defaultOf(flag);
    if (given !== null) found.set(flag.name as FlagName, given);
  }
  for (const [flag, given] of fromArguments(args, withoutEffect)) found.set(flag, given);
  return { flags: found, withoutEffect: [...new Set(withoutEffect)] };
}

/** `INFLUXDB3_EXEC_MEM_POOL_SIZE` is `exec-mem-pool-size` as a flag. */
function spelledBy(variable: string): string {
  return variable.replace(FOREIGN_PREFIX, "").toLowerCase().replaceAll("_", "-");
}

function spelled(flag: Flag, source: string, text: string): Given {
  return foreign(flag, SPELLINGS.get(source.slice(2))!.alias, text, source);
}

function foreign({ bareUnits }: Flag, alias: string, text: string, source: string): Given {
  const unit = /^\d+$/.test(text) ? (bareUnits?.[alias] ?? "") : "";
  return { text: text + unit, source, isForeign: true };
}

function noEffect(source: string, { why }: ForeignFlag): string {
  return `${source} has no effect: ${why}`;
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
    if (text === undefined || text === "") continue;
    return source === environmentName(flag.name) ? { text, source } : foreign(flag, source, text, source);
  }
  return null;
}

/** Adds to `withoutEffect` what is accepted and means nothing here. */
function* fromArguments(args: readonly string[], withoutEffect: string[]): Generator<[FlagName, Given]> {
  for (let at = 0; at < args.length; at++) {
    const argument = args[at]!;
    if (!/^--./.test(argument)) throw new TsdbError("config", `unexpected argument "${argument}"; flags begin with --`);
    const equals = argument.indexOf("=");
    const source = equals < 0 ? argument : argument.slice(0, equals);
    const flag = meantFlag(source);
    const isSwitch = "hasValue" in flag ? !flag.hasValue : flag.value === null;
    let text: string;
    if (equals >= 0) text = argument.slice(equals + 1);
    else if (isSwitch) {
      // A switch without a value means true; `--switch false` is accepted too.
      const next = args[at + 1];
      const hasValue = next === "true" || next === "false";
      if (hasValue) at++;
      text = hasValue ? next : "true";
    } else {
      const next = args[++at];
      const placeholder = "hasValue" in flag ? "VALUE" : flag.value;
      if (next === undefined || next.startsWith("--")) throw new TsdbError("config", `${source} needs a value: ${source} ${placeholder}`);
      text = next;
    }
    if ("hasValue" in flag) withoutEffect.push(noEffect(source, flag));
    else yield [flag.name as FlagName, source === `--${flag.name}` ? { text, source } : spelled(flag, source, text)];
  }
}

/** A command line as others may see it: with `***` for the values of flags that are secret. */
export function shownArguments(args: readonly string[]): string[] {
  const isSecret = (flag: string) => {
    const name = flag.slice(2);
    if (WITHOUT_EFFECT.has(name)) return /key|token|account/.test(name);
    return (KNOWN.find((each) => each.name === name) ?? SPELLINGS.get(name)?.flag)?.isSecret === true;
  };
  return args.map((argument, i) => {
    if (i > 0 && isSecret(args[i - 1]!)) return "***";
    const equals = argument.indexOf("=");
    return equals > 0 && isSecret(argument.slice(0, equals)) ? `${argument.slice(0, equals)}=***` : argument;
  });
}

/** Ours by name, then another server's. */
function meantFlag(source: string): Flag | ForeignFlag {
  const name = source.slice(2);
  const flag = KNOWN.find((each) => each.name === name) ?? SPELLINGS.get(name)?.flag ?? WITHOUT_EFFECT.get(name);
  if (flag !== undefined) return flag;
  const nearest = nearestName(
    name,
    KNOWN.map((each) => each.name),
  );
  const hint = nearest === null ? "tsdb serve --help lists them" : `did you mean --${nearest}?`;
  throw new TsdbError("config", `unknown flag ${source}; ${hint}`);
}
