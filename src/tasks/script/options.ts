// The task options of a script: the record of its one `option task`.
import type { Expression, ObjectExpression, OptionStatement, Property } from "../../flux/parse/ast.ts";
import { placeText, treeProblems } from "../../flux/parse/check.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { type DurationPart, durationOf, isZero, lengthNs, negated, overlongPart, SECOND_NS } from "../../flux/values/duration.ts";
import { regexpError } from "../../flux/values/regexp.ts";
import { Duration } from "../../flux/values/value.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { cronSchedule, everySchedule, periodProblem, type TaskSchedule } from "./schedule.ts";

const CONCURRENCY_MAX = 100n;
const RETRY_MAX = 10n;
/** Characters of the script's error message that are shown. */
const SHOWN_MAX = 300;

export interface TaskOptions {
  readonly name: string;
  /** As written in the script; one of the two is null. */
  readonly every: string | null;
  readonly cron: string | null;
  /** In hours, minutes and seconds; null: absent or zero. */
  readonly offset: string | null;
  /** Delay between the scheduled time of a run and its start. */
  readonly offsetMs: number;
  readonly concurrency: number;
  /** Maximum number of attempts of a run. */
  readonly retry: number;
  readonly schedule: TaskSchedule;
}

/** @param isKept of a task that there is: it may have a pattern that new ones may not @throws TsdbError bad_request */
export function readTaskOptions(flux: string, isKept = false): TaskOptions {
  return optionsOf(taskRecord(flux, isKept), flux, isKept);
}

/** The record of the script's `option task`. Incomplete expressions elsewhere pass, and broken patterns of a task that there is: the runs
 *  fail. @throws TsdbError bad_request: a syntax error, no such option, or several */
export function taskRecord(flux: string, isKept = false): ObjectExpression {
  const file = parseFile(flux, isKept ? undefined : regexpError);
  const [problem] = treeProblems(file);
  if (problem !== undefined) throw invalid(`loc ${placeText(problem.location)}: ${near(problem.message, SHOWN_MAX)}`);
  const found = file.body.filter((statement) => statement.type === "OptionStatement").filter(isTask);
  const [first, ...others] = found;
  if (first === undefined) throw invalid("no task options defined");
  if (others.length > 0) throw invalid("multiple task options defined");
  const { init } = first.assignment;
  if (init.type !== "ObjectExpression") {
    throw invalid('task option expected to be object literal, but found "ObjectExpression"');
  }
  return init;
}

/** The property of a record, by its key. */
export function propertyOf(record: ObjectExpression, key: string): Property | undefined {
  return record.properties.find((each) => (each.key.type === "Identifier" ? each.key.name : each.key.value) === key);
}

function isTask({ assignment }: OptionStatement): boolean {
  return assignment.type === "VariableAssignment" && assignment.id.name === "task";
}

function optionsOf(record: ObjectExpression, flux: string, isKept: boolean): TaskOptions {
  const value = (key: string): Expression | null | undefined => {
    const property = propertyOf(record, key);
    return property === undefined ? undefined : property.value;
  };
  const [nameAt, everyAt, cronAt] = [value("name"), value("every"), value("cron")];
  if (nameAt === undefined) throw invalid("missing required option: name");
  const name = textIn("name", nameAt);
  if (everyAt !== undefined && cronAt !== undefined) throw invalid("cannot use both cron and every in task options");
  if (everyAt === undefined && cronAt === undefined) throw invalid("missing required option: cron or every");
  const every = everyAt === undefined ? null : partsIn("every", everyAt, false);
  const cron = cronAt === undefined ? null : textIn("cron", cronAt);
  const offset = readOptional("offset", value("offset"), offsetIn) ?? new Duration(0n, 0n);
  const concurrency = readOptional("concurrency", value("concurrency"), (at) => integerIn("concurrency", at)) ?? 1n;
  const retry = readOptional("retry", value("retry"), (at) => integerIn("retry", at)) ?? 1n;

  const faults = name === "" ? ["name required"] : [];
  const hasNoSchedule = (every === null || isZero(durationOf(every))) && (cron === null || cron === "");
  if (hasNoSchedule) faults.push("must specify exactly one of either cron or every");
  const schedule = hasNoSchedule ? null : every === null ? cronOf(cron!, isKept, faults) : everyOf(every, faults);
  if (offset.months !== 0n || offset.ns % SECOND_NS !== 0n) faults.push("offset option must be expressible as whole seconds");
  faults.push(...rangeFaults("concurrency", concurrency, CONCURRENCY_MAX), ...rangeFaults("retry", retry, RETRY_MAX));
  if (schedule === null || faults.length > 0) throw invalid(`invalid options: ${faults.join(", ")}`);
  return {
    name,
    every: everyAt === undefined || everyAt === null ? null : flux.slice(everyAt.location.from, everyAt.location.to),
    cron,
    offset: offset.ns === 0n ? null : clockText(offset.ns / SECOND_NS),
    offsetMs: Number(offset.ns / 1_000_000n),
    concurrency: Number(concurrency),
    retry: Number(retry),
    schedule,
  };
}

/** What is wrong is added to `faults`. */
function everyOf(every: readonly DurationPart[], faults: string[]): TaskSchedule | null {
  const problem = periodProblem(lengthNs(every));
  if (problem === null) return everySchedule(durationOf(every));
  faults.push(`every option ${problem}`);
  return null;
}

/** What is wrong is added to `faults`. */
function cronOf(pattern: string, isKept: boolean, faults: string[]): TaskSchedule | null {
  try {
    return cronSchedule(pattern, isKept);
  } catch (error) {
    faults.push(`cron invalid: ${(error as Error).message}`);
    return null;
  }
}

function readOptional<T>(key: string, at: Expression | null | undefined, read: (at: Expression) => T): T | null {
  if (at === undefined) return null;
  if (at === null) throw unreadable(key);
  return read(at);
}

function textIn(key: string, at: Expression | null): string {
  if (at?.type !== "StringLiteral") throw unreadable(key);
  return at.value;
}

function integerIn(key: string, at: Expression): bigint {
  if (at.type !== "IntegerLiteral") throw unreadable(key);
  return at.value;
}

/** @param maybeNegative a minus may stand before the literal */
function partsIn(key: string, at: Expression | null, maybeNegative: boolean): readonly DurationPart[] {
  const isMinus = maybeNegative && at?.type === "UnaryExpression" && at.operator === "-";
  const literal = isMinus ? at.argument : at;
  if (literal?.type !== "DurationLiteral") throw unreadable(key);
  const overlong = overlongPart(literal.values);
  if (overlong !== null) throw invalid(`time: invalid duration "${isMinus ? "-" : ""}${overlong}"`);
  return literal.values;
}

function offsetIn(at: Expression): Duration {
  const length = durationOf(partsIn("offset", at, true));
  return at.type === "UnaryExpression" ? negated(length) : length;
}

function rangeFaults(key: string, value: bigint, max: bigint): string[] {
  if (value < 1n) return [`${key} must be at least 1`];
  return value > max ? [`${key} exceeded max of ${max}`] : [];
}

/** Seconds as `-1h30m`, without units that are zero. */
function clockText(seconds: bigint): string {
  const length = seconds < 0n ? -seconds : seconds;
  const parts = [
    [length / 3600n, "h"],
    [(length / 60n) % 60n, "m"],
    [length % 60n, "s"],
  ] as const;
  const text = parts.map(([count, unit]) => (count === 0n ? "" : `${count}${unit}`)).join("");
  return seconds < 0n ? `-${text}` : text;
}

function unreadable(key: string): TsdbError {
  return invalid(`failed to parse field '${key}' in task options`);
}

function invalid(message: string): TsdbError {
  return new TsdbError("bad_request", `invalid options: ${message}`);
}
