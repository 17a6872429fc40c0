// What the dictionary says of rows as they come: which may be there twice, and whether they ascend; beside sets of all points there were.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, canonicalKey } from "../../../test/support/rows/rows.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { union } from "../../model/rows/time-ranges.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "./series-dictionary.ts";

const I64_MIN = -(2n ** 63n);
const HOST: ColumnDef = { id: 7, name: "host", type: ColumnType.tag };
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

/** Of series 0 .. hosts - 1. */
function create(hosts: number, lastTimeFloorNs = I64_MIN, takenTimes: readonly TimeRange[] = []): SeriesDictionary {
  const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs, takenTimes, reclaimer: RECLAIM_AT_ONCE });
  for (let host = 0; host < hosts; host++) {
    const key = canonicalKey([HOST], { host: `${host}` });
    dictionary.insertKey(arena.bytes(key), key.length);
  }
  return dictionary;
}

describe("noteTimes", () => {
  const HOUR = 3_600_000_000_000n;
  // series ids, times, whether every row is newer than what its series had
  const STEPS: [floor: bigint, steps: [series: number[], times: bigint[], unique: boolean][]][] = [
    // unknown last times: anything above the floor is new
    [I64_MIN, [[[0, 1, 0], [1n, 1n, 2n], true]]],
    [I64_MIN, [[[0], [I64_MIN], false]]],
    [10n, [[[0], [10n], false]]],
    [10n, [[[0], [11n], true]]],
    // a repeated time, within the batch and across batches
    [I64_MIN, [[[0, 0], [5n, 5n], false]]],
    [
      I64_MIN,
      [
        [[0, 1], [5n, 9n], true],
        [[0, 1], [6n, 9n], false],
        [[0, 1], [7n, 10n], true],
      ],
    ],
    // an old row does not lower the last time
    [
      I64_MIN,
      [
        [[0], [HOUR], true],
        [[0], [1n], true],
        [[0], [1n], false],
        [[0], [HOUR], false],
        [[0], [HOUR + 1n], true],
      ],
    ],
    [I64_MIN, [[[0, 0], [2n ** 63n - 2n, 2n ** 63n - 1n], true]]],
    [I64_MIN, [[[], [], true]]],
  ];

  test.each(STEPS)("floor %p: %p", (floor, steps) => {
    const dictionary = create(2, floor);
    for (const [series, times, unique] of steps) {
      expect(dictionary.noteTimes(arena.u32(series), arena.i64(times), times.length)).toMatchObject({ unique });
    }
    dictionary.release();
  });

  /** Rows of series 0, one batch after the other: [times, whether any may be a duplicate, whether all are newer]. */
  const ORDERS: [what: string, floor: bigint, batches: [times: bigint[], overlaps: [bigint, bigint] | null, ascending: boolean][]][] = [
    [
      "a body that overtakes another",
      I64_MIN,
      [
        [[10n, 20n, 30n], null, true],
        [[70n, 80n, 90n], null, true],
        [[40n, 50n, 60n], null, false],
        [[100n], null, true],
      ],
    ],
    [
      "three in the wrong order",
      I64_MIN,
      [
        [[10n, 20n], null, true],
        [[70n, 80n], null, true],
        [[50n, 60n], null, false],
        [[30n, 40n], null, false],
        [[30n], [30n, 30n], false],
      ],
    ],
    [
      "the ends of a gap are rows",
      I64_MIN,
      [
        [[10n, 40n], null, true],
        [[10n, 40n, 25n], [10n, 40n], false],
        [[25n], [25n, 25n], false],
        [[24n, 26n, 11n, 39n], null, false],
        [[24n, 50n, 39n], [24n, 39n], false],
      ],
    ],
    [
      "backwards from the first row on",
      I64_MIN,
      [
        [[40n], null, true],
        [[30n, 20n], null, false],
        [[10n, I64_MIN + 1n], null, false],
        [[I64_MIN], [I64_MIN, I64_MIN], false],
      ],
    ],
    [
      "what is not newer than the floor may be anywhere",
      15n,
      [
        [[40n], null, true],
        [[16n], null, false],
        [[15n, 3n], [3n, 15n], false],
      ],
    ],
  ];

  test.each(ORDERS)("%s", (_, floor, batches) => {
    const dictionary = create(1, floor);
    for (const [times, overlap, ascending] of batches) {
      const overlaps = overlap === null ? {} : { overlaps: [{ minNs: overlap[0], maxNs: overlap[1] }] };
      const found = dictionary.noteTimes(arena.u32(times.map(() => 0)), arena.i64(times), times.length);
      expect(found).toEqual({ unique: overlap === null, ascending, ...overlaps });
    }
    dictionary.release();
  });

  test("times at which the table has no row are gaps of every series that is new", () => {
    const range = (min: number, max: number) => ({ minNs: BigInt(min), maxNs: BigInt(max) });
    const taken = [range(100, 200), range(210, 220), range(300, 400)];
    const dictionary = create(2, 400n, taken);
    const note = (series: number, ...times: number[]) => {
      const { unique, overlaps } = dictionary.noteTimes(arena.u32(times.map(() => series)), arena.i64(times.map(BigInt)), times.length);
      return unique ? "unique" : [Number(overlaps![0]!.minNs), Number(overlaps![0]!.maxNs)];
    };
    expect(note(0, 50, 51, 99, 205, 299, 401)).toBe("unique");
    expect(note(0, 50, 205)).toEqual([50, 205]);
    expect(note(1, 100, 150, 300, 400)).toEqual([100, 400]);
    expect(note(1, 98, 97, 230, 209, 500)).toBe("unique");
    expect(note(1, 97)).toEqual([97, 97]);
    // a series created later has had no rows either
    const key = canonicalKey([HOST], { host: "new" });
    const id = dictionary.insertKey(arena.bytes(key), key.length);
    expect(note(id, 97, 230, 450)).toBe("unique");
    expect(note(id, 230, 200)).toEqual([200, 230]);
    dictionary.release();
  });

  test("of a series that had rows before gaps were kept nothing is known", () => {
    const hosts = 65_537;
    const dictionary = create(hosts, 400n, [{ minNs: 100n, maxNs: 400n }]);
    const note = (series: number, time: bigint) => dictionary.noteTimes(arena.u32([series]), arena.i64([time]), 1).unique;
    expect(note(0, 50n)).toBe(false); // the first that is out of order: from now on gaps are kept
    expect(note(0, 50n)).toBe(false);
    expect(note(1, 50n)).toBe(false);
    const key = canonicalKey([HOST], { host: "new" });
    const id = dictionary.insertKey(arena.bytes(key), key.length);
    // gaps are kept of more and more series
    note(0, 500n);
    expect(note(id, 50n)).toBe(true);
    expect(note(id, 50n)).toBe(false);
    dictionary.release();
  });

  test("an outage that is longer than any gap between bodies does not hide those for ever", () => {
    const dictionary = create(1);
    const note = (...times: bigint[]) => dictionary.noteTimes(arena.u32(times.map(() => 0)), arena.i64(times), times.length);
    let time = 0n;
    for (let outage = 0; outage < 4; outage++) {
      time += HOUR;
      note(time);
    }
    // a row a minute for 17 hours
    for (let i = 0; i < 17 * 60; i++) {
      time += HOUR / 60n;
      note(time);
    }
    note(time + HOUR / 10n);
    expect(note(time + HOUR / 30n, time + HOUR / 20n)).toEqual({ unique: true, ascending: false });
    dictionary.release();
  });

  // the most series for which gaps are kept from the first row on
  test.each([65_536, 65_537])("%i series: gaps are kept, if need be from the first row on that is out of order", (count) => {
    const dictionary = create(count);
    const before = dictionary.memoryBytes;
    const note = (time: bigint) => dictionary.noteTimes(arena.u32([count - 1]), arena.i64([time]), 1);
    note(10n);
    expect(dictionary.memoryBytes > before).toBe(count === 65_536);
    note(20n);
    expect(note(15n).unique).toBe(count === 65_536);
    note(30n);
    expect(note(25n).unique).toBe(true);
    expect(dictionary.memoryBytes).toBeGreaterThan(before);
    const used = kernel.heap.usedBytes;
    const bytes = dictionary.memoryBytes;
    dictionary.release();
    expect(used - kernel.heap.usedBytes).toBeGreaterThanOrEqual(bytes);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("no point is there twice unnoticed, seed %i", (seed) => {
    const below = prng(seed);
    for (let round = 0; round < 20; round++) {
      // what files hold: anything up to the floor, or within some ranges
      const taken = union(
        Array.from({ length: below(8) }, () => ({ minNs: BigInt(below(300)), maxNs: BigInt(300 + below(5)) - BigInt(below(300)) })).filter(
          ({ minNs, maxNs }) => minNs <= maxNs,
        ),
      );
      const isKnown = below(2) === 0;
      const floor = taken.at(-1)?.maxNs ?? BigInt(below(40));
      const isTaken = (time: bigint) => time <= floor && (!isKnown || taken.some(({ minNs, maxNs }) => minNs <= time && time <= maxNs));
      const [hosts, step, jitter, bodyRows] = [1 + below(4), 1 + below(9), below(3), 1 + below(30)];
      const dictionary = create(hosts, floor, isKnown ? taken : []);
      // bodies that follow each other in time, some of them late, some sent again, with outages in between
      const bodies: { series: number[]; times: bigint[] }[] = [];
      let now = 30;
      for (let i = 0; i < 40; i++) {
        const body = { series: [] as number[], times: [] as bigint[] };
        for (let row = 0; row < bodyRows; row++, now += below(2) * step + below(1 + jitter)) {
          body.series.push(below(hosts));
          body.times.push(BigInt(below(15) === 0 ? below(now) : now));
        }
        if (below(6) === 0) now += 100 * below(10);
        bodies.push(body);
        if (below(8) === 0) bodies.push(bodies[below(bodies.length)]!);
      }
      for (let i = 0; i < bodies.length - 3; i++) {
        const other = i + below(4);
        [bodies[i], bodies[other]] = [bodies[other]!, bodies[i]!];
      }
      const known = new Set<string>();
      const last = new Map<number, bigint>();
      for (const { series, times } of bodies) {
        const facts = dictionary.noteTimes(arena.u32(series), arena.i64(times), times.length);
        let ascending = true;
        series.forEach((id, i) => {
          const time = times[i]!;
          const isRepeated = known.has(`${id} ${time}`) || isTaken(time);
          const isOverlapped = (facts.overlaps ?? []).some(({ minNs, maxNs }) => minNs <= time && time <= maxNs);
          if (isRepeated) expect([facts.unique, isOverlapped]).toEqual([false, true]);
          ascending &&= time > (last.get(id) ?? floor);
          if (time > (last.get(id) ?? floor)) last.set(id, time);
          known.add(`${id} ${time}`);
        });
        expect(facts.ascending).toBe(ascending);
        expect(facts.unique).toBe(facts.overlaps === undefined);
      }
      dictionary.release();
      arena.free();
    }
  });

  test.each([1, 2, 3, 4])("rows of two or three connections are known to be unique, seed %i", (seed) => {
    const below = prng(seed);
    const connections = 2 + below(2);
    const hosts = 1 + below(5);
    const dictionary = create(hosts);
    // each connection sends the next body when its last one is through
    const waiting: number[] = [];
    let next = 0;
    for (let i = 0; i < 200; i++) {
      while (waiting.length < connections) waiting.push(next++);
      // the first may be some bodies behind the others, but not for ever
      const [body] = waiting.splice(i - waiting[0]! > 12 ? 0 : below(connections), 1);
      const rows = Array.from({ length: hosts * 20 }, (_, row) => ({
        host: row % hosts,
        time: BigInt(body! * 200 + Math.floor(row / hosts) * 10),
      }));
      const [series, times] = [arena.u32(rows.map(({ host }) => host)), arena.i64(rows.map(({ time }) => time))];
      expect(dictionary.noteTimes(series, times, rows.length).unique).toBe(true);
      arena.free();
    }
    dictionary.release();
  });
});
