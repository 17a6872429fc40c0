// Converts the WHERE clause of DELETE and DROP SERIES to tag conditions that a deletion supports.

import { TsdbError } from "../../model/errors.ts";
import type { TagCondition } from "../../model/rows/deletion.ts";
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
export function matchingConditions(condition: Expression, names: readonly string[], all: readonly TagValues[]): TagCondition[][] {
  const last = names.at(-1);
  if (last === undefined) return holds(condition, {}) ? [[]] : [];
  const byOthers = new Map<string, { readonly others: TagCondition[]; readonly values: (string | null)[] }>();
  for (const tags of all) {
    if (!holds(condition, tags)) continue;
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

function holds(condition: Expression, tags: TagValues): boolean {
  if (condition.kind === "paren") return holds(condition.inner, tags);
  if (condition.kind === "boolean") return condition.value;
  if (condition.kind !== "binary") return refuse();
  const { operator } = condition;
  if (operator === "AND") return holds(condition.left, tags) && holds(condition.right, tags);
  if (operator === "OR") return holds(condition.left, tags) || holds(condition.right, tags);
  const { tag, matches } = comparisonOf(condition);
  return matches(valueIn(tags, tag));
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
