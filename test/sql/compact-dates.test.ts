// Dates without dashes. Expected: the answers of Core 3.9.6.
import { sqlSuite } from "../support/sql/sql-suite.ts";

sqlSuite("dates without dashes", [
  [
    "SELECT date '20200102'::varchar, to_date('21311111')::varchar, CAST('20200102' AS DATE)::varchar",
    [["2020-01-02", "2131-11-11", "2020-01-02"]],
  ],
  ["SELECT CAST(x AS DATE)::varchar FROM (VALUES ('20200102'), ('2020-01-03'), (NULL)) t(x)", [["2020-01-02"], ["2020-01-03"], [null]]],
  ["SELECT to_date(x)::varchar FROM (VALUES ('20200102'), ('2020-01-03')) t(x)", [["2020-01-02"], ["2020-01-03"]]],
  ["SELECT TRY_CAST(x AS DATE)::varchar FROM (VALUES ('20200102'), ('20201302'), ('2020')) t(x)", [["2020-01-02"], [null], [null]]],
  // thirteen hours of two rooms
  ["SELECT count(*) FROM home WHERE time::date = '20220101'::date", [[26n]]],
  ["SELECT to_date('20201301')", new Error("date")],
  ["SELECT date '2020010'", new Error("date")],
  ["SELECT date '202001021'", new Error("date")],
]);
