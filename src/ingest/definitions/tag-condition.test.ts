// Conditions on tags whose names are those of members that every object has.
import { expect, test } from "bun:test";
import { parseExpression } from "../../tsdbql/parse/expression.ts";
import { NO_PARAMS } from "../../tsdbql/parse/params.ts";
import { TokenStream } from "../../tsdbql/parse/token-stream.ts";
import { matchingConditions, tagNamesOf } from "./tag-condition.ts";

test.each(["constructor", "toString", "valueOf", "__proto__"])("a row without the tag %s has no value of it", (tag) => {
  const all = [JSON.parse(`{"h": "x", "${tag}": "native"}`), { h: "y" }];
  const matching = (comparison: string) => {
    const condition = parseExpression(new TokenStream(`h =~ /./ AND "${tag}" ${comparison}`, NO_PARAMS));
    return matchingConditions(condition, tagNamesOf(condition), all);
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
  expect(matchingConditions(condition, tagNamesOf(condition), all)).toEqual([[{ tag, values: ["native", null] }]]);
});
