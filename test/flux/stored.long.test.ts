// The recorded scripts over stored rows in every state, with operators left to the scan and without: the answers are those of the rows in
// memory, which recorded.long.test.ts compares with the vendor's. All of them in two states, where a sixth is also played without a scan, a
// sixth in each of the others, another sixth from state to state; with ALL_STATES=1 all of them in all.
import { expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import type { FluxBucket } from "../../src/model/query/flux.ts";
import { isAskedIn, isInSample, isWholeState, ROW_STATES, type RowState } from "../support/rows/row-states.ts";
import { StoredRows } from "../support/rows/stored-rows.ts";
import { bucketLines, type FluxCase, fluxCases, notPassing } from "./cases.ts";
import { ORGANIZATION_ID } from "./memory-source.ts";
import { differenceOf, preferredText, queryOf, RECORDED_BUCKETS, withoutIds } from "./play-case.ts";

const TIMEOUT_MS = 600_000;

/** Its field has three types in three shards: here a field has one, and the other lines are refused. */
const NOT_STORABLE = ["mixed"];

const NAMES = [...RECORDED_BUCKETS.filter((name) => !NOT_STORABLE.includes(name)), "scratch", "scratch2", "_monitoring", "_tasks"];
const DAY_NS = 86_400_000_000_000n;
const RETENTIONS_NS: Readonly<Record<string, bigint>> = { _monitoring: 7n * DAY_NS, _tasks: 3n * DAY_NS };
const BUCKETS: readonly FluxBucket[] = NAMES.map((name, i) => ({
  id: (i + 1).toString(16).padStart(16, "b"),
  name,
  organizationId: ORGANIZATION_ID,
  retentionPeriodNs: RETENTIONS_NS[name] ?? 0n,
}));
const idOf = (bucket: string) => BUCKETS.find(({ name }) => name === bucket)?.id ?? "0000000000000fff";

const listed = notPassing();
/** What is written by a case is tested over HTTP. */
const isPlayed = ({ id, data, fresh }: FluxCase) =>
  !listed.has(id) && fresh === undefined && !data.some((name) => NOT_STORABLE.includes(name));
async function answered(stored: StoredRows, each: FluxCase, pushesDown: boolean): Promise<string> {
  const query = await queryOf(each, idOf);
  const answer = await preferredText(each, query, () => stored.flux({ ...query, pushesDown }, BUCKETS));
  return withoutIds(answer, BUCKETS);
}
const cases = fluxCases().filter(isPlayed);

function casesIn(state: RowState, pushesDown: boolean): readonly FluxCase[] {
  return cases.filter((_, i) => (pushesDown ? isAskedIn(state, i) : isInSample(state, i + 1)));
}

const STEPS = BUCKETS.flatMap(({ id, name }) => {
  const lines = !RECORDED_BUCKETS.includes(name) || name === "empty" ? "" : bucketLines(name);
  return lines === "" ? [] : [{ database: id, lines }];
});
const EMPTY = BUCKETS.filter(({ id }) => !STEPS.some(({ database }) => database === id));

test("most recorded scripts are played", () => {
  expect(cases.length).toBeGreaterThan(2400);
});

const PLAYED = ROW_STATES.flatMap((state) =>
  (isWholeState(state) ? [true, false] : [true]).map((pushesDown) => [state, pushesDown] as const),
);
test.each(PLAYED)(
  "%s, pushed down: %p",
  async (state, pushesDown) => {
    const databases = EMPTY.map(({ id }, i) => ({ as: id, namespace: i + 1, name: id }));
    const stored = await StoredRows.open(Kernel.create(), state, STEPS, { databases });
    try {
      const wrong: string[] = [];
      for (const each of casesIn(state, pushesDown)) {
        const difference = await differenceOf(each, () => answered(stored, each, pushesDown));
        if (difference !== null) wrong.push(`${each.id}: ${difference}`);
      }
      expect(wrong).toEqual([]);
    } finally {
      await stored.close();
    }
  },
  TIMEOUT_MS,
);
