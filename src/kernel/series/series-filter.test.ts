// Which series predicates want, against looking at each series' tags: few and many values, sorted and unsorted dictionaries, codes in
// order and in any, absent tags, texts that differ at either end only.
import { afterEach, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena } from "../../../test/support/rows/rows.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import type { DictionaryView, TagColumnView } from "../../model/rows/run.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesFilter } from "./series-filter.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

type Below = (n: number) => number;

const LONG = "a text with more than twelve bytes";
const TEXTS = [
  "",
  "a",
  "é",
  "exactly12byt",
  "thirteen byte",
  LONG,
  `${LONG}.`,
  `${LONG}!`,
  `.${LONG}`,
  `!${LONG}`,
  ...Array.from({ length: 60 }, (_, i) => `host_${i}`),
  ...Array.from({ length: 30 }, (_, i) => `host ${i} with a long name`),
];

/** A tag column of random series: the texts by code, null for code 0, and the codes of the series. */
function column(below: Below, columnId: number, seriesCount: number): { view: TagColumnView; texts: (string | null)[]; codes: number[] } {
  const used = TEXTS.filter(() => below(2) === 0);
  const isSorted = below(2) === 0;
  if (isSorted) used.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  else used.sort(() => below(2) - 0.5);
  const texts = [null, ...used];
  const codes = Array.from({ length: seriesCount }, () => (below(6) === 0 ? 0 : below(texts.length)));
  const inOrder = below(2) === 0;
  if (inOrder) codes.sort((a, b) => a - b);
  const view = { columnId, codesPtr: arena.u32(codes), valuesPtr: arena.views(texts), valueCount: texts.length, inOrder };
  return { view: isSorted ? { ...view, isSorted } : view, texts, codes };
}

function predicate(below: Below, columnId: number): TagPredicate {
  const count = [0, 1, 2, 8, 9, 40][below(6)]!;
  return { columnId, values: Array.from({ length: count }, () => (below(8) === 0 ? null : (TEXTS[below(TEXTS.length)] ?? null))) };
}

test.each([1, 2, 3, 4, 5, 6])("agrees with looking at each series, seed %i", (seed) => {
  const below = prng(seed);
  for (let round = 0; round < 60; round++) {
    const before = kernel.heap.usedBytes;
    const seriesCount = 1 + below(70);
    const columns = [1, 2, 3].slice(0, below(4)).map((id) => column(below, id, seriesCount));
    const dictionary: DictionaryView = { id: 1, seriesCount, tags: columns.map(({ view }) => view) };
    const predicates = Array.from({ length: below(4) }, () => predicate(below, 1 + below(4)));
    const expected = Array.from({ length: seriesCount }, (_, series) =>
      predicates.every(({ columnId, values }) => {
        const found = columns.find(({ view }) => view.columnId === columnId);
        return values.includes(found === undefined ? null : found.texts[found.codes[series]!]!);
      }),
    );
    const filter = new SeriesFilter(kernel, predicates);
    const { none, wantedPtr, count, span } = filter.wanted(dictionary);
    expect(count).toBe(expected.filter((isWanted) => isWanted).length);
    const bytes = wantedPtr === 0 ? expected.map(() => (none ? 0 : 1)) : [...kernel.u8.subarray(wantedPtr, wantedPtr + seriesCount)];
    expect(bytes).toEqual(expected.map(Number));
    expect(expected.every((isWanted, series) => !isWanted || (series >= span.first && series < span.end))).toBe(true);
    // no list where none is needed
    if (expected.every((isWanted) => isWanted)) expect({ none, wantedPtr }).toEqual({ none: false, wantedPtr: 0 });
    if (expected.every((isWanted) => !isWanted)) expect(none).toBe(true);
    expect(filter.wanted(dictionary)).toEqual({ none, wantedPtr, count, span });
    filter.release();
    arena.free();
    expect(kernel.heap.usedBytes).toBeLessThanOrEqual(before);
  }
});
