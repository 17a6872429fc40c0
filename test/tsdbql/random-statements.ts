// Valid statements by a seed: what nobody thought of writing down.
import { type Below, prng } from "../support/prng.ts";

/** What a measurement has. */
export interface Shape {
  readonly measurement: string;
  readonly tags: readonly string[];
  readonly tagValues: readonly string[];
  readonly numbers: readonly string[];
  readonly others: readonly string[];
}

/** Of differential-data.ts. */
const SHAPES: readonly Shape[] = [
  {
    measurement: "cpu",
    tags: ["host", "region"],
    tagValues: ["a", "b", "c", "eu", "us", ""],
    numbers: ["usage", "idle"],
    others: ["busy", "note"],
  },
  { measurement: "mem", tags: ["host"], tagValues: ["a", "b", "d"], numbers: ["used", "total"], others: [] },
  { measurement: "weather", tags: ["station"], tagValues: ["n", "s"], numbers: ["t", "n"], others: ["rain"] },
  { measurement: "sparse", tags: ["k"], tagValues: ["0", "1", "2"], numbers: ["even", "odd"], others: ["rare"] },
];

const OF_NUMBERS = ["mean", "median", "spread", "sum", "max", "min", "stddev"];
const OF_ALL = ["count", "first", "last"];
const TRANSFORMS = ["derivative", "difference", "cumulative_sum", "non_negative_difference"];

/** `count` of them over differential-data.ts, always the same for the same seed. */
export function randomStatements(seed: number, count: number): readonly string[] {
  const maker = new StatementMaker(prng(seed), SHAPES, "2024-01-01");
  return Array.from({ length: count }, () => maker.statement());
}

/** Over other measurements, with conditions on the minutes after `start`. */
export function randomTsdbql(below: Below, shape: Shape, start: string): string {
  const maker = new StatementMaker(below, [shape], start);
  return below(4) === 0 ? maker.ofOneTag(shape) : maker.statement();
}

class StatementMaker {
  constructor(
    private readonly random: Below,
    private readonly shapes: readonly Shape[],
    private readonly start: string,
  ) {}

  statement(): string {
    const shape = this.pick(this.shapes);
    if (this.chance(4)) return this.raw(shape);
    return this.chance(6) ? this.subquery(shape) : this.aggregate(shape, this.chance(2));
  }

  /** What dashboards ask: a field, or a number of all rows, of one value of a tag. */
  ofOneTag(shape: Shape): string {
    const field = this.pick(shape.numbers);
    const shown = this.pick([field, `count(${field})`, `max(${field})`, `last(${field})`, `mean(${field})`]);
    return `SELECT ${shown} FROM ${shape.measurement} WHERE ${this.tagCondition(shape)}`;
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.random(list.length)]!;
  }

  private chance(oneIn: number): boolean {
    return this.random(oneIn) === 0;
  }

  private some<T>(max: number, make: () => T): T[] {
    return Array.from({ length: 1 + this.random(max) }, make);
  }

  private raw(shape: Shape): string {
    const columns = [...shape.numbers, ...shape.others, ...shape.tags];
    const field = () => (this.chance(4) ? this.math(shape) : this.pick(columns));
    const fields = this.chance(5) ? "*" : [this.pick([...shape.numbers, ...shape.others]), ...this.some(2, field)].join(", ");
    return this.join(`SELECT ${fields} FROM ${shape.measurement}`, this.where(shape, null), this.groupBy(shape, null), this.limits());
  }

  private math(shape: Shape): string {
    const operand = () => (this.chance(3) ? String(this.random(20) - 5) : this.pick(shape.numbers));
    return `${this.pick(shape.numbers)} ${this.pick(["+", "-", "*", "/"])} ${operand()}`;
  }

  private aggregate(shape: Shape, hasWindows: boolean, needsAlias = false): string {
    const window = hasWindows ? this.pick(["10s", "30s", "1m", "45s", "2m"]) : null;
    const calls = needsAlias ? [`${this.call(shape)} AS x`] : this.some(3, () => this.call(shape));
    const transforms = window !== null && calls.length === 1 && !needsAlias && this.chance(4);
    const fields = transforms
      ? [`${this.pick(TRANSFORMS)}(${this.pick(["mean", "sum", "max", "count"])}(${this.pick(shape.numbers)}))`]
      : calls;
    const fill = window === null ? "" : this.pick(["", "", "fill(none)", "fill(0)", "fill(previous)", "fill(linear)"]);
    const statement = `SELECT ${fields.join(", ")} FROM ${shape.measurement}`;
    const rest = needsAlias ? "" : this.limits();
    return this.join(statement, this.where(shape, window), this.groupBy(shape, window), fill, rest);
  }

  private call(shape: Shape): string {
    if (this.chance(8)) return `percentile(${this.pick(shape.numbers)}, ${this.pick([0, 10, 50, 75.5, 100])})`;
    if (this.chance(3)) return `${this.pick(OF_ALL)}(${this.pick([...shape.numbers, ...shape.others])})`;
    return `${this.pick(OF_NUMBERS)}(${this.pick(shape.numbers)})`;
  }

  private subquery(shape: Shape): string {
    const inner = this.aggregate(shape, this.chance(2), true);
    const outer = this.pick(["mean(x)", "max(x)", "sum(x)", "count(x)", "x", "x + 1", "first(x)"]);
    const group = this.chance(2) ? ` GROUP BY ${this.pick(shape.tags)}` : "";
    return `SELECT ${outer} FROM (${inner})${group}`;
  }

  private where(shape: Shape, window: string | null): string {
    const conditions: string[] = [];
    if (window !== null || this.chance(3)) {
      const from = this.random(4) * 20;
      conditions.push(`time >= '${this.start}' + ${from}s AND time < '${this.start}' + ${from + 60 + this.random(4) * 60}s`);
    }
    if (this.chance(3)) conditions.push(this.tagCondition(shape));
    if (this.chance(4)) conditions.push(`${this.pick(shape.numbers)} ${this.pick([">", "<", ">=", "<=", "=", "!="])} ${this.random(15)}`);
    if (this.chance(8)) conditions.push(`(${this.tagCondition(shape)} OR ${this.pick(shape.numbers)} > ${this.random(10)})`);
    return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  }

  private tagCondition(shape: Shape): string {
    if (this.chance(3)) return `${this.pick(shape.tags)} ${this.pick(["=~", "!~"])} /${this.pick(["a", "a|b", "^$", "e", "[0-1]", "n"])}/`;
    return `${this.pick(shape.tags)} ${this.pick(["=", "!="])} '${this.pick(shape.tagValues)}'`;
  }

  private groupBy(shape: Shape, window: string | null): string {
    const dimensions = window === null ? [] : [`time(${window}${this.chance(4) ? ", 5s" : ""})`];
    if (this.chance(2)) dimensions.push(this.chance(4) ? "*" : this.pick(shape.tags));
    return dimensions.length === 0 ? "" : `GROUP BY ${dimensions.join(", ")}`;
  }

  private limits(): string {
    const parts: string[] = [];
    if (this.chance(4)) parts.push("ORDER BY time DESC");
    // an OFFSET without a LIMIT has no meaning that 1.x keeps to
    if (this.chance(3)) parts.push(`LIMIT ${1 + this.random(4)}${this.chance(3) ? ` OFFSET ${this.random(3)}` : ""}`);
    return parts.join(" ");
  }

  private join(...parts: readonly string[]): string {
    return parts.filter((part) => part !== "").join(" ");
  }
}
