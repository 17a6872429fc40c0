// Samples of a target as points: the family is the measurement, labels are tags, the type of the family names the field.
import { LineWriter } from "../flux/library/influxdb/line-writer.ts";
import { type Metric, parseSample } from "../flux/library/prometheus/exposition.ts";
import { TsdbError } from "../model/errors.ts";
import { I64_MAX, I64_MIN } from "../model/rows/int64.ts";

type Format = "text" | "openmetrics";
/** What a sample is: `label` is one of a distribution's parts, and its name in the labels. */
type Part = { readonly field: string } | { readonly label: "le" | "quantile" };

interface Place {
  readonly measurement: string;
  readonly part: Part;
}

const NS_PER_MS = 1_000_000n;
const TYPE = /^#\s*TYPE\s+(\S+)\s+(\S+)$/;
const SUFFIX = /_(?:bucket|count|sum|gcount|gsum|total|created|info)$/;
const BATCH_LENGTH = 1 << 20;
/** Characters of line protocol: a sample of four bytes becomes a line of thirty. */
const LENGTH_MAX = 32 << 20;
const FAMILIES_MAX = 100_000;
/** A sample is read in one step. */
const SAMPLE_LENGTH_MAX = 65_536;

/** Types whose samples have the family's name and one field. */
const SIMPLE: ReadonlyMap<string, string> = new Map([
  ["gauge", "gauge"],
  ["counter", "counter"],
  ["stateset", "gauge"],
]);

/** Collects the lines of one answer. Rows of one target, labels and time merge, so each sample is a line of its own. */
export class SampleLines {
  private readonly types = new Map<string, string>();
  private readonly writer = new LineWriter();
  private readonly done: string[] = [];
  private number = 0;
  private ended = false;
  private doneLength = 0;

  constructor(
    private readonly format: Format,
    private readonly nowMs: number,
    private readonly lengthMax = LENGTH_MAX,
  ) {}

  /** @throws FluxError: the line is not of the format; TsdbError too_large */
  read(given: string): void {
    this.number += 1;
    const line = given.trim();
    if (line === "" || this.ended) return;
    if (line.startsWith("#")) {
      this.comment(line);
      return;
    }
    if (line.length > SAMPLE_LENGTH_MAX) {
      throw new TsdbError("too_large", `line ${this.number}: a sample has more than ${SAMPLE_LENGTH_MAX} characters`);
    }
    this.append(parseSample(line, this.number, this.format));
    if (this.doneLength + this.writer.length > this.lengthMax) {
      throw new TsdbError("too_large", `line ${this.number}: the points have more than ${this.lengthMax} characters`);
    }
    if (this.writer.length < BATCH_LENGTH) return;
    this.doneLength += this.writer.length;
    this.done.push(this.writer.take());
  }

  /** Line protocol in parts, for bodies. */
  take(): string[] {
    const last = this.writer.take();
    return last === "" ? this.done : [...this.done, last];
  }

  private comment(line: string): void {
    if (this.format === "openmetrics" && line === "# EOF") this.ended = true;
    const [, name, type] = TYPE.exec(line) ?? [];
    if (name === undefined || type === undefined) return;
    if (this.types.size >= FAMILIES_MAX) throw new TsdbError("too_large", `line ${this.number}: more than ${FAMILIES_MAX} families`);
    this.types.set(name, type);
  }

  private append({ name, labels, value, milliseconds }: Metric): void {
    const place = this.placeOf(name);
    if (place === null) return;
    const { measurement, part } = place;
    const time = (milliseconds ?? BigInt(this.nowMs)) * NS_PER_MS;
    if (time < I64_MIN || time > I64_MAX) return;
    if ("field" in part) {
      this.writer.append(measurement, labels, [[part.field, value]], time);
      return;
    }
    const bound = labels.find(([label]) => label === part.label)?.[1];
    if (bound === undefined) return;
    const tags = labels.filter(([label]) => label !== part.label);
    this.writer.append(measurement, tags, [[boundText(bound), value]], time);
  }

  /** Null: when a counter began is no value of it. */
  private placeOf(name: string): Place | null {
    const own = this.types.get(name);
    if (own === "summary") return { measurement: name, part: { label: "quantile" } };
    if (own !== undefined) return { measurement: name, part: { field: SIMPLE.get(own) ?? "value" } };
    const suffix = SUFFIX.exec(name)?.[0] ?? "";
    const family = name.slice(0, name.length - suffix.length);
    const type = suffix === "" ? undefined : this.types.get(family);
    if (type === undefined) return { measurement: name, part: { field: "value" } };
    return familyPart(name, family, suffix, type);
  }
}

/** A sample whose name is that of its family with a suffix. */
function familyPart(name: string, family: string, suffix: string, type: string): Place | null {
  const isDistribution = type === "histogram" || type === "gaugehistogram" || type === "summary";
  if (isDistribution && /^_g?count$/.test(suffix)) return { measurement: family, part: { field: "count" } };
  if (isDistribution && /^_g?sum$/.test(suffix)) return { measurement: family, part: { field: "sum" } };
  if (isDistribution && suffix === "_bucket") return { measurement: family, part: { label: "le" } };
  if (suffix === "_created" && (isDistribution || type === "counter")) return null;
  // as the older format has it, so that both write the same series
  if (type === "counter" && suffix === "_total") return { measurement: name, part: { field: "counter" } };
  if (type === "info" && suffix === "_info") return { measurement: name, part: { field: "gauge" } };
  return { measurement: name, part: { field: "value" } };
}

/** A bound as the vendor's server names fields: the shortest digits, with an exponent of two digits from a million on and below 0.0001. */
function boundText(text: string): string {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
