// The server's log: pino with levels per component, as text, JSON or logfmt. No worker transports: they do not work in one executable.
import pino, { type Logger as Pino } from "pino";
import type { LogDestination, LogFilter, LogFormat, LogLevel } from "./log-filter.ts";
import { visible } from "./visible-text.ts";

export type LogFields = Readonly<Record<string, unknown>>;

/** The log of one component. The message is for people, the fields are for programs; an error under `err` is written with its stack. */
export interface Log {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LogOptions {
  readonly filter: LogFilter;
  readonly format: LogFormat;
  readonly destination?: LogDestination;
  /** Receives whole lines. Default: the destination, written synchronously, so that nothing is lost in a crash. */
  readonly write?: (line: string) => void;
}

/** Returns a function that creates the log of a component: `logs("wal").info("replayed", { rows })`. */
export function createLogs({ filter, format, destination = "stdout", write = written(destination) }: LogOptions): (part: string) => Log {
  const shape = SHAPES[format];
  const stream = { write: shape === null ? write : (line: string) => write(shape(JSON.parse(line) as Entry)) };
  const root = pino(
    {
      level: "trace",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    stream,
  );
  const logs = new Map<string, Log>();
  return (part) => {
    const known = logs.get(part);
    if (known !== undefined) return known;
    const log = partLog(root.child({ part }, { level: pinoLevel(filter.parts.get(part) ?? filter.level) }));
    logs.set(part, log);
    return log;
  };
}

function partLog(logger: Pino): Log {
  const at = (level: Exclude<LogLevel, "off">) => (message: string, fields?: LogFields) =>
    fields === undefined ? logger[level](message) : logger[level](fields, message);
  return { trace: at("trace"), debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function pinoLevel(level: LogLevel): string {
  return level === "off" ? "silent" : level;
}

function written(to: LogDestination): (line: string) => void {
  const destination = pino.destination({ dest: to === "stdout" ? 1 : 2, sync: true });
  return (line) => void destination.write(line);
}

interface Entry {
  readonly level: string;
  readonly time: string;
  readonly part: string;
  readonly msg: string;
  readonly err?: { readonly stack?: string; readonly message?: string };
  readonly [field: string]: unknown;
}

/** `2026-01-31T12:00:00.000Z  INFO wal: replayed rows=12`, followed by the indented stack of an error. */
function fullLine({ level, time, part, msg, err, ...fields }: Entry): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
  const stack = err === undefined ? "" : `\n    ${(err.stack ?? err.message ?? "").replaceAll("\n", "\n    ")}`;
  // the line may contain users' text and be shown in a terminal
  return visible(`${time} ${level.toUpperCase().padStart(5)} ${part}: ${oneLine(msg)}${pairs.join("")}${stack}\n`);
}

/** `level=info msg=replayed rows=12 part=wal ts=2026-01-31T12:00:00.000Z` */
function logfmtLine({ level, time, part, msg, err, ...fields }: Entry): string {
  const stack = err === undefined ? {} : { err: err.stack ?? err.message ?? "" };
  const pairs = Object.entries({ level, msg, ...fields, ...stack, part, ts: time });
  return visible(`${pairs.map(([name, value]) => `${name.replaceAll(/[^\w.-]/g, "_")}=${fieldText(value)}`).join(" ")}\n`);
}

/** Null: lines as pino makes them. */
const SHAPES: Readonly<Record<LogFormat, ((entry: Entry) => string) | null>> = {
  full: fullLine,
  json: null,
  logfmt: logfmtLine,
};

/** Text without spaces is written bare, everything else as JSON, so that a value cannot imitate another field or line. */
function fieldText(value: unknown): string {
  return typeof value === "string" && /^[^\s"=\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value);
}

function oneLine(message: string): string {
  return message.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}
