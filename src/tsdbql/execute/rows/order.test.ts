// Rows in order of group, time and series against a sort of plain rows: near and far times, forwards and backwards.
import { expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { finish, STEP_ROWS } from "../../../model/steps.ts";
import { groupRows, orderRows } from "./order.ts";

const SEED = Number(process.env["SEED"] ?? 1);

const REACHES: [name: string, reachNs: bigint][] = [
  ["one instant", 1n],
  ["near", 50n],
  ["far", 2n ** 52n],
  ["farther apart than 2^53", 2n ** 62n],
];

test.each(REACHES)(`times that lie %s (seed ${SEED})`, (_name, reachNs) => {
  const below = prng(SEED);
  for (let round = 0; round < 100; round++) {
    const rowCount = below(60);
    const dictionary = ["b", "", "a"];
    const codes = Uint32Array.from({ length: rowCount }, () => below(3));
    const others = Uint32Array.from({ length: rowCount }, () => below(2));
    const times = BigInt64Array.from({ length: rowCount }, () => (BigInt(below(1000)) * reachNs) / 1000n - reachNs / 2n + BigInt(below(2)));
    const descending = below(2) === 0;
    const columns = [
      { type: "tag" as const, codes, dictionary },
      { type: "tag" as const, codes: others, dictionary: ["x", "y"] },
    ];
    const groups = finish(groupRows(columns, rowCount));
    const places = Uint32Array.from({ length: rowCount }, () => below(4));
    const series = below(2) === 0 ? places : null;
    const { rows, starts } = finish(orderRows(groups, times, descending, series));
    const found = Array.from(rows ?? Array.from({ length: rowCount }, (_, row) => row));
    const keyOf = (row: number) => [dictionary[codes[row]!]!, ["x", "y"][others[row]!]!].join(",");
    const wanted = Array.from({ length: rowCount }, (_, row) => row).sort((a, b) => {
      if (keyOf(a) !== keyOf(b)) return keyOf(a) < keyOf(b) ? -1 : 1;
      if (times[a] !== times[b]) return times[a]! < times[b]! === descending ? 1 : -1;
      if (series !== null && places[a] !== places[b]) return places[a]! < places[b]! === descending ? 1 : -1;
      return a - b;
    });
    expect(found).toEqual(wanted);
    expect(groups.tags.map(String)).toEqual([...new Set(wanted.map(keyOf))]);
    for (const [i, tags] of groups.tags.entries()) {
      expect(found.slice(starts[i], starts[i + 1]).every((row) => keyOf(row) === String(tags))).toBeTrue();
    }
  }
});

/** Group numbers row by row, as scans give them. */
const ARRIVALS: readonly (readonly [name: string, groupOf: (row: number, below: (limit: number) => number) => number])[] = [
  ["group by group", (row) => Math.floor(row / 13)],
  ["window by window", (row) => row % 97],
  ["windows that lack some", (row, below) => (row + (below(5) === 0 ? 1 : 0)) % 97],
  ["at random", (_, below) => below(400)],
];

test.each(ARRIVALS)("groups of several tags, %s", (_name, groupOf) => {
  const below = prng(SEED);
  const rowCount = 1500;
  const widths = [5, 1, 90, 3, 11];
  // many groups share each value, and some differ in one tag alone
  const tagsOf = (group: number) => widths.map((width, tag) => Math.floor(group / (tag + 1)) % width);
  const groups = Array.from({ length: rowCount }, (_, row) => groupOf(row, below));
  const columns = widths.map((width, tag) => ({
    type: "tag" as const,
    codes: Uint32Array.from(groups, (group) => tagsOf(group)[tag]!),
    // codes are in another order than their values
    dictionary: Array.from({ length: width }, (_, code) => `v${(code * 7) % 100}`),
  }));
  const found = finish(groupRows(columns, rowCount));
  const valuesOf = (row: number) => columns.map(({ codes, dictionary }) => dictionary[codes[row]!]!);
  const wanted = [...new Map(groups.map((_, row) => [JSON.stringify(valuesOf(row)), valuesOf(row)])).values()].sort((a, b) => {
    const at = a.findIndex((value, i) => value !== b[i]);
    return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
  });
  expect(found.tags).toEqual(wanted);
  expect(groups.every((_, row) => JSON.stringify(found.tags[found.groupOf[row]!]) === JSON.stringify(valuesOf(row)))).toBeTrue();
});

test("many groups with fewer rows than those of a step are sorted with pauses", () => {
  const below = prng(SEED);
  const stepCount = 16;
  const rowCount = stepCount * STEP_ROWS;
  const tags = Array.from({ length: 2 * stepCount }, (_, i) => [String(i).padStart(2, "0")]);
  const groupOf = Uint32Array.from({ length: rowCount }, (_, row) => Math.floor(row / (STEP_ROWS / 2)));
  const pausesOf = (times: BigInt64Array) => {
    const steps = orderRows({ tags, groupOf }, times, false, null);
    let pauses = 0;
    while (!steps.next().done) pauses++;
    return pauses;
  };
  // what looks at all rows before any is sorted
  const others = pausesOf(BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)));
  const unordered = BigInt64Array.from({ length: rowCount }, () => BigInt(below(1e9)));
  expect(pausesOf(unordered) - others).toBeGreaterThanOrEqual(stepCount);
});
