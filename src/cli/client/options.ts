// Parses arguments of client commands: words, options with a short and a long form, and values from environment and configuration file.
import { TsdbError } from "../../model/errors.ts";
import type { Environment } from "../flags.ts";
import { nearestName } from "../nearest-name.ts";

/** Joins repeated values of any text: it cannot occur in a program argument. */
export const SEPARATOR = "\0";

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** Placeholder for the value in the help; null = a switch. */
  readonly value: string | null;
  readonly help: string;
  readonly default?: string;
  /** Environment variables; the first one set is used. */
  readonly env?: readonly string[];
  /** Alternative long names used by existing scripts. */
  readonly aliases?: readonly string[];
  /** Separator for joining repeated values; if absent, the last value is used. */
  readonly joinedBy?: string;
}

export interface Positional {
  readonly name: string;
  readonly isOptional?: boolean;
  /** Of the last one: any number of values. */
  readonly isRepeated?: boolean;
  /** The allowed values. */
  readonly choices?: readonly string[];
}

/** The parsed arguments of one command. */
export interface Input {
  readonly positionals: readonly string[];
  /** Undefined if not given, not in the environment, and without a default. */
  option(name: string): string | undefined;
  /** The value among the arguments alone: what is given there comes before what the environment says with another option. */
  given(name: string): string | undefined;
  /** @throws TsdbError config if it is missing */
  required(name: string): string;
  flag(name: string): boolean;
}

interface Signature {
  readonly words: readonly string[];
  readonly positionals: readonly Positional[];
  readonly options: readonly Option[];
}

/** @throws TsdbError config */
export function readInput(
  signature: Signature,
  args: readonly string[],
  environment: Environment,
  configured: Readonly<Record<string, string>> = {},
): Input {
  const given = new Map<string, string>();
  const positionals: string[] = [];
  let isOver = false;
  const give = ({ name, joinedBy }: Option, value: string) => {
    const before = joinedBy === undefined ? undefined : given.get(name);
    given.set(name, before === undefined ? value : `${before}${joinedBy}${value}`);
  };
  for (let at = 0; at < args.length; at++) {
    const argument = args[at]!;
    if (isOver || argument === "-" || !argument.startsWith("-")) {
      positionals.push(argument);
      continue;
    }
    if (argument === "--") {
      isOver = true;
      continue;
    }
    const equals = argument.startsWith("--") ? argument.indexOf("=") : -1;
    const source = equals < 0 ? argument : argument.slice(0, equals);
    const option = find(signature, source);
    if (equals >= 0) give(option, argument.slice(equals + 1));
    else if (option.value === null) given.set(option.name, "true");
    else {
      const value = args[++at];
      if (value === undefined) throw usage(signature, `${source} needs a value: ${source} ${option.value}`);
      give(option, value);
    }
  }
  checkPositionals(signature, positionals);
  const optionOf = (name: string): string | undefined => {
    const option = signature.options.find((each) => each.name === name);
    if (option === undefined) throw new Error(`BUG: ${signature.words.join(" ")} has no option --${name}`);
    const variable = option.env?.map((each) => environment[each]).find((value) => value !== undefined && value !== "");
    return given.get(name) ?? variable ?? configured[name] ?? option.default;
  };
  return {
    positionals,
    option: optionOf,
    given: (name) => given.get(name),
    required: (name) => {
      const value = optionOf(name);
      if (value !== undefined && value !== "") return value;
      const { short, value: shown } = signature.options.find((each) => each.name === name)!;
      throw usage(signature, `--${name} is needed: ${short === undefined ? `--${name}` : `-${short}`} ${shown}`);
    },
    flag: (name) => {
      const value = optionOf(name) ?? "false";
      if (["true", "1", "yes", "on"].includes(value.toLowerCase())) return true;
      if (["false", "0", "no", "off"].includes(value.toLowerCase())) return false;
      throw usage(signature, `--${name} must be true or false, got "${value}"`);
    },
  };
}

function find(signature: Signature, source: string): Option {
  const { options } = signature;
  const isLong = source.startsWith("--");
  const name = source.slice(isLong ? 2 : 1);
  const option = options.find((each) => (isLong ? each.name === name || each.aliases?.includes(name) : each.short === name));
  if (option !== undefined) return option;
  const nearest = isLong
    ? nearestName(
        name,
        options.map((each) => each.name),
      )
    : null;
  throw usage(signature, `unknown option ${source}${nearest === null ? "" : `; did you mean --${nearest}?`}`);
}

function checkPositionals(signature: Signature, found: readonly string[]): void {
  const { positionals } = signature;
  const missing = positionals.find(({ isOptional }, i) => isOptional !== true && found[i] === undefined);
  if (missing !== undefined) throw usage(signature, `${missing.name} is missing`);
  if (found.length > positionals.length && positionals.at(-1)?.isRepeated !== true)
    throw usage(signature, `unexpected argument "${found[positionals.length]}"`);
  positionals.forEach(({ name, choices }, i) => {
    const value = found[i];
    if (choices === undefined || value === undefined || choices.includes(value)) return;
    const nearest = nearestName(value, choices);
    throw usage(
      signature,
      `${name} must be ${choices.join(" or ")}, got "${value}"${nearest === null ? "" : `; did you mean ${nearest}?`}`,
    );
  });
}

function usage({ words }: Signature, message: string): TsdbError {
  return new TsdbError("config", `${message}; tsdb ${words.join(" ")} --help says more`, {});
}
