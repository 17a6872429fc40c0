// Words that are names in the dialect and keywords in DuckDB, and clauses that its grammar refuses.
import { expect, test } from "bun:test";
import { applyTokenRules } from "./token-rules.ts";
import { tokenize } from "./tokens.ts";

/** The tokens as text: quoted names in quotes. */
const ruled = (sql: string): string =>
  applyTokenRules(tokenize(sql))
    .map(({ kind, text }) => (kind === "quoted" ? `"${text}"` : text.trim()))
    .filter((text) => text !== "")
    .join(" ");

test.each([
  ["SELECT group FROM order", 'select "group" from "order"'],
  [
    "SELECT check, t.table FROM t WHERE limit > 1 ORDER BY group LIMIT 1",
    'select "check" , t . "table" from t where "limit" > 1 order by "group" limit 1',
  ],
  ["SELECT a FROM t GROUP BY a ORDER BY a LIMIT 3 OFFSET 1", "select a from t group by a order by a limit 3 offset 1"],
  ["SELECT max(x) OVER (ORDER BY y) FROM t", "select max ( x ) over ( order by y ) from t"],
  ["SELECT trim(LEADING 'x' FROM s)", "select trim ( leading 'x' from s )"],
  ["SELECT `a``b` FROM `Mixed Case`", 'select "a`b" from "Mixed Case"'],
  ["SELECT x FROM t LIMIT 2, 3", "select x from t limit 3 offset 2"],
  ["SELECT CAST(1 AS BIGINT UNSIGNED)", "select cast ( 1 as ubigint )"],
  // a member of every object is no type
  ["SELECT CAST(1 AS constructor UNSIGNED)", "select cast ( 1 as constructor unsigned )"],
  ["SELECT 5 XOR 3", "select 5 ^ 3"],
  ["SELECT INTERVAL 90", "select interval '90'"],
  ["SELECT INTERVAL -1.5, INTERVAL 2 x", "select interval '-1.5' , interval '2' x"],
  ["SELECT INTERVAL 3 DAYS, INTERVAL -3 hours", "select interval 3 days , interval '-3 hours'"],
  ["SELECT x FROM a LEFT SEMI JOIN b ON a.x = b.x", "select x from a semi join b on a . x = b . x"],
  ["SELECT x FROM a RIGHT ANTI JOIN b ON a.x = b.x", "select x from b anti join a on a . x = b . x"],
  [
    "SELECT x FROM a JOIN c USING (y) RIGHT SEMI JOIN (SELECT 1) b ON true",
    "select x from ( select 1 ) b semi join ( a join c using ( y ) ) on true",
  ],
])("%s", (sql, expected) => expect(ruled(sql)).toBe(expected));

// what is no statement must end in an error or in tokens, not in an endless loop
test.each([
  "right semi join",
  "FROM a RIGHT SEMI JOIN",
  "RIGHT ANTI JOIN b ON",
  ") RIGHT SEMI JOIN (",
  "LIMIT 1, 2, 3, 4",
  "SELECT group order limit",
])("hostile: %s", (sql) => expect(ruled(sql).length).toBeGreaterThan(0));

test("many one-sided joins are refused, many pairs of limits taken once", () => {
  expect(() => ruled(`SELECT x FROM a${" RIGHT SEMI JOIN b ON true".repeat(17)}`)).toThrow("joins that keep their right side");
  expect(ruled("LIMIT 1, 2 ".repeat(1000)).split("offset").length).toBe(1001);
});
