// Statements of plugins over the same rows in every state of the storage: what the shipped downsampler makes of them, and rows of every
// type as they are.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { inEachState } from "../support/rows/served-rows.ts";
import type { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(300_000);

const FOLDER = join(import.meta.dir, "../../examples/plugins");
const DAY = 86_400;
/** Days of a bucket: of one year, so that a test does not see its end. */
const BUCKET = 365 * DAY;
/** The plugin is given the next multiple of a year since 1970, and takes the year before. */
const START = Math.floor(Date.now() / 1000 / BUCKET) * BUCKET;

const line = (host: string | null, seconds: number, usage: string) =>
  `cpu${host === null ? "" : `,host=${host}`} ${usage} ${BigInt(START + seconds) * 1_000_000_000n}`;

const STEPS: readonly RowStep[] = [
  {
    database: "d",
    lines: [
      ...[line("a", -1, "usage=1000"), line("a", 0, "usage=1"), line("a", DAY, "usage=3"), line("a", BUCKET - 1, "usage=5")],
      ...[line("a", BUCKET, "usage=1000"), line("b", 5, "other=1"), line(null, 7, "usage=7"), line("c", 8, "usage=100")],
    ].join("\n"),
  },
  // an old point again, with another value
  { database: "d", lines: line("a", DAY, "usage=30") },
  {
    delete: {
      ...{ database: "d", table: "cpu", tags: [{ tag: "host", values: ["c"] }] },
      range: { minNs: BigInt(START) * 1_000_000_000n, maxNs: BigInt(START + DAY) * 1_000_000_000n },
    },
  },
];

async function downsampled(server: TestServer): Promise<unknown> {
  const input_arguments = { source: "cpu", target: "mean", field: "usage", tag: "host", bucket: String(BUCKET) };
  const body = { filename: "downsampler.py", database: "d", schedule: "every:365d", input_arguments };
  const answer = await fetch(`${server.url}/api/v3/plugin_test/schedule`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  expect(answer.status).toBe(200);
  const { database_writes: writes, errors } = (await answer.json()) as { database_writes: Record<string, string[]>; errors: string[] };
  return { errors, lines: writes["d"]!.sort() };
}

const READER = `
import json
def process_scheduled_call(local, when, args=None):
    columns = "host, room, f, i, u, b, s, time"
    where = "time >= $since AND time < $until AND (host = $host OR host IS NULL) AND i > $least"
    params = {"since": "2024-02-29T23:59:59.999999999Z", "until": "2024-03-02T00:00:00Z", "host": "a 'b'", "least": -(2 ** 62)}
    for row in local.query(f"SELECT {columns} FROM every WHERE {where} ORDER BY time", params): local.info(json.dumps(row))
    local.info(json.dumps(local.query("SELECT count(*) AS n, sum(u) AS u, max(s) AS s, min(time) AS first FROM every")))
    local.info(json.dumps([row["x"] for row in local.query("SELECT f / 0.0 AS x FROM every ORDER BY time")]))
`;
const HOST = "host=a\\ 'b'";
const DAY_NS = BigInt(Date.UTC(2024, 2, 1)) * 1_000_000n;
const EVERY: readonly RowStep[] = [
  {
    database: "d",
    lines: [
      `every,${HOST},room=x f=1,i=-5i,u=${2n ** 64n - 1n}u,b=true,s="a \\"b\\" \\\\ ü€😀" ${DAY_NS}`,
      `every,${HOST} f=-0.5,i=1i,u=0u,b=false,s="old" ${DAY_NS + 1n}`,
      `every f=1e300,i=${2n ** 63n - 1n}i,s="" ${DAY_NS - 1n}`,
      `every,host=other f=2,i=1i ${DAY_NS + 2n}`,
      `every,${HOST} f=3,i=-${2n ** 63n}i ${DAY_NS + 3n}`,
      `every,${HOST} f=4,i=4i ${DAY_NS + 86_400_000_000_000n}`,
    ].join("\n"),
  },
  // one value of an old row, and a row of the same time with a tag more
  { database: "d", lines: `every,${HOST} s="new" ${DAY_NS + 1n}\nevery,${HOST},room=y i=7i ${DAY_NS + 4n}` },
];
/** By arithmetic and the grammar of line protocol. */
const READ = [
  { host: null, room: null, f: 1e300, i: 2n ** 63n - 1n, u: null, b: null, s: "", time: DAY_NS - 1n },
  { host: "a 'b'", room: "x", f: 1, i: -5n, u: 2n ** 64n - 1n, b: true, s: 'a "b" \\ ü€😀', time: DAY_NS },
  { host: "a 'b'", room: null, f: -0.5, i: 1n, u: 0n, b: false, s: "new", time: DAY_NS + 1n },
  { host: "a 'b'", room: "y", f: null, i: 7n, u: null, b: null, s: null, time: DAY_NS + 4n },
];

/** As Python writes it: floats with a point or an exponent, integers of any size. */
const python = (row: Readonly<Record<string, unknown>>): string => {
  const members = Object.entries(row).map(([name, value]) => {
    const isFloat = typeof value === "number";
    const text = isFloat
      ? Number.isInteger(value) && value < 1e16
        ? `${value}.0`
        : `${value}`
      : typeof value === "bigint"
        ? `${value}`
        : JSON.stringify(value);
    return `"${name}": ${text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}`;
  });
  return `{${members.join(", ")}}`;
};

if (pluginPython() !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-reader-"));
  beforeAll(() => writeFileSync(join(folder, "reader.py"), READER));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("a plugin reads rows of every type, by parameters, in every state", async () => {
    const read = async (server: TestServer) => {
      const answer = await fetch(`${server.url}/api/v3/plugin_test/schedule`, {
        ...{
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ filename: "reader.py", database: "d" }),
        },
      });
      return (await answer.json()) as unknown;
    };
    const sums = { n: 7n, u: 2n ** 64n - 1n, s: "new", first: DAY_NS - 1n };
    const quotients = "[Infinity, Infinity, -Infinity, Infinity, Infinity, null, Infinity]";
    const lines = [...READ.map(python), `[${python(sums)}]`, quotients].map((line) => `INFO: ${line}`);
    for (const [state, found] of await inEachState(ROW_STATES, EVERY, read, { flags: ["--plugin-dir", folder] }))
      expect({ state, found }).toMatchObject({ state, found: { errors: [], log_lines: lines } });
  });

  test("the downsampler writes the same means in every state", async () => {
    const flags = ["--plugin-dir", FOLDER];
    const startNs = BigInt(START) * 1_000_000_000n;
    // (1 + 30 + 5) / 3
    const wanted = { errors: [], lines: [`mean usage=7.0,count=1i ${startNs}`, `mean,host=a usage=12.0,count=3i ${startNs}`] };
    for (const [state, found] of await inEachState(ROW_STATES, STEPS, downsampled, { flags }))
      expect({ state, found }).toEqual({ state, found: wanted });
  });
}
