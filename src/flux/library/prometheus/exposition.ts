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
  "+inf": Number.POSITIVE_INFINITY,
  inf: Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
};

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
  const parsed = NUMBERS[value!.toLowerCase()] ?? (value === "" ? undefined : Number(value));
  if (parsed === undefined || (Number.isNaN(parsed) && value!.toLowerCase() !== "nan")) {
    throw wrong(number, `expected float as value, got ${JSON.stringify(value!.slice(0, 40))}`);
  }
  const form = isOpen ? /^-?\d{1,12}(?:\.\d{1,9})?$/ : /^-?\d{1,18}$/;
  if (rest.length > 0 || (time !== undefined && !form.test(time))) {
    throw wrong(number, `expected ${isOpen ? "seconds" : "integer"} as timestamp`);
  }
  if (time === undefined) return { name, labels, value: parsed, milliseconds: null };
  return { name, labels, value: parsed, milliseconds: BigInt(isOpen ? Math.round(Number(time) * 1000) : time) };
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
