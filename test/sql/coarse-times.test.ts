// Numbers as times of units above nanoseconds: a whole number of units since 1970. The answers are those of Core 3.9.6.
import type { SqlValue } from "../support/sql/sql-rows.ts";
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

/** The value of one expression. */
const is = (expression: string, value: SqlValue): SqlCase => [`SELECT ${expression}`, [[value]]];

sqlSuite("numbers as times of a coarser unit", [
  is("cast(1500 AS timestamp(3))::varchar", "1970-01-01T00:00:01.500"),
  is("cast(-1500 AS timestamp(3))::varchar", "1969-12-31T23:59:58.500"),
  is("cast(1500.7 AS timestamp(0))::varchar", "1970-01-01T00:25:00"),
  is("try_cast(1500 AS timestamp(3))::varchar", "1970-01-01T00:00:01.500"),
  is("cast(NULL AS timestamp(3))", null),
  ["SELECT x::timestamp(3)::varchar FROM (VALUES (1500)) t(x)", [["1970-01-01T00:00:01.500"]]],
  is("arrow_cast(1.5, 'Timestamp(Second, None)')::varchar", "1970-01-01T00:00:01"),
  is("arrow_cast(1500.9, 'Timestamp(Millisecond, None)')::varchar", "1970-01-01T00:00:01.500"),
  is("arrow_cast(CAST(-1.123 AS decimal(17, 3)), 'Timestamp(Second, None)')::varchar", "1969-12-31T23:59:59"),
  is("arrow_cast(15, 'Timestamp(Second, Some( \"+08:00\" ))')::varchar", "1970-01-01T08:00:15+08:00"),
]);
