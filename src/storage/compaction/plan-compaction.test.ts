// Compaction's decisions: cases one by one, then whole days of flushes played through, to count how often rows are rewritten.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { BlockOfTable } from "../manifest/manifest.ts";
import { nextJob } from "./compaction-job.ts";
import { COMPACTION_LIMITS, type CompactionTask, planTable, type SeenTombstone, type TableState } from "./plan-compaction.ts";

const LIMITS = COMPACTION_LIMITS;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY_MS = 24 * HOUR;
const DAY_NS = 86_400_000_000_000n;
/** The day of most cases, and when it is closed. */
const DAY = 19_700;
const CLOSED = (DAY + 1) * DAY_MS + 4 * HOUR;

interface TestRun {
  rows: number;
  /** When its rows came. */
  first?: number;
  last?: number;
  closed?: boolean;
  /** Blocks that it is cut into. */
  parts?: number;
  applied?: number;
}

/** Blocks of runs in order of sequence: run i has the sequences 10 i + 1 to 10 i + 10. */
function blocksOf(runs: readonly TestRun[], { tableId = 1, day = DAY, fileId = 1 } = {}): BlockOfTable[] {
  const dayStartNs = BigInt(day) * DAY_NS;
  return runs.flatMap(({ rows, first = 0, last = first, closed = false, parts = 1, applied }, i) =>
    Array.from({ length: parts }, (_, index): BlockOfTable => {
      const block = {
        index,
        databaseId: 1,
        tableId,
        dayStartNs,
        rowCount: rows / parts,
        minTimeNs: dayStartNs + 1000n,
        maxTimeNs: dayStartNs + DAY_NS - 1000n,
        seqMin: i * 10 + 1,
        seqMax: i * 10 + 10,
        unique: true,
        columnIds: [0, 1],
        seriesCount: 1,
        flushedMinMs: first,
        flushedMaxMs: last,
        ...(applied === undefined ? {} : { appliedTombstone: applied }),
        ...(closed ? { closed } : {}),
      };
      const key = `n/data/${i}.pt`;
      return { file: { id: fileId + i, key, bytes: 1, generation: closed ? 2 : 0, blocks: [block] }, block };
    }),
  );
}

const table = { name: "t" };
const stateOf = (blocks: readonly BlockOfTable[], change: Partial<TableState> = {}): TableState => ({
  tableId: 1,
  table,
  blocks,
  retentionMinNs: ALL_TIME.minNs,
  tombstones: [],
  ...change,
});

/** What a task takes, as numbers of runs, and what it makes. */
const told = ({ inputs, isClosed }: CompactionTask) =>
  `${inputs.map(({ block }) => Math.floor(block.seqMin / 10)).join(" ")} -> ${isClosed ? "closed" : "merged"}`;

const flushes = (count: number, rows = 1000, at: Partial<TestRun> = {}): TestRun[] =>
  Array.from({ length: count }, () => ({ rows, ...at }));

describe("an open day", () => {
  const CASES: [why: string, runs: TestRun[], tasks: string[]][] = [
    ["few runs wait", flushes(7), []],
    ["eight of a size are merged", flushes(8), ["0 1 2 3 4 5 6 7 -> merged"]],
    ["a merge takes all neighbours of a size", flushes(12), ["0 1 2 3 4 5 6 7 8 9 10 11 -> merged"]],
    ["a merge takes at most 32 runs", flushes(40), [`${Array.from({ length: 32 }, (_, i) => i).join(" ")} -> merged`]],
    ["a large run at the front is left alone", [{ rows: 9000 }, ...flushes(8)], ["1 2 3 4 5 6 7 8 -> merged"]],
    ["sizes that halve need no merge", [64, 32, 16, 8, 4, 2, 1].map((rows) => ({ rows })), []],
    ["a large run in the middle parts the neighbours", [...flushes(5), { rows: 9_000_000 }, ...flushes(5)], []],
    ["32 large runs wait", flushes(32, 9_000_000), []],
    ["33 large runs are merged", flushes(33, 9_000_000), [`${Array.from({ length: 32 }, (_, i) => i).join(" ")} -> merged`]],
    [
      "of too many runs the cheapest neighbours are merged",
      [{ rows: 9e6 }, ...flushes(7, 8e6), ...flushes(8, 6e6), ...flushes(18, 9e6)],
      ["8 9 10 11 12 13 14 15 -> merged"],
    ],
    ["the smaller ones first", [...flushes(8, 8000), ...flushes(8)], ["8 9 10 11 12 13 14 15 -> merged"]],
    ["the parts of a run stay together", [...flushes(7), { rows: 1000, parts: 3 }], ["0 1 2 3 4 5 6 7 7 7 -> merged"]],
    ["on top of a closed run", [{ rows: 5000, closed: true }, ...flushes(8)], ["1 2 3 4 5 6 7 8 -> merged"]],
  ];
  test.each(CASES)("%s", (_, runs, tasks) => {
    expect(planTable(stateOf(blocksOf(runs)), CLOSED - 1, LIMITS).tasks.map(told)).toEqual(tasks);
  });
});

describe("a closed day", () => {
  const NOW = CLOSED + DAY_MS;
  const big = 1_000_000;
  const base: TestRun = { rows: big, closed: true };
  const CASES: [why: string, runs: TestRun[], tasks: string[]][] = [
    ["one closed run is left alone", [base], []],
    ["its runs become one", flushes(3, big), ["0 1 2 -> closed"]],
    ["a single run is closed", flushes(1, big), ["0 -> closed"]],
    ["a small single run is closed", flushes(1, 100), ["0 -> closed"]],
    ["runs are not closed within a minute of the last flush", flushes(3, big, { first: NOW - 59_999 }), []],
    ["runs are closed a minute after the last flush", flushes(3, big, { first: NOW - 60_000 }), ["0 1 2 -> closed"]],
    ["rows that have come for an hour do not hold it up", [{ rows: big, first: NOW - HOUR, last: NOW }], ["0 -> closed"]],
    ["rows that came while the clock was ahead do not hold it up", flushes(3, big, { first: NOW + 365 * DAY_MS }), ["0 1 2 -> closed"]],
    ["a clock that went back by seconds is of no account", flushes(3, big, { first: NOW + 5000 }), []],
    ["late rows of a clock that was ahead are merged", [base, { rows: 1, first: NOW + DAY_MS }], ["0 1 -> closed"]],
    ["few late rows wait for an hour", [base, { rows: big * 0.049, first: NOW - HOUR + 1 }], []],
    ["few late rows are merged after an hour", [base, { rows: 1, first: NOW - HOUR }], ["0 1 -> closed"]],
    ["late rows of 5 % are merged at once", [base, { rows: big * 0.05, first: NOW - MINUTE }], ["0 1 -> closed"]],
    ["late rows of 5 % wait for a minute without rows", [base, { rows: big * 0.05, first: NOW - MINUTE + 1 }], []],
    ["late rows are counted together", [base, ...flushes(5, big * 0.01, { first: NOW - MINUTE })], ["0 1 2 3 4 5 -> closed"]],
    [
      "a huge day is not rewritten every hour",
      [
        { rows: 5e7, closed: true },
        { rows: 1, first: NOW - 4.9 * HOUR },
      ],
      [],
    ],
    [
      "late rows of a day of 50 M rows are merged after five hours",
      [
        { rows: 5e7, closed: true },
        { rows: 1, first: NOW - 5 * HOUR },
      ],
      ["0 1 -> closed"],
    ],
    [
      "late rows of a huge day are merged after a day",
      [
        { rows: 4e8, closed: true },
        { rows: 1, first: NOW - 24 * HOUR },
      ],
      ["0 1 -> closed"],
    ],
    ["a day that no block can hold is cut", flushes(3, 2e8), ["0 1 -> closed"]],
    ["a day that no block can hold is cut between runs", [{ rows: 4e8, closed: true }, ...flushes(2, 2e8)], ["1 2 -> closed"]],
    ["two closed blocks of a huge day are left alone", [4e8, 4e8].map((rows) => ({ rows, closed: true })), []],
    ["many waiting runs are merged meanwhile", [base, ...flushes(8, 10, { first: NOW })], ["1 2 3 4 5 6 7 8 -> merged"]],
  ];
  test.each(CASES)("%s", (_, runs, tasks) => {
    expect(planTable(stateOf(blocksOf(runs)), NOW, LIMITS).tasks.map(told)).toEqual(tasks);
  });

  test("too many runs to read at once: neighbours first", () => {
    const [task] = planTable(stateOf(blocksOf([{ rows: 99_999 }, ...flushes(40)])), NOW, LIMITS).tasks;
    expect(told(task!)).toBe(`${Array.from({ length: 32 }, (_, i) => i + 1).join(" ")} -> merged`);
  });

  test("the hour before it is closed counts to the next look", () => {
    const { tasks, dueMs } = planTable(stateOf(blocksOf(flushes(3, big))), CLOSED - HOUR, LIMITS);
    expect([tasks.length, dueMs]).toEqual([0, CLOSED]);
    const late = planTable(stateOf(blocksOf([base, { rows: 1, first: NOW - MINUTE }])), NOW, LIMITS);
    expect([late.tasks.length, late.dueMs]).toEqual([0, NOW - MINUTE + HOUR]);
    const settled = planTable(stateOf(blocksOf([base])), NOW, LIMITS);
    expect(settled.dueMs).toBe(Number.POSITIVE_INFINITY);
  });

  test("days are planned each by itself", () => {
    const blocks = [...blocksOf(flushes(8), { day: DAY + 2 }), ...blocksOf(flushes(2, big), { day: DAY })];
    expect(planTable(stateOf(blocks), NOW, LIMITS).tasks.map(told)).toEqual(["0 1 2 3 4 5 6 7 -> merged", "0 1 -> closed"]);
  });

  test("a run is the first when nothing is before it", () => {
    const [task] = planTable(stateOf(blocksOf([base, ...flushes(8, 10, { first: NOW })])), NOW, LIMITS).tasks;
    expect(task!.isFirst).toBe(false);
    expect(planTable(stateOf(blocksOf(flushes(2, big))), NOW, LIMITS).tasks[0]!.isFirst).toBe(true);
  });
});

describe("rows that do not exist any more", () => {
  const NOW = CLOSED + DAY_MS;
  const whole = ALL_TIME;
  const start = BigInt(DAY) * DAY_NS;
  const tombstone = (change: Partial<Tombstone> = {}, seenMs = NOW - 10 * MINUTE): SeenTombstone => ({
    tombstone: { id: 5, tableId: 1, sequence: 10, range: whole, tags: [], ...change },
    seenMs,
  });
  const runs: TestRun[] = [
    { rows: 100_000, closed: true },
    { rows: 1, first: NOW },
  ];
  const tags = [{ columnId: 1, values: ["a"] }];
  const CASES: [why: string, change: Partial<TableState>, dropped: number[], tasks: string[]][] = [
    ["blocks of a deleted table are dropped", { table: undefined }, [0, 1], []],
    ["blocks wholly past their retention are dropped", { retentionMinNs: start + DAY_NS - 999n }, [0, 1], []],
    ["a block with a row within the retention is kept", { retentionMinNs: start + DAY_NS - 1000n }, [], []],
    ["blocks deleted as a whole are dropped, later ones kept", { tombstones: [tombstone()] }, [0], []],
    ["a deletion of some series is applied", { tombstones: [tombstone({ tags })] }, [], ["0 -> closed"]],
    [
      "a deletion of a range of time is applied",
      { tombstones: [tombstone({ range: { minNs: start, maxNs: start + 5000n } })] },
      [],
      ["0 -> closed"],
    ],
    ["a deletion is applied ten minutes after it was seen", { tombstones: [tombstone({ tags }, NOW - 10 * MINUTE + 1)] }, [], []],
    ["a deletion of lower sequence than the rows is not applied", { tombstones: [tombstone({ tags, sequence: 9 })] }, [], []],
    [
      "a deletion that hides rows of several runs is applied to the first one first",
      { tombstones: [tombstone({ tags, sequence: 20 })] },
      [],
      ["0 -> closed"],
    ],
    [
      "a deletion of another day is not applied",
      { tombstones: [tombstone({ range: { minNs: start + DAY_NS, maxNs: start + 2n * DAY_NS } })] },
      [],
      [],
    ],
  ];
  test.each(CASES)("%s", (_, change, dropped, tasks) => {
    const plan = planTable(stateOf(blocksOf(runs), change), NOW, LIMITS);
    expect(plan.dropped.map(({ block }) => Math.floor(block.seqMin / 10))).toEqual(dropped);
    expect(plan.tasks.map(told)).toEqual(tasks);
  });

  // it hides rows of the runs before it: those of sequences up to 20
  const held = (change: Partial<Tombstone> = {}) => tombstone({ sequence: 20, isHeld: true, ...change });
  const HELD: [why: string, runs: TestRun[], tombstones: SeenTombstone[], tasks: string[]][] = [
    ["parts the runs of a day", flushes(4, 1e6), [held()], ["0 1 -> closed"]],
    [
      "parts what is there later too",
      [{ rows: 1e6, closed: true }, { rows: 0 }, ...flushes(2, 1e6)],
      [held({ sequence: 10 })],
      ["1 2 3 -> closed"],
    ],
    ["does not part those that it hides nothing of", flushes(4, 1e6), [held({ range: { minNs: 0n, maxNs: 1n } })], ["0 1 2 3 -> closed"]],
    ["is not applied to files", [{ rows: 1e6, closed: true }], [held({ tags })], []],
    ["is applied when it is final", [{ rows: 1e6, closed: true }], [tombstone({ tags })], ["0 -> closed"]],
  ];
  test.each(HELD)("a deletion that may be taken back %s", (_, runs, tombstones, tasks) => {
    const plan = planTable(stateOf(blocksOf(runs), { tombstones }), NOW, LIMITS);
    expect(plan.dropped).toEqual([]);
    expect(plan.tasks.map(told)).toEqual(tasks);
  });

  test("runs of an open day that such a deletion parts are merged on their sides", () => {
    const plan = (tombstones: SeenTombstone[]) =>
      planTable(stateOf(blocksOf(flushes(20)), { tombstones }), CLOSED - 1, LIMITS).tasks.map(told);
    expect(plan([])).toEqual([`${Array.from({ length: 20 }, (_, i) => i).join(" ")} -> merged`]);
    expect(plan([held({ sequence: 100 })])).toEqual(["0 1 2 3 4 5 6 7 8 9 -> merged"]);
    expect(plan([held({ sequence: 50 }), held({ id: 6, sequence: 150 })])).toEqual(["5 6 7 8 9 10 11 12 13 14 -> merged"]);
  });

  test("closed runs of a day that nothing parts any more become one", () => {
    const late = { rows: 50_000, closed: true, first: NOW - MINUTE };
    const plan = (rows: number) =>
      planTable(
        stateOf(
          blocksOf([
            { rows: 1e6, closed: true },
            { ...late, rows },
          ]),
        ),
        NOW,
        LIMITS,
      ).tasks.map(told);
    expect(plan(50_000)).toEqual(["0 1 -> closed"]);
    expect(plan(49_999)).toEqual([]);
  });

  test("a deletion is applied once", () => {
    const done = [{ rows: 100_000, closed: true, applied: 5 }];
    expect(planTable(stateOf(blocksOf(done), { tombstones: [tombstone({ tags })] }), NOW, LIMITS).tasks).toEqual([]);
    const before = [{ rows: 100_000, closed: true, applied: 4 }];
    expect(planTable(stateOf(blocksOf(before), { tombstones: [tombstone({ tags })] }), NOW, LIMITS).tasks).toHaveLength(1);
  });

  test("the next look is when the retention or a deletion's time has come", () => {
    const retained = planTable(stateOf(blocksOf([{ rows: 1e6, closed: true }]), { retentionMinNs: start }), NOW, LIMITS);
    expect(retained.dueMs).toBe(NOW + DAY_MS);
    const deleted = planTable(stateOf(blocksOf([{ rows: 1e6, closed: true }]), { tombstones: [tombstone({ tags }, NOW)] }), NOW, LIMITS);
    expect(deleted.dueMs).toBe(NOW + 10 * MINUTE);
  });
});

describe("jobs", () => {
  const NOW = CLOSED + DAY_MS;
  const planOf = (runs: readonly TestRun[], tableId = 1, change: Partial<TableState> = {}) =>
    planTable(stateOf(blocksOf(runs, { tableId }), { tableId, ...change }), NOW, LIMITS);
  const jobOf = (plans: ReturnType<typeof planOf>[]) => {
    const job = nextJob(plans, LIMITS);
    return job?.files.map(({ tasks }) => tasks.map(({ tableId }) => tableId).join(" "));
  };
  const many = (count: number, runs: readonly TestRun[]) => Array.from({ length: count }, (_, i) => planOf(runs, i + 1));

  test("no job when every day is closed", () => {
    expect(nextJob([planOf([{ rows: 1e6, closed: true }])], LIMITS)).toBeNull();
  });

  test("blocks without rows are dropped first, without a new file", () => {
    const job = nextJob([planOf(flushes(8)), planOf(flushes(2), 2, { table: undefined })], LIMITS)!;
    expect(job.files).toEqual([]);
    expect(job.dropped.map(({ block }) => block.tableId)).toEqual([2, 2]);
  });

  test("closed days of few rows share a file, larger ones have one each", () => {
    expect(jobOf(many(3, flushes(2, 100)))).toEqual(["1 2 3"]);
    expect(jobOf(many(3, flushes(1, 100)))).toEqual(["1 2 3"]);
    expect(jobOf([...many(2, flushes(2, 5e5)), planOf(flushes(2, 32_767), 70), planOf(flushes(2, 32_768), 71)])).toEqual([
      "71",
      "1",
      "2",
      "70",
    ]);
    expect(jobOf(many(3, [{ rows: 100, closed: true }]))).toBeUndefined();
  });

  test("runs of open days and closed days do not share a file", () => {
    const open = planTable(stateOf(blocksOf(flushes(8), { tableId: 9, day: DAY + 2 }), { tableId: 9 }), NOW, LIMITS);
    expect(jobOf([...many(2, flushes(2, 100)), open])).toEqual(["9", "1 2"]);
  });

  test("tables of an open day share a file", () => {
    const open = Array.from({ length: 200 }, (_, i) =>
      planTable(stateOf(blocksOf(flushes(8), { tableId: i + 1 }), { tableId: i + 1 }), CLOSED - 1, LIMITS),
    );
    expect(nextJob(open, LIMITS)!.files.map(({ tasks }) => tasks.length)).toEqual([200]);
  });

  test("a job has so many blocks: some files are better than a stall", () => {
    const plans = many(600, flushes(8, 100));
    const job = nextJob(plans, LIMITS)!;
    expect(job.files.map(({ tasks }) => tasks.length)).toEqual([250]);
    const gone = nextJob([planOf(flushes(3000, 1), 1, { table: undefined })], LIMITS)!;
    expect(gone.dropped.length).toBe(2000);
  });

  test("a job has so many rows, or one task", () => {
    expect(jobOf([planOf(flushes(2, 1.5e6), 1), planOf(flushes(2, 1e6), 2), planOf(flushes(2, 1e6), 3)])).toEqual(["2", "3"]);
    expect(jobOf([planOf(flushes(2, 1e8), 1), planOf(flushes(2, 2e8), 2)])).toEqual(["1"]);
  });
});

/** A table whose flushes and compactions are played through. */
class Played {
  runs: (TestRun & { first: number; last: number; written: number })[] = [];
  flushed = 0;
  rewritten = 0;
  jobs = 0;
  runsMax = 0;

  flush(rows: number, nowMs: number): void {
    this.runs.push({ rows, first: nowMs, last: nowMs, written: 0 });
    this.flushed += rows;
  }

  compact(nowMs: number, day = DAY): void {
    for (;;) {
      this.runsMax = Math.max(this.runsMax, this.runs.length);
      const plan = planTable(stateOf(blocksOf(this.runs, { day })), nowMs, LIMITS);
      const job = nextJob([plan], LIMITS);
      if (job === null) return;
      const [task] = job.files[0]!.tasks;
      const numbers = task!.inputs.map(({ block }) => Math.floor(block.seqMin / 10));
      const taken = numbers.map((n) => this.runs[n]!);
      const merged = {
        rows: taken.reduce((sum, { rows }) => sum + rows, 0),
        first: Math.min(...taken.map(({ first }) => first)),
        last: Math.max(...taken.map(({ last }) => last)),
        written: Math.max(...taken.map(({ written }) => written)) + 1,
        closed: task!.isClosed,
      };
      this.rewritten += merged.rows;
      this.jobs += 1;
      this.runs.splice(numbers[0]!, numbers.length, merged);
    }
  }
}

describe("played through", () => {
  test("a day of flushes every ten minutes: few runs at any time, rows rewritten three times at most", () => {
    const played = new Played();
    const start = DAY * DAY_MS;
    for (let now = start; now < start + 30 * HOUR; now += 10 * MINUTE) {
      if (now < start + DAY_MS) played.flush(10_000, now);
      played.compact(now);
    }
    expect(played.runs).toMatchObject([{ closed: true, rows: 1_440_000 }]);
    expect(played.runs[0]!.written).toBeLessThanOrEqual(4);
    expect(played.rewritten / played.flushed).toBeLessThanOrEqual(3);
    expect(played.runsMax).toBeLessThanOrEqual(24);
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`flushes of any size, every minute (seed ${SEED})`, () => {
    const below = prng(SEED);
    const played = new Played();
    const start = DAY * DAY_MS;
    for (let now = start; now < start + 29 * HOUR; now += MINUTE) {
      if (now < start + DAY_MS) played.flush(1 + below(10) ** (1 + below(5)), now);
      played.compact(now);
    }
    expect(played.runs).toHaveLength(1);
    expect(played.rewritten / played.flushed).toBeLessThanOrEqual(5);
    expect(played.runsMax).toBeLessThanOrEqual(60);
  });

  test("a trickle of late rows for a week rewrites a closed day once an hour at most", () => {
    const played = new Played();
    const start = CLOSED + DAY_MS;
    played.flush(1_000_000, start);
    for (let now = start; now < start + 7 * DAY_MS; now += 10 * MINUTE) {
      if (now > start + HOUR) played.flush(5, now);
      played.compact(now);
    }
    expect(played.jobs).toBeLessThanOrEqual(7 * 24 + 1);
    expect(played.runsMax).toBeLessThanOrEqual(8);
  });

  test("an import of old data writes a day once or twice after the last of its flushes", () => {
    const played = new Played();
    const start = CLOSED + 1000 * DAY_MS;
    // a flush every 5 s for ten minutes, all of one day long ago
    for (let now = start; now < start + 20 * MINUTE; now += 5000) {
      if (now < start + 10 * MINUTE) played.flush(500_000, now);
      played.compact(now);
    }
    expect(played.runs).toMatchObject([{ closed: true, rows: 60_000_000 }]);
    expect(played.rewritten / played.flushed).toBeLessThanOrEqual(2.5);
  });
});
