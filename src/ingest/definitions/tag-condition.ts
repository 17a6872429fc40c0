// Converts the WHERE clause of DELETE and DROP SERIES to tag conditions that a deletion supports.

import { TsdbError } from "../../model/errors.ts";
import type { TagCondition } from "../../model/rows/deletion.ts";
import { StepCounter, type Steps } from "../../model/steps.ts";
import type { Binary, Expression } from "../../tsdbql/parse/ast.ts";
import { compileRegex } from "../../tsdbql/regex/matcher.ts";

/** Values of tags by name; an absent tag is "". */
export type TagValues = Readonly<Record<string, string>>;

const FIELDS_REFUSED = "fields not supported in WHERE clause during deletion";

function refuse(): never {
  throw new TsdbError("bad_query", FIELDS_REFUSED);
}

/** The tags used in the condition. @throws TsdbError bad_query unless it only compares tags with texts */
export function tagNamesOf(condition: Expression): readonly string[] {
  const names = new Set<string>();
  const visit = (expression: Expression): void => {
    if (expression.kind === "boolean") return;
    if (expression.kind === "paren") visit(expression.inner);
    else if (expression.kind !== "binary") refuse();
    else if (expression.operator === "AND" || expression.operator === "OR") {
      visit(expression.left);
      visit(expression.right);
    } else names.add(comparisonOf(expression).tag);
  };
  visit(condition);
  return [...names];
}

/** The condition as one list of required tag values; null if it is more complex. */
export function plainConditions(condition: Expression): readonly TagCondition[] | null {
  const values = new Map<string, string>();
  const visit = (expression: Expression): boolean => {
    if (expression.kind === "paren") return visit(expression.inner);
    if (expression.kind !== "binary") return false;
    if (expression.operator === "AND") return visit(expression.left) && visit(expression.right);
    if (expression.operator !== "=") return false;
    const { tag, text } = comparisonOf(expression);
    if (text === null || (values.has(tag) && values.get(tag) !== text)) return false;
    values.set(tag, text);
    return true;
  };
  return visit(condition) ? [...values].map(([tag, value]) => ({ tag, values: [tagValue(value)] })) : null;
}

/** Conditions that together select the series of `all` that satisfy `condition`, merged over the values of the last tag. */
export function* matchingConditions(condition: Expression, names: readonly string[], all: readonly TagValues[]): Steps<TagCondition[][]> {
  const last = names.at(-1);
  const { holds, size } = compiled(condition);
  if (last === undefined) return holds({}) ? [[]] : [];
  const counter = new StepCounter();
  const byOthers = new Map<string, { readonly others: TagCondition[]; readonly values: (string | null)[] }>();
  for (const tags of all) {
    if (counter.isDue(size)) yield;
    if (!holds(tags)) continue;
    const others = names.slice(0, -1).map((tag) => ({ tag, values: [tagValue(valueIn(tags, tag))] }));
    const key = JSON.stringify(others);
    const found = byOthers.get(key) ?? { others, values: [] };
    found.values.push(tagValue(valueIn(tags, last)));
    byOthers.set(key, found);
  }
  return [...byOthers.values()].map(({ others, values }) => [...others, { tag: last, values }]);
}

/** A tag may be called `constructor`. */
function valueIn(tags: TagValues, tag: string): string {
  return Object.hasOwn(tags, tag) ? tags[tag]! : "";
}

function tagValue(text: string): string | null {
  return text === "" ? null : text;
}

interface Compiled {
  readonly holds: (tags: TagValues) => boolean;
  /** Tests that it takes at most. */
  readonly size: number;
}

/** A condition may have thousands of comparisons, and is asked for thousands of rows. */
function compiled(condition: Expression): Compiled {
  if (condition.kind === "paren") return compiled(condition.inner);
  if (condition.kind === "boolean") return { holds: () => condition.value, size: 1 };
  if (condition.kind !== "binary") return refuse();
  if (condition.operator === "AND" || condition.operator === "OR") return compiledChain(condition);
  const { tag, matches } = comparisonOf(condition);
  return { holds: (tags) => matches(valueIn(tags, tag)), size: 1 };
}

/** All that one operator joins. Texts that a tag is compared with are looked up together: `=` of OR, `!=` of AND. */
function compiledChain({ operator, ...chain }: Binary): Compiled {
  const isOr = operator === "OR";
  const texts = new Map<string, Set<string>>();
  const tests: Compiled[] = [];
  for (const part of partsOf(operator, chain)) {
    const found = part.kind === "binary" && part.operator === (isOr ? "=" : "!=") ? comparisonOf(part) : null;
    if (found === null || found.text === null) tests.push(compiled(part));
    else texts.set(found.tag, (texts.get(found.tag) ?? new Set()).add(found.text));
  }
  for (const [tag, values] of texts) tests.push({ holds: (tags) => values.has(valueIn(tags, tag)) === isOr, size: 1 });
  const size = tests.reduce((sum, test) => sum + test.size, 0);
  return { holds: (tags) => (isOr ? tests.some(({ holds }) => holds(tags)) : tests.every(({ holds }) => holds(tags))), size };
}

/** Left to right. A chain is as deep as it is long. */
function partsOf(operator: string, { left, right }: Pick<Binary, "left" | "right">): Expression[] {
  const parts: Expression[] = [];
  const open: Expression[] = [right, left];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (each.kind === "paren") open.push(each.inner);
    else if (each.kind === "binary" && each.operator === operator) open.push(each.right, each.left);
    else parts.push(each);
  }
  return parts;
}

interface Comparison {
  readonly tag: string;
  /** The text to compare with; null for a regular expression. */
  readonly text: string | null;
  readonly matches: (value: string) => boolean;
}

function comparisonOf({ operator, left, right }: Binary): Comparison {
  const [ref, literal] = left.kind === "ref" ? [left, right] : [right, left];
  if (ref.kind !== "ref" || (ref.cast !== null && ref.cast !== "tag")) return refuse();
  const tag = ref.name;
  const isNegated = operator === "!=" || operator === "!~";
  if (literal.kind === "string" && (operator === "=" || operator === "!=")) {
    return { tag, text: literal.value, matches: (value) => (value === literal.value) !== isNegated };
  }
  if (literal.kind === "regex" && (operator === "=~" || operator === "!~")) {
    const regex = compileRegex(literal.source);
    return { tag, text: null, matches: (value) => regex.test(value) !== isNegated };
  }
  return refuse();
}
