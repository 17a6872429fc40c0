// Grouping of bitwise operators. Expected: the dialect's precedences, from the strongest: `*` `/` `%` `||`, `+` `-`, XOR, `&`,
// `^` `<<` `>>`, `|`.
import { expect, test } from "bun:test";
import { operatorGroups } from "./operator-groups.ts";
import { applyTokenRules } from "./token-rules.ts";
import { tokenize } from "./tokens.ts";

const grouped = (sql: string): string =>
  applyTokenRules(tokenize(sql))
    .map(({ text }) => text)
    .join("");

test.each([
  ["1|2&3", "1|(2&3)"],
  ["1&2|3", "1&2|3"],
  ["1|2|3|4", "1|2|3|4"],
  ["1^2*3", "1^(2*3)"],
  ["1*2^3", "(1*2)^3"],
  ["1^2&3", "1^(2&3)"],
  ["1<<2^3", "(1<<2)^3"],
  ["1|2<<3", "1|(2<<3)"],
  ["1+2|3", "1+2|3"],
  ["1&2 xor 3", "1&2^3"],
  ["1 xor 2<<3", "1^2<<3"],
  ["1 xor 2+3", "1^(2+3)"],
  ["a.b|c::int&-3", "a.b|(c::int&-3)"],
  ["f(1|2&3)|x[1^2*3]", "f(1|(2&3))|x[1^(2*3)]"],
  ["case when 1|2&3=3 then 1 end|2&3", "casewhen1|(2&3)=3then1end|(2&3)"],
  ["'a'~b||c", "'a'<~>(b||c)"],
  ["a||b~c", "a||b<~>c"],
  ["1|2&3 x,4", "1|(2&3)x,4"],
  ["1|interval '1' day&3", "1|(interval'1'day&3)"],
  ["1|2&3 and 4|5&6", "1|(2&3)and4|(5&6)"],
  ["count(*)|1&2", "count(*)|(1&2)"],
  ["1<2 and 3>4", "1<2and3>4"],
])("%s", (sql, expected) => {
  expect(grouped(sql)).toBe(expected);
});

test("unfinished expressions stay as they are", () => {
  for (const sql of ["1|", "|1&", "1|2&", ") | 1 & 2 (", "case | end & end", "1 | 2 & )"]) {
    expect(operatorGroups(tokenize(sql)).length).toBeGreaterThanOrEqual(tokenize(sql).length);
  }
});

test("operators in turn do not nest deeper than brackets may", () => {
  expect(() =>
    grouped(
      Array.from({ length: 5000 }, (_, i) => `${i} ${i % 2 === 0 ? "<<" : "^"} `)
        .join("")
        .concat("1"),
    ),
  ).toThrow("brackets inside of each other");
  const flat = Array.from({ length: 5000 }, (_, i) => `${i} ${i % 2 === 0 ? "|" : "&"} `).join("");
  expect(grouped(`${flat}1`).split("(").length).toBe(2501);
});
