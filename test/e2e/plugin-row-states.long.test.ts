// The shipped downsampler over the same rows in every state of the storage: its statements, and rows that it reads, do not depend on it.
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { pluginPython } from "../support/plugins.ts";
import { ROW_STATES, type RowStep } from "../support/row-states.ts";
import { inEachState } from "../support/served-rows.ts";
import type { TestServer } from "../support/server.ts";

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

if (pluginPython() !== null) {
  test("the downsampler writes the same means in every state", async () => {
    const flags = ["--plugin-dir", FOLDER];
    const startNs = BigInt(START) * 1_000_000_000n;
    // (1 + 30 + 5) / 3
    const wanted = { errors: [], lines: [`mean usage=7.0,count=1i ${startNs}`, `mean,host=a usage=12.0,count=3i ${startNs}`] };
    for (const [state, found] of await inEachState(ROW_STATES, STEPS, downsampled, { flags }))
      expect({ state, found }).toEqual({ state, found: wanted });
  });
}
