// The text format in which services show their metrics: names, labels, values, and optional times in milliseconds. OpenMetrics has times in
// seconds, and exemplars behind a value.
import { FluxError } from "../../values/flux-error.ts";

export interface Metric {
  readonly name: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly value: number;
  /** Null: the time of the request. */
  readonly milliseconds: bigint | null;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{)?/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,?)/y;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", "\\": "\\", '"': '"' };
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ inf: Number.POSITIVE_INFINITY, "+inf": Number.POSITIVE_INFINITY, "-inf": Number.NEGATIVE_INFINITY },
  ...{ infinity: Number.POSITIVE_INFINITY, "+infinity": Number.POSITIVE_INFINITY, "-infinity": Number.NEGATIVE_INFINITY },
  nan: Number.NaN,
};

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const SECONDS_LENGTH_MAX = 64;

/** @throws FluxError: a line is not of the format */
export function parseExposition(text: string): Metric[] {
  const metrics: Metric[] = [];
  text.split("\n").forEach((line, at) => {
    const trimmed = line.trim();
    if (trimmed !== "" && !trimmed.startsWith("#")) metrics.push(parseSample(trimmed, at + 1));
  });
  return metrics;
}

/** One line that is neither empty nor a comment. @throws FluxError */
export function parseSample(line: string, number: number, format: "text" | "openmetrics" = "text"): Metric {
  const [whole, name, brace] = SAMPLE.exec(line) ?? [];
  if (whole === undefined || name === undefined) throw wrong(number, "invalid metric name");
  const [labels, at] = brace === undefined ? [[], whole.length] : parseLabels(line, whole.length, number);
  const isOpen = format === "openmetrics";
  const behind = line.slice(at);
  const exemplar = isOpen ? behind.indexOf(" # ") : -1;
  const [value, time, ...rest] = (exemplar < 0 ? behind : behind.slice(0, exemplar)).trim().split(/\s+/);
  const parsed = NUMBERS[value!.toLowerCase()] ?? (DECIMAL.test(value!) ? Number(value) : undefined);
  if (parsed === undefined) throw wrong(number, `expected float as value, got ${JSON.stringify(value!.slice(0, 40))}`);
  if (rest.length > 0) throw wrong(number, `expected ${isOpen ? "seconds" : "integer"} as timestamp`);
  return { name, labels, value: parsed, milliseconds: time === undefined ? null : millisecondsOf(time, isOpen, number) };
}

/** May be a time that cannot be stored. */
function millisecondsOf(time: string, isOpen: boolean, number: number): bigint {
  if (!isOpen) {
    if (/^-?\d{1,18}$/.test(time)) return BigInt(time);
    throw wrong(number, "expected integer as timestamp");
  }
  const milliseconds = time.length <= SECONDS_LENGTH_MAX && DECIMAL.test(time) ? Math.round(Number(time) * 1000) : Number.NaN;
  if (!Number.isFinite(milliseconds)) throw wrong(number, "expected seconds as timestamp");
  return BigInt(milliseconds);
}

function parseLabels(line: string, from: number, number: number): [labels: [string, string][], end: number] {
  const labels: [string, string][] = [];
  let at = from;
  while (line[at] !== "}") {
    LABEL.lastIndex = at;
    const found = LABEL.exec(line);
    if (found === null) throw wrong(number, "expected a label");
    labels.push([found[1]!, found[2]!.replace(/\\(.)/g, (all, char: string) => ESCAPES[char] ?? all)]);
    at = LABEL.lastIndex;
    if (found[3] === "" && line[at] !== "}") throw wrong(number, "expected , or } after a label");
    while (line[at] === " ") at++;
  }
  return [labels, at + 1];
}

function wrong(line: number, what: string): FluxError {
  return new FluxError(`reading text format failed: text format parsing error in line ${line}: ${what}`);
}
