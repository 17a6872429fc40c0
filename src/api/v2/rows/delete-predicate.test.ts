// Predicates of deletions: what is accepted, in another form, and the errors of what is not. The recorded ones are in test/vectors/v2.
import { describe, expect, test } from "bun:test";
import type { Expression } from "../../../tsdbql/parse/ast.ts";
import { parseDeletePredicate } from "./delete-predicate.ts";

function shown(expression: Expression | null): string {
  if (expression === null) return "";
  if (expression.kind !== "binary") throw new Error(`a ${expression.kind}`);
  const { operator, left, right } = expression;
  if (operator === "AND") return `${shown(left)} & ${shown(right)}`;
  return `${(left as { name: string }).name}${operator}'${(right as { value: string }).value}'`;
}

describe("accepted", () => {
  test.each<[text: string, measurement: string | null, condition: string]>([
    ["", null, ""],
    ["_measurement=m", "m", ""],
    ['_measurement="m" AND _measurement=m', "m", ""],
    ["a=b and c=d AnD e=f", null, "a='b' & c='d' & e='f'"],
    ["((a=b) AND ((c=d)))", null, "a='b' & c='d'"],
    ['a != "b"', null, "a!='b' & a!=''"],
    ['"a b"="c \\"d\\""', null, "a b='c \"d\"'"],
    ["a=1 AND b=-1 AND c=1.50 AND d=1h30m AND e=TRUE AND f=false", null, "a='1' & b='-1' & c='1.50' & d='1h30m' & e='true' & f='false'"],
    ["é=a".replace("é", '"é"'), null, "é='a'"],
    ['"select"="from"', null, "select='from'"],
  ])("%j", (text, measurement, condition) => {
    const found = parseDeletePredicate(text)!;
    expect([found.measurement, shown(found.condition)]).toEqual([measurement, condition]);
  });

  test.each(['_measurement != "m"', '_field != "f"', "_measurement=a AND _measurement=b", 'host=""', 'host="" AND _measurement=m'])(
    "%j fits no row",
    (text) => {
      expect(parseDeletePredicate(text)).toBeNull();
    },
  );
});

describe("refused", () => {
  test.each<[text: string, message: string]>([
    ["a=b OR c=d", "the logical operator OR is not supported yet at position 4"],
    ["(a=b", "extra ( seen"],
    ["a=b)(", "extra ) seen"],
    ["a=b c=d", "the logical operator '\\x00' is invalid"],
    ["1=a", "bad tag key, at position 0"],
    ["a", 'invalid operator "EOF" at position: 2'],
    ["a=b AND", "found EOF, expected identifier, string, number, bool at line 1, char 9"],
    ["()", "found ), expected identifier"],
    ["a=b; drop measurement m", "bad logical expression, at position 3"],
    ["a=$p", 'bad tag value: "$p", at position 2'],
    // as recorded: comments stand nowhere, and positions count from the first character
    ["a=b -- c", "bad logical expression, at position 4"],
    ["/* c */ a=b", "bad logical expression, at position 0"],
    ["a=b AND /* c */ d=e", "bad logical expression, at position 8"],
    ["a --c\n=b", 'invalid operator "" at position: 2'],
    ["a=--b", 'bad tag value: "", at position 2'],
    ["  =", "bad logical expression, at position 2"],
    ["  OR a", "the logical operator OR is not supported yet at position 2"],
    ["a=b\ufeff", "bad logical expression, at position 3"],
    [" ", "found EOF, expected identifier, string, number, bool at line 1, char 3"],
    [" \n ", "string, number, bool at line 2, char 3"],
    ['a="\\x"', 'bad tag value: "\\\\x", at position 4'],
    ["a true", 'invalid operator "TRUE" at position: 2'],
    ["a 1h", 'invalid operator "DURATIONVAL" at position: 2'],
    ["a 5", 'invalid operator "" at position: 2'],
    ["a $p", 'invalid operator "" at position: 2'],
    ["a é", 'invalid operator "ILLEGAL" at position: 2'],
    [`a=${"b".repeat(100_000)}`, "the predicate is longer than 65536 characters"],
    ["(".repeat(10_000), "extra ( seen"],
    [`${"(".repeat(10_000)}a=b${")".repeat(10_000)}`, "error parsing predicate"],
  ])("%.40j", (text, message) => {
    let error: { kind?: string; message?: string } = {};
    try {
      parseDeletePredicate(text);
    } catch (caught) {
      error = caught as typeof error;
    }
    expect([error.kind, error.message]).toEqual(["bad_request", expect.stringContaining(message)]);
    expect(error.message!.length).toBeLessThan(2000);
  });

  test("by field", () => {
    expect(() => parseDeletePredicate("_field=f AND a=b")).toThrow("delete by field is not supported");
  });
});

test("long predicates take no time that grows with the square of their length", () => {
  const rules = Array.from({ length: 2000 }, (_, i) => `t${i}=v`).join(" AND ");
  expect(parseDeletePredicate(rules)!.condition).not.toBeNull();
});
