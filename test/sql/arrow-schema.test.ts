// What the schema of an answer says of its columns beyond their types' names. In the vendor's schemas time alone is never NULL; joins,
// groups and unions may bring NULLs into its column.
import { describe, expect, test } from "bun:test";
import { type Field, tableFromIPC } from "apache-arrow";
import { createEncoder } from "../../src/encode/encode.ts";
import { sqlEngine } from "../support/sql/sql-engine.ts";
import { homeTable, SUITE_NOW_NS } from "../support/sql/sql-suite.ts";

const own = sqlEngine();
const { kernel } = own;

/** The answer in Arrow's form, decoded; a description has the same columns. `isPlain`: all of it is left to DuckDB. */
async function answerOf(sql: string, isPlain: boolean) {
  const input = { tables: [homeTable(kernel)], params: {}, nowNs: SUITE_NOW_NS, isPlain };
  const answer = await own.engine.run(await own.engine.plan(sql), input);
  const encoder = await createEncoder("arrow");
  const pieces = [encoder.begin(answer.schema)!];
  for await (const batch of answer.batches) pieces.push(encoder.rows(batch) ?? new Uint8Array(0));
  pieces.push(encoder.end()!);
  await answer.close();
  const { schema } = await own.engine.describe(await own.engine.plan(sql), input);
  expect(schema.fields).toEqual([...answer.schema.fields]);
  return tableFromIPC(Buffer.concat(pieces));
}

const HOME = "home AS a";
const OTHER = "(SELECT time, room, temp FROM home WHERE temp > 23) AS b";

const TIMES: [sql: string, nullable: readonly boolean[]][] = [
  ["SELECT time, room, temp, co FROM home", [false, true, true, true]],
  ["SELECT * FROM home LIMIT 0", [true, true, true, true, false]],
  ["SELECT time AS t FROM (SELECT * FROM home) AS h ORDER BY t LIMIT 3", [false]],
  ["WITH h AS (SELECT time FROM home WHERE temp > 22) SELECT time FROM h", [false]],
  ["SELECT time, count(*) AS n FROM home GROUP BY time", [false, true]],
  ["SELECT DISTINCT ON (room) time FROM home ORDER BY room, time DESC", [false]],
  [`SELECT a.time, b.time AS t FROM ${HOME} JOIN ${OTHER} ON a.time = b.time`, [false, false]],
  // what may be missing
  ["SELECT time FROM home AS a RIGHT JOIN (SELECT time, temp FROM home) AS b USING (time)", [true]],
  ["SELECT a.time, b.time AS t FROM home AS a POSITIONAL JOIN (SELECT time FROM home LIMIT 2) AS b", [true, true]],
  [
    "SELECT a.time, b.time AS t FROM home AS a ASOF LEFT JOIN (SELECT time FROM home WHERE temp > 100) AS b ON a.time >= b.time",
    [false, true],
  ],
  [`SELECT a.time, b.time AS t FROM ${HOME} LEFT JOIN ${OTHER} ON a.time = b.time`, [false, true]],
  [`SELECT a.time, b.time AS t FROM ${HOME} RIGHT JOIN ${OTHER} ON a.time = b.time AND a.temp < 0`, [true, false]],
  [`SELECT a.time, b.time AS t FROM ${HOME} FULL JOIN ${OTHER} ON a.time = b.time AND a.temp < 0`, [true, true]],
  ["SELECT t FROM (SELECT b.time AS t FROM home AS a LEFT JOIN home AS b ON a.temp = b.co) AS x", [true]],
  ["SELECT time, room, count(*) AS n FROM home GROUP BY ROLLUP (time, room)", [true, true, true]],
  ["SELECT time FROM home UNION ALL SELECT NULL", [true]],
  [
    "WITH RECURSIVE r AS (SELECT time FROM home UNION ALL SELECT CAST(NULL AS TIMESTAMP) FROM r WHERE time IS NOT NULL) SELECT time FROM r",
    [true],
  ],
  ["SELECT max(time) AS t FROM home WHERE temp > 100", [true]],
  ["SELECT lag(time) OVER (ORDER BY time) AS t FROM home", [true]],
  ["SELECT (SELECT time FROM home WHERE temp > 100) AS t", [true]],
  ["SELECT date_bin(INTERVAL '1 hour', time) AS t, time + INTERVAL '1 s' AS u FROM home", [true, true]],
];

describe("time is never NULL", () => {
  test.each(TIMES)("%s", async (sql, nullable) => {
    for (const isPlain of [false, true]) {
      const { schema } = await answerOf(sql, isPlain);
      expect(schema.fields.map((field: Field) => field.nullable)).toEqual([...nullable]);
    }
  });
});

/** The vendor's engine gives what was cast in the unit of the type, as apache-arrow names it; values in that unit. */
const UNITS: [value: string, type: string, found: bigint][] = [
  ["arrow_cast(time, 'Timestamp(Second, None)')", "Timestamp<SECOND>", 1_641_024_000n],
  ["arrow_cast(time, 'Timestamp(Millisecond, None)')", "Timestamp<MILLISECOND>", 1_641_024_000_000n],
  ["arrow_cast('1969-12-31T23:59:59.999999999Z', 'Timestamp(µs)')", "Timestamp<MICROSECOND>", -1n],
  ["arrow_cast(time, 'Timestamp(Nanosecond, None)')", "Timestamp<NANOSECOND>", 1_641_024_000_000_000_000n],
  ["arrow_cast(1700000000, 'Timestamp(Second, None)')", "Timestamp<SECOND>", 1_700_000_000n],
  // a time without a zone is local time in the zone
  ["arrow_cast(time, 'Timestamp(Second, Some(\"Europe/Berlin\"))')", "Timestamp<SECOND, Europe/Berlin>", 1_641_020_400n],
  ["t FROM (SELECT arrow_cast(time, 'Timestamp(ms)') AS t FROM home) AS x", "Timestamp<MILLISECOND>", 1_641_024_000_000n],
  ["to_timestamp_seconds(1700000000)", "Timestamp<SECOND>", 1_700_000_000n],
  ["tz(time, 'Europe/Berlin')", "Timestamp<NANOSECOND, Europe/Berlin>", 1_641_024_000_000_000_000n],
  ["time - timestamp '2022-01-01T07:59:58.5Z'", "Duration<NANOSECOND>", 1_500_000_000n],
  ["arrow_cast(-5, 'Duration(Second)')", "Duration<SECOND>", -5n],
  ["arrow_cast(1500, 'Duration(Millisecond)')", "Duration<MILLISECOND>", 1500n],
  ["INTERVAL '3 nanoseconds'", "Duration<NANOSECOND>", 3n],
  ["max(time) - min(time)", "Duration<NANOSECOND>", 12n * 3_600_000_000_000n],
];

/** As recorded: what DISTINCT ON chooses is computed there, the newest rows of a window are not. */
const MARKS: [sql: string, types: readonly string[], marks: readonly (string | undefined)[]][] = [
  ["SELECT room, temp FROM home", ["Dictionary<Int32, Utf8>", "Float64"], ["iox::column_type::tag", "iox::column_type::field::float"]],
  ["SELECT DISTINCT ON (room) room, temp FROM home ORDER BY room, time", ["Dictionary<Int32, Utf8>", "Float64"], [undefined, undefined]],
  [
    "SELECT room, temp FROM (SELECT *, row_number() OVER (PARTITION BY room ORDER BY time DESC) AS n FROM home) WHERE n = 1",
    ["Dictionary<Int32, Utf8>", "Float64"],
    ["iox::column_type::tag", "iox::column_type::field::float"],
  ],
];

describe.each([false, true])("marks of columns (isPlain: %p)", (isPlain) => {
  test.each(MARKS)("%s", async (sql, types, marks) => {
    const { fields } = (await answerOf(sql, isPlain)).schema;
    expect(fields.map(({ type }) => String(type))).toEqual([...types]);
    expect(fields.map(({ metadata }) => metadata.get("iox::column::type"))).toEqual([...marks]);
  });
});

describe("times and durations leave in their unit", () => {
  test.each(UNITS)("%s", async (value, type, found) => {
    const table = await answerOf(`SELECT ${value}${value.includes("FROM") ? "" : " AS v FROM home"} LIMIT 1`, false);
    expect([String(table.schema.fields[0]!.type), table.getChildAt(0)!.data[0]!.values[0]]).toEqual([type, found]);
  });
});

test.each(["'a' || NULL || 'b'", "CAST(NULL AS VARCHAR) || 'x'", "'x' || CAST(NULL AS INTEGER)", "overlay('abc' PLACING NULL FROM 3)"])(
  "%s is a text that is NULL",
  async (value) => {
    const { schema } = await answerOf(`SELECT ${value} AS v`, false);
    expect(schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(["v Utf8"]);
  },
);
