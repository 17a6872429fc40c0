// Joins that merge columns: which of them `*` shows, and where. The answers are those of Core 3.9.6.
import { sqlSuite } from "../support/sql/sql-suite.ts";

const B1 = "(SELECT 1 AS b, 2 AS c) AS b1";
const A1 = "(SELECT 1 AS b, 3 AS d) AS a1";
const A2 = "(SELECT 4 AS b, 3 AS d) AS a2";
const ROOMS = "(SELECT DISTINCT room, 7 AS n FROM home)";

sqlSuite("`*` shows the merged column of the relation whose name sorts first", [
  [`SELECT * FROM ${B1} JOIN ${A1} USING (b)`, [[2n, 1n, 3n]]],
  [`SELECT * FROM ${A1} JOIN ${B1} USING (b)`, [[1n, 3n, 2n]]],
  [`SELECT * FROM ${B1} NATURAL JOIN ${A1}`, [[2n, 1n, 3n]]],
  // also the side that may have no row
  [`SELECT * FROM ${B1} LEFT JOIN ${A2} USING (b)`, [[2n, null, null]]],
  [`SELECT * FROM ${A2} RIGHT JOIN ${B1} USING (b)`, [[null, null, 2n]]],
  [
    `SELECT * FROM ${B1} FULL JOIN ${A2} USING (b) ORDER BY c NULLS LAST`,
    [
      [2n, null, null],
      [null, 4n, 3n],
    ],
  ],
  // each pair by itself
  [
    "SELECT * FROM (VALUES (1, 2)) z(a, b) JOIN (VALUES (1, 3)) x(a, c) USING (a) JOIN (VALUES (1, 4)) w(a, d) USING (a)",
    [[2n, 1n, 3n, 1n, 4n]],
  ],
  // names as they are written, capitals first
  [`SELECT * FROM (SELECT 1 AS b, 2 AS c) AS "B" JOIN (SELECT 1 AS b, 3 AS d) AS a USING (b)`, [[1n, 2n, 3n]]],
  [`SELECT * EXCLUDE (c) FROM ${B1} JOIN ${A1} USING (b)`, [[1n, 3n]]],
  [`SELECT * REPLACE (b1.b + 6 AS d) FROM ${B1} JOIN ${A1} USING (b)`, [[2n, 1n, 7n]]],
  [`SELECT b1.* FROM ${B1} JOIN ${A1} USING (b)`, [[1n, 2n]]],
  [`SELECT q.* FROM (SELECT * FROM ${B1} JOIN ${A1} USING (b)) AS q`, [[2n, 1n, 3n]]],
  [
    `SELECT * FROM (SELECT room, temp FROM home WHERE temp > 23.2) AS home JOIN ${ROOMS} AS a USING (room) ORDER BY temp`,
    [[23.3, "Kitchen", 7n]],
  ],
  [`SELECT count(*) FROM (SELECT * FROM home JOIN ${ROOMS} AS z USING (room))`, [[26n]]],
]);

sqlSuite("a natural join without a common column joins all rows", [
  [
    "SELECT * FROM (VALUES (1, 2), (3, 4)) z(a, b) NATURAL JOIN (VALUES (5)) y(c) ORDER BY 1",
    [
      [1n, 2n, 5n],
      [3n, 4n, 5n],
    ],
  ],
  ["SELECT * FROM (SELECT 1 AS a) AS z NATURAL LEFT JOIN (SELECT 2 AS b) AS y", [[1n, 2n]]],
]);
