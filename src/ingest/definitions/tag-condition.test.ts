// Conditions on tags whose names are those of members that every object has.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish } from "../../model/steps.ts";
import type { Expression } from "../../tsdbql/parse/ast.ts";
import { parseExpression } from "../../tsdbql/parse/expression.ts";
import { NO_PARAMS } from "../../tsdbql/parse/params.ts";
import { TokenStream } from "../../tsdbql/parse/token-stream.ts";
import { matchingConditions, type TagValues, tagNamesOf } from "./tag-condition.ts";

test.each(["constructor", "toString", "valueOf", "__proto__"])("a row without the tag %s has no value of it", (tag) => {
  const all = [JSON.parse(`{"h": "x", "${tag}": "native"}`), { h: "y" }];
  const matching = (comparison: string) => {
    const condition = parseExpression(new TokenStream(`h =~ /./ AND "${tag}" ${comparison}`, NO_PARAMS));
    return finish(matchingConditions(condition, tagNamesOf(condition), all));
  };
  const row = (h: string, value: string | null) => [
    { tag: "h", values: [h] },
    { tag, values: [value] },
  ];
  expect(matching("!= 'native'")).toEqual([row("y", null)]);
  expect(matching("=~ /native/")).toEqual([row("x", "native")]);
  expect(matching("!~ /native/")).toEqual([row("y", null)]);
  expect(matching("!= 'other'")).toEqual([row("x", "native"), row("y", null)]);
  // the last tag's values are one list
  const condition = parseExpression(new TokenStream(`"${tag}" != 'other'`, NO_PARAMS));
  expect(finish(matchingConditions(condition, tagNamesOf(condition), all))).toEqual([[{ tag, values: ["native", null] }]]);
});

describe("conditions of many comparisons", () => {
  const parsed = (text: string) => parseExpression(new TokenStream(text, NO_PARAMS));

  /** As it is written. */
  function holds(condition: Expression, tags: TagValues): boolean {
    if (condition.kind === "paren") return holds(condition.inner, tags);
    if (condition.kind !== "binary") throw new Error(condition.kind);
    const { operator, left, right } = condition;
    if (operator === "AND") return holds(left, tags) && holds(right, tags);
    if (operator === "OR") return holds(left, tags) || holds(right, tags);
    const [ref, text] = (left.kind === "ref" ? [left, right] : [right, left]) as unknown as [
      { name: string },
      { value: string; source: string },
    ];
    const value = tags[ref.name] ?? "";
    if (operator === "=" || operator === "!=") return (value === text.value) === (operator === "=");
    return new RegExp(text.source).test(value) === (operator === "=~");
  }

  test.each([1, 2, 3])("mean what they say, seed %d", (seed) => {
    const below = prng(seed);
    const comparison = () => {
      const tag = "abc"[below(3)]!;
      const text = below(6) === 0 ? "" : `v${below(4)}`;
      return [`${tag} = '${text}'`, `${tag} != '${text}'`, `'${text}' = ${tag}`, `${tag} =~ /${below(4)}/`, `${tag} !~ /v[12]/`][below(5)]!;
    };
    const condition = (depth: number): string => {
      if (depth === 0 || below(4) === 0) return comparison();
      const parts = Array.from({ length: 2 + below(3) }, () => condition(depth - 1));
      return `(${parts.join([" AND ", " OR "][below(2)])})`;
    };
    const all: TagValues[] = [{}];
    for (let i = 0; i < 40; i++) all.push(Object.fromEntries([..."abc"].flatMap((tag) => (below(3) === 0 ? [] : [[tag, `v${below(4)}`]]))));
    for (let round = 0; round < 200; round++) {
      const expression = parsed(condition(3));
      const names = tagNamesOf(expression);
      const lists = finish(matchingConditions(expression, names, all));
      for (const tags of all) {
        const isListed = lists.some((list) => list.every(({ tag, values }) => values.includes(tags[tag] || null)));
        expect(isListed).toBe(holds(expression, tags));
      }
    }
  });

  const stepsOf = (condition: Expression, all: readonly TagValues[]) => {
    const steps = matchingConditions(condition, tagNamesOf(condition), all);
    for (let count = 0; ; count++) if (steps.next().done) return count;
  };
  const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ t: `x${i}` }));

  test("texts are looked up together, and long work pauses", () => {
    const many = (comparison: (i: number) => string, operator: string, count = 10_000) =>
      parsed(Array.from({ length: count }, (_, i) => comparison(i)).join(operator));
    expect(
      stepsOf(
        many((i) => `t = '${i}'`, " OR "),
        rows(5000),
      ),
    ).toBe(0);
    expect(
      stepsOf(
        many((i) => `t != '${i}'`, " AND "),
        rows(5000),
      ),
    ).toBe(0);
    // 5 million comparisons
    expect(
      stepsOf(
        many((i) => `(t = '${i}' AND u = '1')`, " OR ", 1000),
        rows(5000),
      ),
    ).toBeGreaterThan(500);
  });
});
