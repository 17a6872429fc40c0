// The first statements that people type after the vendor's "get started" page.
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { sqlSuite, utc } from "../support/sql/sql-suite.ts";

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

const DAY_NS = 86_400_000_000_000n;

/** One sensor; two hosts of one environment, of which the second has one day. */
function ordinaryTables(kernel: Kernel): FakeTable[] {
  const { time, tag, float, integer } = ColumnType;
  const sensor = [1n, 2n, 3n].map((n) => ({ time: n * 60_000_000_000n, id: "s1", v: Number(n) / 2 }));
  const hosts = ["a", "b"].flatMap((host, i) =>
    [0n, 1n, 2n]
      .filter((day) => host === "a" || day === 1n)
      .map((day) => ({ time: day * DAY_NS + BigInt(i), env: "prod", host, n: day * 10n + BigInt(i) })),
  );
  return [
    new FakeTable(kernel, "sensor", { time, id: tag, v: float }, sensor),
    new FakeTable(kernel, "hosts", { time, env: tag, host: tag, n: integer }, hosts),
  ];
}

sqlSuite(
  "a tag that all rows have",
  [
    ["SELECT v FROM sensor WHERE id = 's1' ORDER BY v", [[0.5], [1], [1.5]]],
    ["SELECT count(*) FROM sensor WHERE id = 's1'", [[3n]]],
    [
      "SELECT id, v FROM sensor WHERE id = 's1' AND v > 0.5 ORDER BY v",
      [
        ["s1", 1],
        ["s1", 1.5],
      ],
    ],
    ["SELECT max(v) FROM sensor WHERE id IN ('s1', 's2') AND time > '1970-01-01T00:01:00Z'", [[1.5]]],
    ["SELECT count(*) FROM sensor WHERE id = 's2'", [[0n]]],
    ["SELECT count(*) FROM sensor WHERE id IS NOT NULL", [[3n]]],
    ["SELECT n FROM hosts WHERE env = 'prod' ORDER BY n", [[0n], [10n], [11n], [20n]]],
    ["SELECT sum(n) FROM hosts WHERE env = 'prod' AND host = 'a'", [[30n]]],
    [
      "SELECT host, sum(n) FROM hosts WHERE env = 'prod' GROUP BY host ORDER BY host",
      [
        ["a", 30n],
        ["b", 11n],
      ],
    ],
    ["SELECT n FROM hosts WHERE host = 'a' AND time < '1970-01-02T00:00:00Z'", [[0n]]],
    ["SELECT max(time) FROM hosts WHERE env = 'prod'", [[2n * DAY_NS]]],
  ],
  ordinaryTables,
);
