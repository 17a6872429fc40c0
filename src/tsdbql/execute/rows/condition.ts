// Evaluates conditions on whole rows with the semantics of version 1.x: comparisons of incomparable values are false, a missing column
// equals nothing, and a column that is no field is a tag. Rows are selected part by part: each operand of an AND examines the rows left by
// the previous ones, each operand of an OR those not yet selected; OR operands that compare one column with values become a single set
// lookup.
import { I64_MAX } from "../../../model/rows/int64.ts";
import { finish, inSteps, STEP_ROWS, StepCounter, type Steps } from "../../../model/steps.ts";
import { toCells } from "../../functions/arithmetic.ts";
import { ROW_FUNCTIONS } from "../../functions/functions.ts";
import { isValid } from "../../functions/validity.ts";
import type { BinaryOperator, Expression, Literal } from "../../parse/ast.ts";
import type { Ref } from "../../parse/refs.ts";
import type { ColumnKind } from "../../plan/types.ts";
import { anyTag, isLiteral, isTagLike, type TagTest, tagTest } from "../../plan/where.ts";
import { compileRegex, type TextTest } from "../../regex/matcher.ts";
import type { AnyCells, TagCells } from "./columns.ts";
import { isOneOf } from "./equalities.ts";

/** A column used in a condition; null: no row has a value. */
export interface ConditionColumn {
  readonly kind: ColumnKind;
  readonly cells: AnyCells | null;
}

/** References with equal keys denote the same column read as the same type. */
export function refKey({ name, cast }: Ref): string {
  return `${cast} ${name}`;
}

export type FindColumn = (ref: Ref) => ConditionColumn;

type Value = number | bigint | boolean | string | TextTest | null;
type Evaluate = (row: number) => Value;

/** Those of the rows that satisfy a condition, in order. */
export function* rowsWhere(condition: Expression, find: FindColumn, rows: Uint32Array): Steps<Uint32Array> {
  if (condition.kind === "paren") return yield* rowsWhere(condition.inner, find, rows);
  if (condition.kind !== "binary") return yield* filterRows(condition, find, rows);
  const { operator, left, right } = condition;
  if (operator === "AND") {
    let kept = rows;
    for (const part of partsOf(condition, "AND")) {
      kept = yield* rowsWhere(part, find, kept);
      if (kept.length === 0) break;
    }
    return kept;
  }
  if (operator === "OR") return yield* rowsOfAny(partsOf(condition, "OR"), find, rows);
  const tag = tagTestOf(condition, find);
  if (tag !== null) return yield* rowsOfTested(tag.column, tag.test, rows);
  if ((operator === "=~" || operator === "!~") && left.kind === "ref" && right.kind === "regex") {
    const { cells } = find(left);
    if (cells?.type === "string") return yield* rowsMatching(cells, compileRegex(right.source), operator === "=~", rows);
  }
  return yield* filterRows(condition, find, rows);
}

/** The operands of a chain of one operator, from left to right. */
function partsOf(condition: Expression, operator: "AND" | "OR"): Expression[] {
  const parts: Expression[] = [];
  const left: Expression[] = [condition];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.kind === "paren") left.push(next.inner);
    else if (next.kind === "binary" && next.operator === operator) left.push(next.right, next.left);
    else parts.push(next);
  }
  return parts;
}

function* rowsOfAny(parts: readonly Expression[], find: FindColumn, rows: Uint32Array): Steps<Uint32Array> {
  const { equalities, tags, others } = yield* sortParts(parts, find);
  const taken = new Uint8Array(rows.length === 0 ? 0 : rows[rows.length - 1]! + 1);
  let left = rows;
  const take = function* (found: Uint32Array): Steps<void> {
    if (found.length === 0) return;
    yield* inSteps(found.length, (from, to) => {
      for (let i = from; i < to; i++) taken[found[i]!] = 1;
    });
    left = yield* keep(left, (row) => taken[row] === 0);
  };
  for (const { column, literals } of equalities) yield* take(yield* keep(left, isOneOf(column.cells!, literals)));
  for (const { column, tests } of tags) {
    if (tests.length > 0) yield* take(yield* rowsOfTested(column, anyTag("", tests), left));
  }
  for (const other of others) {
    if (left.length === 0) break;
    yield* take(yield* rowsWhere(other, find, left));
  }
  return left.length === rows.length ? NO_ROWS : yield* keep(rows, (row) => taken[row] === 1);
}

interface SortedParts {
  /** Fields with the values that they are compared with. */
  readonly equalities: readonly { readonly column: ConditionColumn; readonly literals: Literal[] }[];
  readonly tags: readonly { readonly column: ConditionColumn; readonly tests: readonly TagTest[] }[];
  readonly others: readonly Expression[];
}

function* sortParts(parts: readonly Expression[], find: FindColumn): Steps<SortedParts> {
  const equalities = new Map<string, { column: ConditionColumn; literals: Literal[] }>();
  const tags = new Map<string, { column: ConditionColumn; tests: TagTest[] }>();
  const others: Expression[] = [];
  yield* inSteps(parts.length, (from, to) => {
    for (const part of parts.slice(from, to)) {
      const equality = equalityOf(part);
      const key = equality === null ? "" : refKey(equality.ref);
      const tag = part.kind === "binary" ? tagTestOf(part, find) : null;
      if (tag !== null) {
        const same = tags.get(tag.key) ?? { column: tag.column, tests: [] };
        tags.set(tag.key, same);
        if (tag.test !== false) same.tests.push(tag.test);
      } else if (equality !== null && isField(find(equality.ref))) {
        const same = equalities.get(key) ?? { column: find(equality.ref), literals: [] };
        equalities.set(key, same);
        same.literals.push(equality.literal);
      } else others.push(part);
    }
  });
  return { equalities: [...equalities.values()], tags: [...tags.values()], others };
}

function isField({ kind, cells }: ConditionColumn): boolean {
  return !isTagLike(kind) && cells !== null && cells.type !== "tag";
}

/** A comparison of a column with a constant for equality, in either order. */
function equalityOf(part: Expression): { readonly ref: Ref; readonly literal: Literal } | null {
  if (part.kind !== "binary" || part.operator !== "=") return null;
  const { left, right } = part;
  if (left.kind === "ref" && isLiteral(right)) return { ref: left, literal: right };
  return right.kind === "ref" && isLiteral(left) ? { ref: right, literal: left } : null;
}

interface TestedTag {
  readonly key: string;
  readonly column: ConditionColumn;
  /** False: no value passes. */
  readonly test: TagTest | false;
}

/** A tag compared with a constant, which version 1.x answers from its index. */
function tagTestOf({ operator, left, right }: Expression & { readonly kind: "binary" }, find: FindColumn): TestedTag | null {
  const [ref, literal] = left.kind === "ref" ? [left, right] : [right, left];
  if (ref.kind !== "ref" || !isLiteral(literal)) return null;
  const column = find(ref);
  if (!isTagLike(column.kind)) return null;
  return { key: refKey(ref), column, test: tagTest(ref.name, operator, literal) };
}

/** Rows whose tag passes the test; each distinct value is tested once. */
export function* rowsOfTag({ codes, dictionary }: TagCells, test: TagTest, rows: Uint32Array): Steps<Uint32Array> {
  const accepted = new Uint8Array(dictionary.length);
  const counter = new StepCounter();
  for (let code = 0; code < dictionary.length; code++) {
    if (test.accepts(dictionary[code]!)) accepted[code] = 1;
    if (counter.isDue(test.size * REGEX_ROWS)) yield;
  }
  return yield* keep(rows, (row) => accepted[codes[row]!] === 1);
}

function rowsOfTested({ cells }: ConditionColumn, test: TagTest | false, rows: Uint32Array): Steps<Uint32Array> {
  if (test !== false && cells?.type === "tag") return rowsOfTag(cells, test, rows);
  return all(test !== false && test.accepts("") ? rows : NO_ROWS);
}

const NO_ROWS = new Uint32Array(0);

// biome-ignore lint/correctness/useYield: it is as steps of the others are
function* all(rows: Uint32Array): Steps<Uint32Array> {
  return rows;
}

/** Matching a long text takes long, so this pauses within a match. */
function* rowsMatching(
  { values, validity }: AnyCells & { readonly type: "string" },
  regex: TextTest,
  isWanted: boolean,
  rows: Uint32Array,
): Steps<Uint32Array> {
  const found = new Uint32Array(rows.length);
  const counter = new StepCounter();
  let count = 0;
  for (const row of rows) {
    if (isValid(validity, row) && (yield* regex.steps(values.at(row))) === isWanted) found[count++] = row;
    if (counter.isDue(REGEX_ROWS)) yield;
  }
  return found.slice(0, count);
}

/** Cost of matching a short text, in units of rows. */
const REGEX_ROWS = 8;

/** Row by row, for conditions without a faster way. */
function* filterRows(condition: Expression, find: FindColumn, rows: Uint32Array): Steps<Uint32Array> {
  const evaluate = compile(condition, find);
  return yield* keep(rows, (row) => evaluate(row) === true, sizeOf(condition));
}

/** @param cost per row, in units of cheap rows */
function* keep(rows: Uint32Array, test: (row: number) => boolean, cost = 1): Steps<Uint32Array> {
  const found = new Uint32Array(rows.length);
  const stepRows = Math.max(1, Math.ceil(STEP_ROWS / cost));
  let count = 0;
  for (let from = 0; from < rows.length; from += stepRows) {
    if (from > 0) yield;
    const to = Math.min(rows.length, from + stepRows);
    for (let i = from; i < to; i++) if (test(rows[i]!)) found[count++] = rows[i]!;
  }
  return found.slice(0, count);
}

/** Number of nodes of an expression; functions count more, because they work on columns, here of one row. */
function sizeOf(expression: Expression): number {
  switch (expression.kind) {
    case "paren":
      return sizeOf(expression.inner);
    case "binary":
      return 1 + sizeOf(expression.left) + sizeOf(expression.right);
    case "call":
      return expression.args.reduce((sum, arg) => sum + sizeOf(arg), 50);
    case "regex":
      return 50;
    default:
      return 1;
  }
}

function compile(expression: Expression, find: FindColumn): Evaluate {
  switch (expression.kind) {
    case "paren":
      return compile(expression.inner, find);
    case "ref":
      return compileRef(find(expression));
    case "regex": {
      const regex = compileRegex(expression.source);
      return () => regex;
    }
    case "number":
    case "integer":
    case "boolean":
    case "string": {
      const { value } = expression;
      return () => value;
    }
    // durations and times are not comparable with anything
    case "duration":
    case "time":
      return () => null;
    case "call":
      return compileCall(expression, find);
    case "binary":
      return compileBinary(expression, find);
    default:
      return () => null;
  }
}

function compileRef({ kind, cells }: ConditionColumn): Evaluate {
  if (cells === null) return isTagLike(kind) ? () => "" : () => null;
  if (cells.type === "tag") return (row) => cells.dictionary[cells.codes[row]!]!;
  if (cells.type === "string") return (row) => (isValid(cells.validity, row) ? cells.values.at(row) : null);
  const { values, validity, type } = cells;
  if (type === "boolean") return (row) => (isValid(validity, row) ? values[row] === 1 : null);
  return (row) => (isValid(validity, row) ? values[row]! : null);
}

function compileCall({ name, args }: Expression & { readonly kind: "call" }, find: FindColumn): Evaluate {
  const rowFunction = ROW_FUNCTIONS.get(name);
  if (rowFunction === undefined) return () => null;
  const evaluated = args.map((arg) => compile(arg, find));
  return (row) => {
    const values = evaluated.map((evaluate) => evaluate(row));
    if (values.some((value) => typeof value !== "number" && typeof value !== "bigint")) return null;
    const cells = values.map((value) =>
      toCells(
        typeof value === "bigint" ? { kind: "integer", value, unsigned: value > I64_MAX } : { kind: "number", value: value as number },
        1,
      ),
    );
    const result = finish(rowFunction.apply(cells, 1));
    return isValid(result.validity, 0) ? ((result.values as Float64Array)[0] as Value) : null;
  };
}

function compileBinary(expression: Expression & { readonly kind: "binary" }, find: FindColumn): Evaluate {
  const { operator, left, right } = expression;
  if (operator === "AND" || operator === "OR") {
    const [a, b] = [compile(left, find), compile(right, find)];
    if (operator === "AND") return (row) => a(row) === true && b(row) === true;
    return (row) => a(row) === true || b(row) === true;
  }
  const pair = compileTags(operator, left, right, find);
  if (pair !== null) return pair;
  const tag = tagTestOf(expression, find);
  if (tag !== null) return compileTag(tag);
  const [a, b] = [compile(left, find), compile(right, find)];
  return (row) => compute(operator, a(row), b(row));
}

/** Two tags are equal only if both are present. */
function compileTags(operator: BinaryOperator, left: Expression, right: Expression, find: FindColumn): Evaluate | null {
  if (left.kind !== "ref" || right.kind !== "ref" || (operator !== "=" && operator !== "!=")) return null;
  const [a, b] = [find(left), find(right)];
  if (!isTagLike(a.kind) || !isTagLike(b.kind)) return null;
  const [one, other] = [compileRef(a), compileRef(b)];
  return (row) => (one(row) !== "" && one(row) === other(row)) === (operator === "=");
}

function compileTag({ column: { cells }, test }: TestedTag): Evaluate {
  if (test === false) return () => false;
  if (cells?.type !== "tag") return () => test.accepts("");
  const known = new Map<number, boolean>();
  return (row) => {
    const code = cells.codes[row]!;
    const accepted = known.get(code) ?? test.accepts(cells.dictionary[code]!);
    known.set(code, accepted);
    return accepted;
  };
}

const COMPARISONS: ReadonlySet<BinaryOperator> = new Set(["=", "!=", "<", "<=", ">", ">="]);

function compute(operator: BinaryOperator, a: Value, b: Value): Value {
  if (a === null || b === null) return COMPARISONS.has(operator) ? false : null;
  if (typeof a === "string") return computeText(operator, a, b);
  if (typeof a === "boolean") return typeof b === "boolean" ? computeBoolean(operator, a, b) : COMPARISONS.has(operator) ? false : null;
  if ((typeof a !== "number" && typeof a !== "bigint") || (typeof b !== "number" && typeof b !== "bigint")) {
    return COMPARISONS.has(operator) ? false : null;
  }
  if (typeof a === "bigint" && typeof b === "bigint") return computeIntegers(operator, a, b);
  return computeNumbers(operator, Number(a), Number(b));
}

function computeText(operator: BinaryOperator, a: string, b: Value): Value {
  if (operator === "=~" || operator === "!~") {
    return typeof b === "object" && b !== null ? b.test(a) === (operator === "=~") : false;
  }
  if (typeof b !== "string") return false;
  return operator === "=" ? a === b : operator === "!=" ? a !== b : false;
}

function computeBoolean(operator: BinaryOperator, a: boolean, b: boolean): Value {
  switch (operator) {
    case "=":
      return a === b;
    case "!=":
    case "^":
      return a !== b;
    case "&":
      return a && b;
    case "|":
      return a || b;
    default:
      return COMPARISONS.has(operator) ? false : null;
  }
}

function computeIntegers(operator: BinaryOperator, a: bigint, b: bigint): Value {
  switch (operator) {
    case "+":
      return BigInt.asIntN(64, a + b);
    case "-":
      return BigInt.asIntN(64, a - b);
    case "*":
      return BigInt.asIntN(64, a * b);
    case "/":
      return b === 0n ? 0n : a / b;
    case "%":
      return b === 0n ? 0n : a % b;
    case "&":
      return a & b;
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    default:
      return compare(operator, a, b);
  }
}

function computeNumbers(operator: BinaryOperator, a: number, b: number): Value {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return b === 0 ? 0 : a / b;
    case "%":
      return a % b;
    default:
      return compare(operator, a, b);
  }
}

/** NaN, such as the root of a negative number, is neither less nor greater nor equal. */
function compare<T extends number | bigint>(operator: BinaryOperator, a: T, b: T): Value {
  switch (operator) {
    case "=":
      return a === b;
    case "!=":
      return a !== b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    default:
      return null;
  }
}
