// Checks the calls of a SELECT: where each is allowed, its arguments, and combinations. Texts and order of checks are those of 1.x.
import { TsdbError } from "../../model/errors.ts";
import type { Call, Expression } from "../parse/ast.ts";
import { formatDuration } from "../parse/durations.ts";
import { nodeName, printExpression } from "../parse/print.ts";
import { isTopBottom, MATH_FUNCTIONS, mathArity } from "./functions.ts";

export interface CallSurroundings {
  /** GROUP BY time, the statement's own or inherited. */
  readonly hasInterval: boolean;
  readonly inheritsInterval: boolean;
  readonly limit: number;
  readonly hasTarget: boolean;
  /** By the rules of v3, where top and bottom may have more points than the LIMIT. */
  readonly isTable: boolean;
}

const AGGREGATES: ReadonlySet<string> = new Set(["count", "sum", "mean", "median", "mode", "stddev", "spread"]);
const CHOICES: ReadonlySet<string> = new Set(["max", "min", "first", "last"]);
const AVERAGES: ReadonlySet<string> = new Set([
  "exponential_moving_average",
  "double_exponential_moving_average",
  "triple_exponential_moving_average",
  "relative_strength_index",
  "triple_exponential_derivative",
]);
const KAUFMANS: ReadonlySet<string> = new Set(["kaufmans_efficiency_ratio", "kaufmans_adaptive_moving_average"]);

/** The checks over all fields of one statement. */
export class CallChecks {
  private fieldCount = 0;
  private callCount = 0;
  private onlySelectors = true;
  private hasDistinct = false;
  private hasColumns = false;
  private topBottom = "";
  private allowsWildcard = true;

  constructor(private readonly around: CallSurroundings) {}

  /** @throws TsdbError bad_query */
  field(expression: Expression): void {
    this.fieldCount++;
    this.allowsWildcard = true;
    this.expression(expression);
  }

  /** Arithmetic of constants, which v3 accepts beside columns and calls. */
  constant(): void {
    this.fieldCount++;
  }

  /** @param hasOwnInterval true if GROUP BY time is the statement's own */
  finish(hasOwnInterval: boolean, fill: string): void {
    if (this.fieldCount === 0) throw bad("at least 1 non-time field must be queried");
    if (this.callCount > 1 && this.topBottom !== "") throw this.notCombined();
    if (this.callCount === 0) {
      if (fill === "none" || fill === "linear") throw bad(`fill(${fill}) must be used with a function`);
      if (hasOwnInterval) throw bad("GROUP BY requires at least one aggregate function");
    }
    if (this.hasDistinct && (this.callCount !== 1 || this.hasColumns)) {
      throw bad("aggregate function distinct() cannot be combined with other functions or fields");
    }
    if (!this.hasColumns) return;
    if (!this.onlySelectors) throw bad("mixing aggregate and non-aggregate queries is not supported");
    if (this.callCount > 1) throw bad("mixing multiple selector functions with tags or fields is not supported");
  }

  private expression(expression: Expression): void {
    switch (expression.kind) {
      case "ref":
        this.hasColumns = true;
        return;
      case "wildcard":
        this.hasColumns = true;
        if (!this.allowsWildcard) throw bad("unable to use wildcard in a binary expression");
        return;
      case "regex":
        if (!this.allowsWildcard) throw bad("unable to use regex in a binary expression");
        this.hasColumns = true;
        return;
      case "call":
        this.call(expression);
        return;
      case "distinct":
        this.callCount++;
        this.distinct([{ kind: "ref", name: expression.name, cast: null }], false);
        return;
      case "binary":
        this.allowsWildcard = false;
        if (isLiteral(expression.left)) {
          if (isLiteral(expression.right)) throw bad("cannot perform a binary expression on two literals");
          this.expression(expression.right);
          return;
        }
        this.expression(expression.left);
        if (!isLiteral(expression.right)) this.expression(expression.right);
        return;
      case "paren":
        this.expression(expression.inner);
        return;
      default:
        throw bad("field must contain at least one variable");
    }
  }

  private call(call: Call): void {
    const { name, args } = call;
    if (MATH_FUNCTIONS.has(name)) {
      if (args.length !== mathArity(name)) throw wrongCount(name, `${mathArity(name)}`, args);
      for (const arg of args) if (!isLiteral(arg)) this.expression(arg);
      return;
    }
    this.callCount++;
    if (name === "percentile") this.percentile(args);
    else if (name === "sample") this.sample(args);
    else if (name === "distinct") this.distinct(args, false);
    else if (isTopBottom(name)) this.topOrBottom(call);
    else if (name === "derivative" || name === "non_negative_derivative") this.derivative(name, args);
    else if (name === "elapsed") this.elapsed(args);
    else if (name === "difference" || name === "non_negative_difference" || name === "cumulative_sum") {
      if (args.length !== 1) throw bad(`invalid number of arguments for ${name}, expected 1, got ${args.length}`);
      this.transformed(name, args[0]!, true);
    } else if (name === "moving_average") this.movingAverage(args);
    else if (AVERAGES.has(name)) this.average(name, args);
    else if (KAUFMANS.has(name)) this.kaufmans(name, args);
    else if (name === "chande_momentum_oscillator") this.chande(args);
    else if (name === "integral") this.integral(args);
    else if (name === "holt_winters" || name === "holt_winters_with_fit") this.holtWinters(name, args);
    else this.plain(call);
  }

  private plain({ name, args }: Call): void {
    if (AGGREGATES.has(name)) this.onlySelectors = false;
    else if (!CHOICES.has(name)) throw bad(`undefined function ${name}()`);
    if (args.length !== 1) throw wrongCount(name, "1", args);
    const [arg] = args;
    if (name === "count" && arg!.kind === "call" && arg!.name === "distinct") this.distinct(arg!.args, true);
    else if (name === "count" && arg!.kind === "distinct") this.distinct([{ kind: "ref", name: arg!.name, cast: null }], true);
    else this.symbol(name, arg!);
  }

  /** A column, or a wildcard or regular expression for several. */
  private symbol(name: string, arg: Expression): void {
    if (arg.kind === "ref") return;
    if (arg.kind !== "wildcard" && arg.kind !== "regex") throw bad(`expected field argument in ${name}()`);
    if (!this.allowsWildcard) throw bad(`unsupported expression with ${arg.kind === "regex" ? "regex field" : "wildcard"}: ${name}()`);
    this.onlySelectors = false;
  }

  /** The argument of a transform: a column, or an aggregate over windows. */
  private transformed(name: string, arg: Expression, nested: boolean): void {
    this.onlySelectors = false;
    if (arg.kind === "call") {
      if (!this.around.hasInterval) throw bad(`${name} aggregate requires a GROUP BY interval`);
      if (nested) this.nested(arg);
      else this.expression(arg);
      return;
    }
    if (this.around.hasInterval && !this.around.inheritsInterval) throw bad(`aggregate function required inside the call to ${name}`);
    this.symbol(name, arg);
  }

  private nested(call: Call): void {
    if (call.name === "distinct") this.distinct(call.args, true);
    else this.expression(call);
  }

  private percentile(args: readonly Expression[]): void {
    if (args.length !== 2) throw wrongCount("percentile", "2", args);
    if (args[1]!.kind !== "integer" && args[1]!.kind !== "number") throw bad("expected float argument in percentile()");
    this.symbol("percentile", args[0]!);
  }

  private sample(args: readonly Expression[]): void {
    if (args.length !== 2) throw wrongCount("sample", "2", args);
    const size = args[1]!;
    if (size.kind !== "integer" || size.unsigned) throw bad("expected integer argument in sample()");
    if (size.value <= 0n) throw bad(`sample window must be greater than 1, got ${size.value}`);
    this.symbol("sample", args[0]!);
  }

  private distinct(args: readonly Expression[], nested: boolean): void {
    if (args.length === 0) throw bad("distinct function requires at least one argument");
    if (args.length !== 1) throw bad("distinct function can only have one argument");
    const [arg] = args;
    if (this.around.isTable && !nested && arg!.kind === "regex") this.symbol("distinct", arg);
    else if (arg!.kind !== "ref") throw bad("expected field argument in distinct()");
    if (!nested) this.hasDistinct = true;
    this.onlySelectors = false;
  }

  private topOrBottom({ name, args }: Call): void {
    if (this.topBottom !== "") throw this.notCombined();
    if (args.length < 2) throw bad(`invalid number of arguments for ${name}, expected at least 2, got ${args.length}`);
    const count = args.at(-1)!;
    if (count.kind !== "integer" || count.unsigned) {
      throw bad(`expected integer as last argument in ${name}(), found ${printExpression(count)}`);
    }
    if (count.value <= 0n) throw bad(`limit (${count.value}) in ${name} function must be at least 1`);
    const { limit, isTable } = this.around;
    if (!isTable && limit > 0 && count.value > BigInt(limit)) {
      throw bad(`limit (${count.value}) in ${name} function can not be larger than the LIMIT (${limit}) in the select statement`);
    }
    if (args[0]!.kind !== "ref") throw bad(`expected first argument to be a field in ${name}(), found ${printExpression(args[0]!)}`);
    for (const tag of args.slice(1, -1)) {
      if (tag.kind !== "ref") throw bad(`only fields or tags are allowed in ${name}(), found ${printExpression(tag)}`);
      if (!this.around.hasTarget) this.hasColumns = true;
    }
    this.topBottom = name;
  }

  private derivative(name: string, args: readonly Expression[]): void {
    if (args.length < 1 || args.length > 2) throw wrongCount(name, "at least 1 but no more than 2", args);
    if (args.length === 2) {
      if (args[1]!.kind !== "duration") throw bad(`second argument to ${name} must be a duration, got ${nodeName(args[1]!)}`);
      checkPositive(args[1]!.ns);
    }
    this.transformed(name, args[0]!, true);
  }

  private elapsed(args: readonly Expression[]): void {
    if (args.length < 1 || args.length > 2) throw wrongCount("elapsed", "at least 1 but no more than 2", args);
    if (args.length === 2) {
      if (args[1]!.kind !== "duration") throw bad(`second argument to elapsed must be a duration, got ${nodeName(args[1]!)}`);
      checkPositive(args[1]!.ns);
    }
    this.transformed("elapsed", args[0]!, true);
  }

  private integral(args: readonly Expression[]): void {
    if (args.length < 1 || args.length > 2) throw wrongCount("integral", "at least 1 but no more than 2", args);
    if (args.length === 2) {
      if (args[1]!.kind !== "duration") throw bad("second argument must be a duration");
      checkPositive(args[1]!.ns);
    }
    this.onlySelectors = false;
    this.symbol("integral", args[0]!);
  }

  private movingAverage(args: readonly Expression[]): void {
    if (args.length !== 2) throw wrongCount("moving_average", "2", args);
    const size = args[1]!;
    if (size.kind !== "integer") throw bad(`second argument for moving_average must be an integer, got ${nodeName(size)}`);
    if (size.value <= 1n) throw bad(`moving_average window must be greater than 1, got ${size.value}`);
    this.transformed("moving_average", args[0]!, true);
  }

  private average(name: string, args: readonly Expression[]): void {
    if (args.length < 2 || args.length > 4) throw wrongCount(name, "at least 2 but no more than 4", args);
    checkPeriod(name, args[1]!);
    const hold = args[2];
    if (hold !== undefined) {
      if (hold.kind !== "integer") throw bad(`${name} hold period must be an integer`);
      const least = name === "triple_exponential_derivative" ? 1n : 0n;
      if (hold.value < least && hold.value !== -1n) throw bad(`${name} hold period must be greater than or equal to ${least}`);
    }
    checkWarmup(name, args[3], ["exponential", "simple"]);
    this.transformed(name, args[0]!, false);
  }

  private kaufmans(name: string, args: readonly Expression[]): void {
    if (args.length < 2 || args.length > 3) throw wrongCount(name, "at least 2 but no more than 3", args);
    checkPeriod(name, args[1]!);
    checkHold(name, args[2]);
    this.transformed(name, args[0]!, false);
  }

  private chande(args: readonly Expression[]): void {
    const name = "chande_momentum_oscillator";
    if (args.length < 2 || args.length > 4) throw wrongCount(name, "at least 2 but no more than 4", args);
    checkPeriod(name, args[1]!);
    checkHold(name, args[2]);
    checkWarmup(name, args[3], ["none", "exponential", "simple"]);
    this.transformed(name, args[0]!, false);
  }

  private holtWinters(name: string, args: readonly Expression[]): void {
    if (args.length !== 3) throw wrongCount(name, "3", args);
    const [call, count, season] = args;
    if (count!.kind !== "integer") throw bad(`expected integer argument as second arg in ${name}`);
    if (count!.value <= 0n) throw bad(`second arg to ${name} must be greater than 0, got ${count!.value}`);
    if (season!.kind !== "integer") throw bad(`expected integer argument as third arg in ${name}`);
    if (season!.value < 0n) throw bad(`third arg to ${name} cannot be negative, got ${season!.value}`);
    this.onlySelectors = false;
    if (call!.kind !== "call") throw bad(`must use aggregate function with ${name}`);
    if (!this.around.hasInterval) throw bad(`${name} aggregate requires a GROUP BY interval`);
    this.nested(call!);
  }

  private notCombined(): TsdbError {
    return bad(`selector function ${this.topBottom}() cannot be combined with other functions`);
  }
}

function checkPositive(ns: bigint): void {
  if (ns <= 0n) throw bad(`duration argument must be positive, got ${formatDuration(ns)}`);
}

function checkPeriod(name: string, period: Expression): void {
  if (period.kind !== "integer") throw bad(`${name} period must be an integer`);
  if (period.value < 1n) throw bad(`${name} period must be greater than or equal to 1`);
}

function checkHold(name: string, hold: Expression | undefined): void {
  if (hold === undefined) return;
  if (hold.kind !== "integer") throw bad(`${name} hold period must be an integer`);
  if (hold.value < 0n && hold.value !== -1n) throw bad(`${name} hold period must be greater than or equal to 0`);
}

function checkWarmup(name: string, warmup: Expression | undefined, choices: readonly string[]): void {
  if (warmup === undefined) return;
  if (warmup.kind !== "string") throw bad(`${name} warmup type must be a string`);
  if (choices.includes(warmup.value)) return;
  throw bad(`${name} warmup type must be one of: ${choices.map((choice) => `'${choice}'`).join(" ")}`);
}

function wrongCount(name: string, wanted: string, args: readonly Expression[]): TsdbError {
  return bad(`invalid number of arguments for ${name}, expected ${wanted}, got ${args.length}`);
}

function bad(message: string): TsdbError {
  return new TsdbError("bad_query", message);
}

function isLiteral({ kind }: Expression): boolean {
  return (
    kind === "number" ||
    kind === "integer" ||
    kind === "string" ||
    kind === "boolean" ||
    kind === "duration" ||
    kind === "time" ||
    kind === "regex"
  );
}
