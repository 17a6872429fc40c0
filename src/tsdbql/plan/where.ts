// Splits a condition on one measurement's rows into tests of single tags, tests of fields, and the rest, which needs whole rows.

import { I64_MAX, I64_MIN, U64_MAX } from "../../model/rows/int64.ts";
import type { BinaryOperator, Expression, Literal } from "../parse/ast.ts";
import { compileRegex } from "../regex/matcher.ts";
import type { CheckedSelect } from "./check-select.ts";
import { type FieldCondition, fieldCondition } from "./field-condition.ts";
import { settledCondition } from "./settled.ts";
import { type ColumnKind, kindOf, type Schema } from "./types.ts";

export interface TagTest {
  readonly tag: string;
  /** The only values that pass; null: not known by value. */
  readonly values: readonly string[] | null;
  /** Number of texts and patterns that a value is compared with. */
  readonly size: number;
  /** "" stands for an absent tag. */
  accepts(value: string): boolean;
}

export interface FieldComparison {
  readonly field: string;
  readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">=";
  /** Of the field's own type. */
  readonly value: number | bigint | boolean;
}

/** A string field that is one of several texts. */
export interface FieldTexts {
  readonly field: string;
  readonly operator: "in";
  readonly values: readonly string[];
}

export type FieldTest = FieldComparison | FieldTexts | FieldCondition;

export interface Where {
  /** True if no row satisfies it. */
  readonly isNever: boolean;
  readonly tags: readonly TagTest[];
  readonly fields: readonly FieldTest[];
  /** Conditions that a row must satisfy in addition; may use any column. */
  readonly rows: readonly Expression[];
}

/** Splits the condition of a statement. @throws TsdbError bad_query as `settledCondition` */
export function planWhere({ condition: written, isTable }: Pick<CheckedSelect, "condition" | "isTable">, schema: Schema): Where {
  const condition = written !== null && isTable ? settledCondition(written, schema) : written;
  const tags: TagTest[] = [];
  const fields: FieldTest[] = [];
  const rows: Expression[] = [];
  let isNever = false;
  for (const part of condition === null ? [] : conjuncts(condition)) {
    const simple = simpleTest(part, schema);
    if (simple === false) isNever = true;
    else if (simple === null) {
      const computed = fieldCondition(part, schema);
      if (computed === null) rows.push(part);
      else fields.push(computed);
    } else if (simple !== true) {
      if ("tag" in simple) tags.push(simple);
      else fields.push(simple);
    }
  }
  return { isNever, tags, fields, rows };
}

function conjuncts(condition: Expression): Expression[] {
  const parts: Expression[] = [];
  const left: Expression[] = [condition];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.kind === "paren") left.push(next.inner);
    else if (next.kind === "binary" && next.operator === "AND") left.push(next.right, next.left);
    else parts.push(next);
  }
  return parts;
}

/** True or false: for all rows. Null: not a simple test. */
function simpleTest(part: Expression, schema: Schema): TagTest | FieldComparison | FieldTexts | boolean | null {
  if (part.kind === "boolean") return part.value;
  if (part.kind !== "binary") return null;
  const { operator, left, right } = part;
  if (operator === "OR") return anyOf(part, schema);
  if (left.kind === "ref" && isLiteral(right)) return refTest(left, operator, right, schema);
  if (right.kind === "ref" && isLiteral(left)) return refTest(right, MIRRORED[operator] ?? operator, left, schema);
  return null;
}

/** Alternatives that all test one tag, or compare one field with texts, or are constant. */
function anyOf(part: Expression, schema: Schema): TagTest | FieldTexts | boolean | null {
  const tests: (TagTest | FieldTexts)[] = [];
  const left: Expression[] = [part];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.kind === "paren") left.push(next.inner);
    else if (next.kind === "binary" && next.operator === "OR") left.push(next.right, next.left);
    else {
      const test = simpleTest(next, schema);
      if (test === true) return true;
      if (test === null || (test !== false && "field" in test && test.operator !== "in")) return null;
      if (test !== false) tests.push(test);
    }
  }
  const [first] = tests;
  if (first === undefined) return false;
  if ("field" in first) {
    const isOfField = (test: TagTest | FieldTexts): test is FieldTexts => "field" in test && test.field === first.field;
    return tests.every(isOfField) ? { ...first, values: [...new Set(tests.flatMap(({ values }) => values))] } : null;
  }
  const isOfTag = (test: TagTest | FieldTexts): test is TagTest => "tag" in test && test.tag === first.tag;
  if (!tests.every(isOfTag)) return null;
  return anyTag(first.tag, tests);
}

/** Passes if one of the tests passes. */
export function anyTag(tag: string, tests: readonly TagTest[]): TagTest {
  const values = new Set(tests.flatMap((test) => test.values ?? []));
  const others = tests.filter((test) => test.values === null);
  return {
    tag,
    values: others.length === 0 ? [...values] : null,
    size: 1 + others.length,
    accepts: (value) => values.has(value) || others.some((test) => test.accepts(value)),
  };
}

const MIRRORED: Partial<Record<BinaryOperator, BinaryOperator>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** True for a constant. */
export function isLiteral(expression: Expression): expression is Literal {
  return !["ref", "call", "binary", "paren", "wildcard", "distinct"].includes(expression.kind);
}

function refTest(
  ref: Expression & { readonly kind: "ref" },
  operator: BinaryOperator,
  value: Literal,
  schema: Schema,
): TagTest | FieldComparison | FieldTexts | boolean | null {
  const kind = kindOf(ref, [schema]);
  if (isTagLike(kind)) {
    const test = tagTest(ref.name, operator, value);
    if (test === false || (kind === "tag" && schema.tags.has(ref.name))) return test;
    // a tag that no row has
    return test.accepts("");
  }
  if (ref.cast !== null && schema.fields.get(ref.name) !== ref.cast && ref.cast !== "field") return null;
  return fieldTest(ref.name, kind, operator, value);
}

/** Anything but a field counts as a tag, possibly absent everywhere. */
export function isTagLike(kind: ColumnKind): kind is "tag" | null {
  return kind === "tag" || kind === null;
}

/** False: nothing passes. */
export function tagTest(tag: string, operator: BinaryOperator, value: Literal): TagTest | false {
  if (value.kind === "string") {
    const wanted = value.value;
    if (operator === "=") return { tag, values: [wanted], size: 1, accepts: (text) => text === wanted };
    return operator === "!=" ? { tag, values: null, size: 1, accepts: (text) => text !== wanted } : false;
  }
  if (value.kind !== "regex" || (operator !== "=~" && operator !== "!~")) return false;
  const regex = compileRegex(value.source);
  return { tag, values: null, size: 1, accepts: (text) => regex.test(text) === (operator === "=~") };
}

const COMPARISONS: ReadonlySet<string> = new Set(["=", "!=", "<", "<=", ">", ">="]);

function fieldTest(
  field: string,
  kind: ColumnKind,
  operator: BinaryOperator,
  literal: Literal,
): FieldComparison | FieldTexts | boolean | null {
  if (!COMPARISONS.has(operator)) return null;
  const comparison = operator as FieldComparison["operator"];
  if (kind === "boolean" && literal.kind === "boolean" && (operator === "=" || operator === "!=")) {
    return { field, operator: comparison, value: literal.value };
  }
  if (kind === "string" && literal.kind === "string" && operator === "=") return { field, operator: "in", values: [literal.value] };
  if (literal.kind !== "number" && literal.kind !== "integer") return null;
  if (kind === "float") return { field, operator: comparison, value: Number(literal.value) };
  if (kind !== "integer" && kind !== "unsigned") return null;
  if (literal.kind === "number") {
    // beyond 2^53 comparing as floats differs from comparing as integers
    if (!Number.isSafeInteger(literal.value)) return null;
    return wholeTest(field, kind, comparison, BigInt(literal.value), null);
  }
  return wholeTest(field, kind, comparison, literal.value, null);
}

function wholeTest(
  field: string,
  kind: "integer" | "unsigned",
  operator: FieldComparison["operator"],
  value: bigint,
  beyond: null,
): FieldComparison | null {
  const [least, greatest] = kind === "integer" ? [I64_MIN, I64_MAX] : [0n, U64_MAX];
  return value < least || value > greatest ? beyond : { field, operator, value };
}
