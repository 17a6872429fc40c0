// The checks of version 1.x on a SELECT before it reads any data, in its order and words; and their results: time range, windows, fields
// without `time`.
import { TsdbError } from "../../model/errors.ts";
import { TimeZone } from "../../model/time/time-zone.ts";
import type { Call, Dimension, Expression, Fill, Measurement, Select, SelectField } from "../parse/ast.ts";
import { TSDBQL_LIMITS } from "../parse/limits.ts";
import { mapLeaves } from "../parse/map-leaves.ts";
import { printExpression } from "../parse/print.ts";
import { expectTime } from "../parse/time-literals.ts";
import { CallChecks } from "./check-calls.ts";
import { fold, NO_CONTEXT } from "./fold.ts";
import { MATH_FUNCTIONS, mathArity } from "./functions.ts";
import { intersect, splitCondition, TIME_MAX_NS, TIME_MIN_NS } from "./time-range.ts";

export interface Interval {
  /** Positive. */
  readonly durationNs: bigint;
  readonly offsetNs: bigint;
}

/** A SELECT checked as far as possible without knowing its columns. */
export interface CheckedSelect {
  /** Without `time`; DISTINCT x is a call. */
  readonly fields: readonly SelectField[];
  /** Name of the time column. */
  readonly timeName: string;
  readonly sources: readonly CheckedSource[];
  readonly condition: Expression | null;
  /** Inclusive, within TIME_MIN_NS and TIME_MAX_NS, which mean unbounded. Empty if min > max. */
  readonly minNs: bigint;
  readonly maxNs: bigint;
  /** The statement's own time range, without those of outer statements. */
  readonly ownMinNs: bigint;
  readonly ownMaxNs: bigint;
  readonly dimensions: readonly Dimension[];
  readonly interval: Interval | null;
  readonly fill: Fill;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly slimit: number;
  readonly soffset: number;
  readonly timeZone: TimeZone | null;
  /** True with INTO: columns are named differently. */
  readonly hasTarget: boolean;
  /** The answer is one table, by the rules of v3 where these are others than those of 1.x. */
  readonly isTable: boolean;
  /** LIMIT 0 of a table. */
  readonly isNothing: boolean;
}

export type CheckedSource = Measurement | { readonly kind: "subquery"; readonly select: CheckedSelect };

/** @throws TsdbError bad_query */
export function checkSelect(select: Select, nowNs: bigint, isTable = false): CheckedSelect {
  return new SelectCheck(select, { nowNs, isTable }, null, 0).check();
}

interface Surroundings {
  readonly nowNs: bigint;
  readonly isTable: boolean;
}

class SelectCheck {
  private readonly zone: TimeZone | null;
  private readonly condition: Expression | null;
  private readonly dimensions: Dimension[] = [];
  private interval: Interval | null = null;
  private readonly descending: boolean;
  private readonly minNs: bigint;
  private readonly maxNs: bigint;
  private readonly ownMinNs: bigint;
  private readonly ownMaxNs: bigint;
  private readonly fill: Fill;
  private readonly inheritsInterval: boolean;
  private readonly isInner: boolean;

  constructor(
    private readonly select: Select,
    private readonly around: Surroundings,
    parent: SelectCheck | null,
    private readonly depth: number,
  ) {
    if (depth > TSDBQL_LIMITS.subqueriesMax) throw new TsdbError("bad_query", "too many subqueries in each other");
    this.zone = zoneOf(select.timeZone);
    const { nowNs, isTable } = around;
    const { bounds, rest } = splitCondition(select.where, { nowNs, zone: this.zone, isTable });
    checkCondition(rest);
    this.condition = rest;
    this.checkDimensions();
    let minNs = bounds.minNs ?? TIME_MIN_NS;
    let maxNs = bounds.maxNs ?? (this.interval === null ? TIME_MAX_NS : nowNs);
    this.ownMinNs = minNs;
    this.ownMaxNs = maxNs;
    // in v3 a subquery has an order of its own
    this.descending = isTable ? select.descending : (parent?.descending ?? select.descending);
    if (parent !== null) {
      if (!isTable && select.descending && !parent.descending) {
        throw new TsdbError("bad_query", "subqueries must be ordered in the same direction as the query itself");
      }
      const cut = intersect({ minNs, maxNs }, { minNs: parent.minNs, maxNs: parent.maxNs });
      minNs = cut.minNs!;
      maxNs = cut.maxNs!;
    }
    this.minNs = minNs;
    this.maxNs = maxNs;
    const fill: Fill = select.fill ?? { kind: "null" };
    // nulls of a subquery have no effect
    this.fill = (parent !== null || select.into !== null) && fill.kind === "null" && this.hasCalls() ? { kind: "none" } : fill;
    this.isInner = parent !== null;
    // in v3 it has windows of its own alone
    this.inheritsInterval = !isTable && this.interval === null && parent !== null && parent.interval !== null;
    if (this.inheritsInterval) this.interval = parent!.interval;
  }

  check(): CheckedSelect {
    const { select } = this;
    let timeName = "time";
    const fields: SelectField[] = [];
    const checks = new CallChecks({
      hasInterval: this.interval !== null,
      inheritsInterval: this.inheritsInterval,
      limit: select.limit,
      hasTarget: select.into !== null,
      isTable: this.around.isTable,
    });
    for (const field of select.fields) {
      if (field.expression.kind === "ref" && field.expression.name === "time") {
        if (field.alias !== null && field.alias !== "") timeName = field.alias;
        continue;
      }
      const expression = fold(field.expression, NO_CONTEXT);
      const isConstant = this.around.isTable && field.expression.kind === "binary" && isSum(expression);
      if (isConstant) checks.constant();
      else checks.field(expression);
      const called = withoutDistinct(expression);
      fields.push({ expression: this.around.isTable ? withoutKinds(called) : called, alias: field.alias === "" ? null : field.alias });
    }
    const hasOwnInterval = this.interval !== null && !this.inheritsInterval;
    const fill = select.fill?.kind ?? "null";
    checks.finish(hasOwnInterval, fill === "null" && this.isInner && hasOwnInterval ? "none" : fill);
    return {
      fields,
      timeName,
      sources: select.sources.map((source) =>
        source.kind === "measurement"
          ? source
          : { kind: "subquery", select: new SelectCheck(source.select, this.around, this, this.depth + 1).check() },
      ),
      condition: this.condition,
      minNs: this.minNs,
      maxNs: this.maxNs,
      ownMinNs: this.ownMinNs,
      ownMaxNs: this.ownMaxNs,
      dimensions: this.dimensions,
      interval: this.interval,
      fill: this.fill,
      descending: this.descending,
      limit: select.limit,
      offset: select.offset,
      slimit: select.slimit,
      soffset: select.soffset,
      timeZone: this.zone,
      hasTarget: select.into !== null,
      isTable: this.around.isTable,
      isNothing: this.around.isTable && select.hasLimitZero,
    };
  }

  private hasCalls(): boolean {
    return this.select.fields.some(({ expression }) => containsCall(expression));
  }

  private checkDimensions(): void {
    for (const written of this.select.dimensions) {
      const dimension = fold(written, NO_CONTEXT);
      if (dimension.kind === "ref" && dimension.name.toLowerCase() === "time") {
        throw new TsdbError("bad_query", "time() is a function and expects at least one argument");
      }
      if (dimension.kind === "call") this.checkTime(dimension);
      else if (dimension.kind === "ref" || dimension.kind === "wildcard" || dimension.kind === "regex") this.dimensions.push(dimension);
      else throw new TsdbError("bad_query", "only time and tag dimensions allowed");
    }
  }

  private checkTime({ name, args }: Call): void {
    if (name !== "time") throw new TsdbError("bad_query", "only time() calls allowed in dimensions");
    if (args.length < 1 || args.length > 2) throw new TsdbError("bad_query", "time dimension expected 1 or 2 arguments");
    const duration = fold(args[0]!, NO_CONTEXT);
    if (duration.kind !== "duration") throw new TsdbError("bad_query", "time dimension must have duration argument");
    if (this.interval !== null) throw new TsdbError("bad_query", "multiple time dimensions not allowed");
    const durationNs = duration.ns;
    // an interval of 0 or less means none
    if (durationNs <= 0n) return;
    const offsetNs = args[1] === undefined ? 0n : this.offset(fold(args[1], NO_CONTEXT), durationNs);
    this.interval = { durationNs, offsetNs };
  }

  private offset(argument: Expression, durationNs: bigint): bigint {
    switch (argument.kind) {
      case "duration":
        return argument.ns % durationNs;
      case "time":
        return sinceTruncated(argument.ns, durationNs);
      case "call":
        if (argument.name !== "now") throw new TsdbError("bad_query", "time dimension offset function must be now()");
        if (argument.args.length > 0) throw new TsdbError("bad_query", "time dimension offset now() function requires no arguments");
        return sinceTruncated(this.around.nowNs, durationNs);
      case "string": {
        const ns = expectTime(argument.value, this.zone);
        if (ns !== null && this.around.isTable) return sinceTruncated(ns, durationNs);
        if (ns !== null) throw new TsdbError("bad_query", `invalid time dimension offset: ${printExpression(argument)}`);
        break;
      }
    }
    throw new TsdbError("bad_query", "time dimension offset must be duration or now()");
  }
}

/** From the year 1 to 1970: the origin for truncating times to durations. */
const YEAR_1_NS = 62_135_596_800n * 1_000_000_000n;

function sinceTruncated(ns: bigint, durationNs: bigint): bigint {
  const since = (ns + YEAR_1_NS) % durationNs;
  return since < 0n ? since + durationNs : since;
}

function zoneOf(name: string | null): TimeZone | null {
  if (name === null) return null;
  const zone = TimeZone.of(name);
  if (zone === null) throw new TsdbError("bad_query", `unable to find time zone ${name}`);
  return zone;
}

function isSum({ kind }: Expression): boolean {
  return kind === "number" || kind === "integer" || kind === "boolean";
}

/** Replaces `DISTINCT x` by the equivalent call. */
function withoutDistinct(expression: Expression): Expression {
  return mapLeaves(expression, (leaf) => {
    return leaf.kind === "distinct" ? { kind: "call", name: "distinct", args: [{ kind: "ref", name: leaf.name, cast: null }] } : leaf;
  });
}

/** In v3 `::tag` and `::field` say nothing: a name is one column. */
function withoutKinds(expression: Expression): Expression {
  return mapLeaves(expression, (leaf) => {
    return leaf.kind === "ref" && (leaf.cast === "tag" || leaf.cast === "field") ? { ...leaf, cast: null } : leaf;
  });
}

/** True if it contains aggregates or transforms, other than row functions. */
function containsCall(expression: Expression): boolean {
  switch (expression.kind) {
    case "call":
      return !MATH_FUNCTIONS.has(expression.name) || expression.args.some(containsCall);
    case "binary":
      return containsCall(expression.left) || containsCall(expression.right);
    case "paren":
      return containsCall(expression.inner);
    case "distinct":
      return true;
    default:
      return false;
  }
}

function checkCondition(condition: Expression | null): void {
  if (condition === null) return;
  if (condition.kind === "binary") {
    checkCondition(condition.left);
    checkCondition(condition.right);
  } else if (condition.kind === "call") {
    const { name, args } = condition;
    if (!MATH_FUNCTIONS.has(name)) throw new TsdbError("bad_query", `invalid function call in condition: ${printExpression(condition)}`);
    const wanted = mathArity(name);
    if (args.length !== wanted) {
      throw new TsdbError("bad_query", `invalid number of arguments for ${name}, expected ${wanted}, got ${args.length}`);
    }
    for (const arg of args) checkCondition(arg);
  }
}
