// SHOW statements over a few series, and InfluxDB 1.6.7's answers to them as goldens.
import { join } from "node:path";
import type { TestRow } from "../support/rows/rows.ts";
import type { Peer } from "./peer.ts";

export const SHOW_GOLDENS = join(import.meta.dir, "../golden/tsdbql/show.json");

/** By statement, the result without its number: series, or an error. */
export type ShowGoldens = Readonly<Record<string, unknown>>;

const row = (seconds: number, tags: TestRow["tags"], fields: TestRow["fields"]): TestRow => ({
  timeNs: BigInt(seconds) * 1_000_000_000n,
  tags,
  fields,
});

/** Rows by measurement. */
export const SHOW_ROWS: Readonly<Record<string, readonly TestRow[]>> = {
  cpu: [
    row(1, { host: "a", region: "eu" }, { v: 1, w: 2n }),
    row(2, { host: "b", region: "us" }, { v: 1, s: "x" }),
    row(3, { host: "a c", region: "us,x" }, { v: 3 }),
    row(4, {}, { v: 9 }),
    row(5, { host: "a", region: "eu" }, { v: 2 }),
  ],
  mem: [row(1, { host: "a", zone: "z1" }, { free: 1n, ok: true }), row(900_000_000, { host: "c=d", zone: "z2" }, { free: 2n })],
  disk: [row(1, { path: "/", host: "b" }, { used: 1 })],
  "my table,x": [row(1, { "ta g": "v 1", host: "Zed" }, { f: 1 })],
  dup: [row(1, { a: "x", b: "x" }, { v: 1 }), row(1, { a: "y", b: "x" }, { v: 1 }), row(1, { a: "z" }, { v: 1 })],
};

/** A line each. */
export const SHOW_STATEMENTS: readonly string[] = `
SHOW MEASUREMENTS
SHOW MEASUREMENTS LIMIT 2 OFFSET 1
SHOW MEASUREMENTS OFFSET 10
SHOW MEASUREMENTS LIMIT 1
SHOW MEASUREMENTS WITH MEASUREMENT = cpu
SHOW MEASUREMENTS WITH MEASUREMENT = nope
SHOW MEASUREMENTS WITH MEASUREMENT = /c/
SHOW MEASUREMENTS WITH MEASUREMENT =~ cpu
SHOW MEASUREMENTS WITH MEASUREMENT =~ /m/
SHOW MEASUREMENTS WITH MEASUREMENT =~ /m/ WHERE host='a'
SHOW MEASUREMENTS WHERE host = 'b'
SHOW MEASUREMENTS WHERE host != 'b'
SHOW MEASUREMENTS WHERE host =~ /a/ OR path = '/'
SHOW MEASUREMENTS WHERE host = 'b' AND region='us'
SHOW MEASUREMENTS WHERE host = 'a' AND region='us'
SHOW MEASUREMENTS WHERE host = 'a' OR (region = 'us' AND host='b')
SHOW MEASUREMENTS WHERE zone = ''
SHOW MEASUREMENTS WHERE host = ''
SHOW MEASUREMENTS WHERE host != ''
SHOW MEASUREMENTS WHERE host !~ /a/
SHOW MEASUREMENTS WHERE host =~ /.*/
SHOW MEASUREMENTS WHERE nope = ''
SHOW MEASUREMENTS WHERE nope != 'x'
SHOW MEASUREMENTS WHERE host = 5
SHOW MEASUREMENTS WHERE _name = 'cpu'
SHOW MEASUREMENTS WHERE _name =~ /c/ AND host = 'b'
SHOW MEASUREMENTS WHERE 'b' = host
SHOW MEASUREMENTS WHERE host = region
SHOW MEASUREMENTS WHERE v > 1
SHOW MEASUREMENTS WHERE time > now() - 1h
SHOW MEASUREMENTS WHERE time > 0
SHOW MEASUREMENTS WHERE host='a' AND time > now() - 1h
SHOW MEASUREMENTS ON nope
SHOW SERIES
SHOW SERIES FROM cpu
SHOW SERIES FROM cpu, mem WHERE host='a'
SHOW SERIES FROM /c|m/
SHOW SERIES FROM d..cpu
SHOW SERIES FROM d.autogen.cpu
SHOW SERIES FROM nope
SHOW SERIES FROM nope.autogen.cpu
SHOW SERIES ON nope
SHOW SERIES LIMIT 2 OFFSET 1
SHOW SERIES LIMIT 4
SHOW SERIES LIMIT 0 OFFSET 8
SHOW SERIES OFFSET 100
SHOW SERIES WHERE region != 'us'
SHOW SERIES WHERE v > 1
SHOW SERIES WHERE v = 1
SHOW SERIES WHERE host = 5
SHOW SERIES WHERE host > 'a'
SHOW SERIES WHERE host='a' OR v = 1
SHOW SERIES WHERE host='a' AND v = 1
SHOW SERIES WHERE host='a' AND true
SHOW SERIES WHERE host = region
SHOW SERIES WHERE host != region
SHOW SERIES WHERE 'a' = host
SHOW SERIES WHERE nope = ''
SHOW SERIES WHERE nope = 'x'
SHOW SERIES WHERE nope != ''
SHOW SERIES WHERE nope =~ /.*/
SHOW SERIES WHERE nope !~ /x/
SHOW SERIES WHERE true
SHOW SERIES WHERE false
SHOW SERIES WHERE 1 = 1
SHOW SERIES WHERE host
SHOW SERIES WHERE (host = 'a')
SHOW SERIES WHERE host::tag = 'a'
SHOW SERIES WHERE _name = 'cpu'
SHOW SERIES WHERE _name != 'cpu' AND host =~ /^[ab]$/
SHOW SERIES WHERE host =~ /a/ AND region !~ /us/
SHOW SERIES WHERE host !~ /a/ OR zone = 'z1'
SHOW SERIES WHERE time > now() - 1h
SHOW SERIES WHERE time > '2000-01-01T00:00:00Z'
SHOW TAG KEYS
SHOW TAG KEYS FROM cpu
SHOW TAG KEYS ON d FROM cpu
SHOW TAG KEYS FROM d.autogen.cpu
SHOW TAG KEYS FROM /c|m/ WHERE host='a'
SHOW TAG KEYS WHERE host='b'
SHOW TAG KEYS WHERE host = ''
SHOW TAG KEYS WHERE _name = 'cpu'
SHOW TAG KEYS WHERE zone = 'z1' OR path = '/'
SHOW TAG KEYS LIMIT 1
SHOW TAG KEYS LIMIT 1 OFFSET 1
SHOW TAG KEYS OFFSET 1
SHOW TAG KEYS SLIMIT 1
SHOW TAG KEYS SLIMIT 1 SOFFSET 1
SHOW TAG KEYS FROM cpu WHERE time > now() - 1h
SHOW TAG KEYS WHERE v > 1
SHOW TAG KEYS ON nope
SHOW TAG VALUES WITH KEY = host
SHOW TAG VALUES FROM cpu WITH KEY IN (host, region)
SHOW TAG VALUES FROM cpu WITH KEY =~ /o/
SHOW TAG VALUES FROM cpu WITH KEY !~ /reg/
SHOW TAG VALUES FROM cpu WITH KEY != host
SHOW TAG VALUES WITH KEY = "ta g"
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE region = 'us'
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE region = ''
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE region != ''
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE "v" = 1
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE v > 2
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE host =~ /a/ OR region = 'us'
SHOW TAG VALUES FROM /^c/, mem WITH KEY = host
SHOW TAG VALUES WITH KEY = host WHERE _name = 'cpu'
SHOW TAG VALUES WITH KEY = host WHERE host = ''
SHOW TAG VALUES WITH KEY = host LIMIT 2
SHOW TAG VALUES WITH KEY = host LIMIT 2 OFFSET 1
SHOW TAG VALUES FROM cpu WITH KEY IN (region, host) LIMIT 4 OFFSET 1
SHOW TAG VALUES WITH KEY = nope
SHOW TAG VALUES FROM cpu WITH KEY = host WHERE time > now() - 1h
SHOW TAG VALUES FROM d.autogen.cpu WITH KEY = host
SHOW TAG VALUES ON d FROM cpu WITH KEY = host LIMIT 0
SHOW TAG VALUES ON nope WITH KEY = host
SHOW FIELD KEYS
SHOW FIELD KEYS FROM cpu
SHOW FIELD KEYS FROM d..cpu
SHOW FIELD KEYS FROM nope
SHOW FIELD KEYS FROM /c|m/ LIMIT 1 OFFSET 1
SHOW FIELD KEYS ON nope
SHOW SERIES CARDINALITY
SHOW SERIES CARDINALITY ON nope
SHOW SERIES CARDINALITY LIMIT 1
SHOW SERIES EXACT CARDINALITY
SHOW SERIES EXACT CARDINALITY ON nope
SHOW SERIES EXACT CARDINALITY FROM cpu
SHOW SERIES EXACT CARDINALITY FROM nope
SHOW SERIES CARDINALITY FROM cpu
SHOW SERIES CARDINALITY WHERE host='a'
SHOW SERIES CARDINALITY WHERE time > 0
SHOW SERIES EXACT CARDINALITY WHERE time > now() - 1h
SHOW SERIES EXACT CARDINALITY GROUP BY host
SHOW SERIES EXACT CARDINALITY GROUP BY *
SHOW SERIES EXACT CARDINALITY FROM dup GROUP BY a, b
SHOW SERIES EXACT CARDINALITY FROM dup GROUP BY /a/
SHOW SERIES EXACT CARDINALITY FROM dup GROUP BY nope
SHOW SERIES EXACT CARDINALITY LIMIT 1 OFFSET 1
SHOW MEASUREMENT CARDINALITY
SHOW MEASUREMENT CARDINALITY ON nope
SHOW MEASUREMENT CARDINALITY LIMIT 1
SHOW MEASUREMENT CARDINALITY FROM /c/
SHOW MEASUREMENT CARDINALITY WHERE host != 'b'
SHOW MEASUREMENT CARDINALITY WHERE time > 0
SHOW MEASUREMENT EXACT CARDINALITY
SHOW MEASUREMENT EXACT CARDINALITY ON nope
SHOW MEASUREMENT EXACT CARDINALITY FROM cpu
SHOW MEASUREMENT EXACT CARDINALITY FROM nope
SHOW MEASUREMENT EXACT CARDINALITY WHERE host='a'
SHOW MEASUREMENT EXACT CARDINALITY OFFSET 1
SHOW MEASUREMENT EXACT CARDINALITY GROUP BY b
SHOW TAG KEY CARDINALITY
SHOW TAG KEY CARDINALITY ON nope
SHOW TAG KEY CARDINALITY LIMIT 1 OFFSET 1
SHOW TAG KEY EXACT CARDINALITY FROM cpu
SHOW TAG KEY EXACT CARDINALITY WHERE host='a'
SHOW TAG KEY EXACT CARDINALITY WHERE time > 0
SHOW TAG KEY EXACT CARDINALITY GROUP BY host
SHOW TAG KEY EXACT CARDINALITY FROM dup GROUP BY b
SHOW TAG VALUES CARDINALITY WITH KEY = host
SHOW TAG VALUES CARDINALITY ON nope WITH KEY = a
SHOW TAG VALUES CARDINALITY FROM dup WITH KEY =~ /a|b/
SHOW TAG VALUES EXACT CARDINALITY FROM dup WITH KEY IN (a,b)
SHOW TAG VALUES EXACT CARDINALITY FROM cpu WITH KEY IN (host, region)
SHOW TAG VALUES EXACT CARDINALITY WITH KEY = host WHERE region='us'
SHOW FIELD KEY CARDINALITY
SHOW FIELD KEY CARDINALITY WHERE time > 0
SHOW FIELD KEY EXACT CARDINALITY FROM cpu
SHOW FIELD KEY EXACT CARDINALITY LIMIT 1
SHOW FIELD KEY EXACT CARDINALITY WHERE host='a'
SHOW FIELD KEY EXACT CARDINALITY WHERE time > 0
SHOW FIELD KEY EXACT CARDINALITY FROM dup GROUP BY b
`
  .trim()
  .split("\n");

function lineOf(measurement: string, { timeNs, tags, fields }: TestRow): string {
  const escapeTag = (text: string) => text.replace(/[,= ]/g, "\\$&");
  const spell = (value: unknown) =>
    typeof value === "bigint" ? `${value}i` : typeof value === "string" ? JSON.stringify(value) : String(value);
  const key = [
    measurement.replace(/[, ]/g, "\\$&"),
    ...Object.entries(tags).map(([tag, value]) => `${escapeTag(tag)}=${escapeTag(value)}`),
  ];
  return `${key.join(",")} ${Object.entries(fields).map(([name, value]) => `${escapeTag(name)}=${spell(value)}`)} ${timeNs}`;
}

/** The answers of a server to all cases. */
export async function askShow(peer: Peer): Promise<ShowGoldens> {
  await peer.query({ q: "CREATE DATABASE d" });
  const lines = Object.entries(SHOW_ROWS).flatMap(([measurement, rows]) => rows.map((each) => lineOf(measurement, each)));
  await peer.write("d", null, lines.join("\n"));
  const goldens: Record<string, unknown> = {};
  for (const statement of SHOW_STATEMENTS) {
    const { text } = await peer.query({ db: "d", q: statement });
    const { statement_id: _number, ...result } = (JSON.parse(text) as { results: Record<string, unknown>[] }).results[0]!;
    goldens[statement] = result;
  }
  return goldens;
}
