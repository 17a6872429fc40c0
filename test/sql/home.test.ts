// The first statements that people type after the vendor's "get started" page.
import { sqlSuite, utc } from "../support/sql-suite.ts";

sqlSuite("get started", [
  ["SELECT count(*) FROM home", [[26n]]],
  [
    "SELECT time, temp FROM home WHERE room = 'Kitchen' AND co > 20 ORDER BY time",
    [
      [utc("2022-01-01T19:00:00"), 23.1],
      [utc("2022-01-01T20:00:00"), 22.7],
    ],
  ],
  [
    "SELECT room, max(co) AS worst FROM home GROUP BY room ORDER BY room",
    [
      ["Kitchen", 26n],
      ["Living Room", 17n],
    ],
  ],
  ["SELECT DISTINCT room FROM home ORDER BY 1 DESC", [["Living Room"], ["Kitchen"]]],
  ["SELECT rom FROM home", new Error("rom")],
]);
