// VALUES without parentheses, ROW, names in struct(), WITHIN GROUP of array_agg: forms that the grammar below does not have. Expected:
// the answers of Core 3.9.6.
import { sqlSuite } from "../support/sql/sql-suite.ts";

sqlSuite("lists of values", [
  [
    "SELECT * FROM VALUES (1, 'a'), (2, 'b')",
    [
      [1n, "a"],
      [2n, "b"],
    ],
  ],
  ["SELECT column1 + 1 FROM VALUES (1), (2) ORDER BY 1 DESC", [[3n], [2n]]],
  ["SELECT t.x FROM VALUES (1), (2) AS t(x) WHERE x > 1", [[2n]]],
  ["SELECT min(column2) FROM VALUES (0, 3), (0, 2), (1, 7) GROUP BY column1 ORDER BY 1", [[2n], [7n]]],
  ["SELECT a.x, b.y FROM (VALUES ROW(1), ROW(2)) AS a(x) JOIN (VALUES ROW(2, 'b')) AS b(x, y) ON a.x = b.x", [[2n, "b"]]],
  ["SELECT x FROM (VALUES (1)) t(x) JOIN VALUES (1), (3) AS u(y) ON x = y", [[1n]]],
  ["WITH v AS (VALUES ROW((1)), ROW((2) + 1)) SELECT sum(column1) FROM v", [[4n]]],
  ["SELECT (SELECT max(column1) FROM VALUES (1), (5)) + 1", [[6n]]],
  ["SELECT values FROM (SELECT 3 AS values)", [[3n]]],
  // a table of this name
  ["SELECT * FROM VALUES", new Error("table 'public.iox.values' not found")],
  ["SELECT * FROM VALUES (1", new Error("syntax error")],
  ["SELECT * FROM VALUES (1), (2, 3)", new Error("VALUES")],
  ["SELECT * FROM VALUES ROW", new Error("table 'public.iox.values' not found")],
]);

sqlSuite("clauses of calls", [
  ["SELECT array_agg(x) WITHIN GROUP (ORDER BY x DESC) FROM (VALUES (1), (3), (2)) t(x)", [[[3n, 2n, 1n]]]],
  ["SELECT array_agg(DISTINCT x) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (3), (1)) t(x)", [[[1n, 3n]]]],
  ["SELECT struct(1 AS 'a', 2 AS 'b c')['b c']", [[2n]]],
  ["SELECT struct(1 AS a, 'x' AS 'it''s')['it''s']", [["x"]]],
]);
