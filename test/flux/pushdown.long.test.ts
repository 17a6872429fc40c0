// Scripts that are left to the scan and the same scripts that are not, byte by byte, in every state of the rows: ordinary data and odd
// data, and which of them the scan has answered.
import { afterAll, expect, spyOn, test } from "bun:test";
import { DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import type { FluxBucket } from "../../src/model/query/flux.ts";
import { StoredSource } from "../../src/query/flux/stored-source.ts";
import { prng } from "../support/prng.ts";
import { isAskedIn, isWholeState, ROW_STATES, type RowState } from "../support/rows/row-states.ts";
import { StoredRows } from "../support/rows/stored-rows.ts";
import { ENDS, FIRST, LEFT, LISTED, NOT_LEFT, NOT_LISTED, NOT_ROWS, of, ROWS } from "./pushdown-scripts.ts";

const TIMEOUT_MS = 300_000;

const BUCKET: FluxBucket = { id: "0000000000000001", name: "b", organizationId: "0000000000000002", retentionPeriodNs: 0n };
const NOW = parseTime("2024-06-01T00:00:00Z")!;
const at = (text: string) => parseTime(text)!.ns;

/** Values are multiples of a quarter, so that sums do not depend on their order. */
function lines(): string {
  const below = prng(7);
  const rows: string[] = [];
  const start = at("2024-03-05T10:00:00Z");
  for (let i = 0; i < 60; i++) {
    const ns = start + BigInt(i) * 40_000_000_000n;
    for (const [host, region] of [
      ["a", "eu"],
      ["b", "eu"],
      ["c", "us"],
    ] as const) {
      // gaps of windows, and series that begin late
      if (host === "b" && i % 30 > 14) continue;
      if (host === "c" && i < 25) continue;
      const fields = [`usage=${below(400) / 4}`, `load=${below(9) - 4}i`];
      if (i % 7 === 0) fields.push(`free=${below(1000)}u`, `up=${i % 2 === 0}`, `note="n${below(3)}"`);
      rows.push(`cpu,host=${host},region=${region},site=x ${fields.join()} ${ns}`);
    }
    // more series than values that are asked for one by one
    rows.push(`many,host=h${i % 12} v=${(i % 12) * 10 + ((i * 7) % 9)}i,w=${(i % 12) - 0.5 * (i % 5)} ${ns}`);
    // equal values of several fields and series, whose order depends on tags that a script may drop
    if (i % 3 === 0) {
      rows.push(`pair,host=a,zone=1 z=${i % 4}i ${ns}`, `pair,host=b,slot=x,zone=0 y=${i % 4}i ${ns}`, `pair,zone=0 y=${i % 4}i ${ns}`);
    }
    // a tag that some series lack, and equal values at equal times
    rows.push(`mem,host=h${i % 2}${i % 3 === 0 ? ",slot=1" : ""} used=${(i % 5) / 2} ${ns}`);
  }
  rows.push(`one,sensor=s value=1.5 ${start + 1n}`);
  for (const day of ["2024-01-31", "2024-02-29", "2024-03-30", "2024-03-31", "2024-04-01", "2024-10-27"]) {
    for (const time of ["00:30:00", "01:30:00", "22:59:59.999999999", "23:00:00"])
      rows.push(`days,place=p w=${below(40) / 4},n=${below(5)}i ${at(`${day}T${time}Z`)}`);
  }
  // one name with two types
  rows.push(`left v=1 ${start}`, `right v=2i ${start}`, `huge n=9223372036854775807i ${start}`, `huge n=1i ${start + 1n}`);
  return rows.join("\n");
}

const stores = new Map<RowState, Promise<StoredRows>>();
function store(state: RowState): Promise<StoredRows> {
  let found = stores.get(state);
  if (found === undefined) {
    const databases = [{ as: BUCKET.id, namespace: 1, name: BUCKET.id }];
    found = StoredRows.open(Kernel.create(), state, [{ database: BUCKET.id, lines: lines() }], { databases });
    stores.set(state, found);
  }
  return found;
}
afterAll(async () => {
  for (const each of stores.values()) await (await each).close();
});

async function answer(stored: StoredRows, text: string, pushesDown: boolean): Promise<string> {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  try {
    return await stored.flux({ text, now: NOW, dialect, pushesDown }, [BUCKET]);
  } catch (error) {
    if (error instanceof FluxError) return `error: ${error.message}`;
    throw error;
  }
}

/** Whether the scan has the answer while `ask` runs: no rows are read. */
async function isLeftToScan(ask: () => Promise<unknown>): Promise<boolean> {
  const spy = spyOn(StoredSource.prototype, "read");
  try {
    await ask();
    return spy.mock.calls.length === 0;
  } finally {
    spy.mockRestore();
  }
}

async function readsWholeRows(ask: () => Promise<unknown>): Promise<boolean> {
  const spy = spyOn(StoredSource.prototype, "readRows");
  try {
    await ask();
    return spy.mock.calls.length > 0;
  } finally {
    spy.mockRestore();
  }
}

/** The last digits of deviations depend on the parts that they are computed of. */
const withRoundedFloats = (text: string) => text.replace(/\d+\.\d{10,}/g, (number) => Number(number).toPrecision(12));

const SCRIPTS = [...LEFT, ...LISTED, ...NOT_LEFT, ...NOT_LISTED, ...ROWS, ...NOT_ROWS, ...FIRST, ...ENDS];

test.each(ROW_STATES)(
  "%s: left to the scan or not, the answers are the same",
  async (state) => {
    const stored = await store(state);
    const answers = new Set<string>();
    for (const [i, script] of SCRIPTS.entries()) {
      if (!isAskedIn(state, i)) continue;
      const [left, own] = [await answer(stored, script, true), await answer(stored, script, false)];
      const shown = script.includes("stddev") ? withRoundedFloats : (text: string) => text;
      expect({ script, answer: shown(left) }).toEqual({ script, answer: shown(own) });
      if (LEFT.includes(script) || LISTED.includes(script)) expect(own).not.toStartWith("error:");
      answers.add(own);
    }
    // few of them are empty or alike
    if (isWholeState(state)) expect(answers.size).toBeGreaterThan(0.7 * (LEFT.length + NOT_LEFT.length) + 0.1 * LISTED.length);
  },
  TIMEOUT_MS,
);

test("a limit of rows is a limit of what is read", async () => {
  const stored = await store("flushed");
  const script = `${of('r._measurement == "cpu"', "range(start: 0)")} |> limit(n: 2)`;
  const spy = spyOn(StoredSource.prototype, "read");
  try {
    await answer(stored, script, true);
    // the last series begins 1,000 s after the first
    const reads = spy.mock.calls.map(([{ startNs, stopNs }]) => [startNs, stopNs < at("2024-03-05T14:00:00Z")]);
    expect(reads).toEqual([[0n, true]]);
  } finally {
    spy.mockRestore();
  }
});

test("the latest rows are those of the end of the range", async () => {
  const stored = await store("compacted");
  for (const rows of [
    'sort(columns: ["_time"], desc: true) |> limit(n: 2)',
    'group() |> sort(columns: ["_time"], desc: true) |> limit(n: 2)',
    "tail(n: 2)",
  ]) {
    const spy = spyOn(StoredSource.prototype, "read");
    try {
      await answer(stored, `${of('r._measurement == "cpu"', "range(start: 0)")} |> ${rows}`, true);
      // the series that ends first has its last rows 10 minutes before the end of all
      const reads = spy.mock.calls.map(([{ startNs, stopNs }]) => [startNs > at("2024-03-05T09:00:00Z"), stopNs]);
      expect({ rows, reads }).toEqual({ rows, reads: [[true, NOW.ns]] });
    } finally {
      spy.mockRestore();
    }
  }
});

test("which scripts the scan answers", async () => {
  const stored = await store("flushed");
  for (const script of [...LEFT, ...LISTED].filter((text) => !text.includes("// not left"))) {
    expect({ script, isLeft: await isLeftToScan(() => answer(stored, script, true)) }).toEqual({ script, isLeft: true });
    expect({ script, isLeft: await isLeftToScan(() => answer(stored, script, false)) }).toEqual({ script, isLeft: false });
  }
  for (const script of ROWS) {
    expect({ script, isLeft: await readsWholeRows(() => answer(stored, script, true)) }).toEqual({ script, isLeft: true });
    expect({ script, isLeft: await readsWholeRows(() => answer(stored, script, false)) }).toEqual({ script, isLeft: false });
  }
  for (const script of NOT_ROWS) {
    expect({ script, isLeft: await readsWholeRows(() => answer(stored, script, true)) }).toEqual({ script, isLeft: false });
  }
  for (const script of [...NOT_LEFT, ...NOT_LISTED].filter((text) => !text.includes("// rows of groups"))) {
    expect({ script, isLeft: await isLeftToScan(() => answer(stored, script, true)) }).toEqual({ script, isLeft: false });
  }
}, 60_000);
