// Series ids, tags, key records and last times compared with plain maps; growth under readers; memory that runs out.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, canonicalKey, readSeries } from "../../../test/support/rows/rows.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "./series-dictionary.ts";

const I64_MIN = -(2n ** 63n);
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const TAGS: ColumnDef[] = [7, 3, 12, 5, 400].map((id) => ({ id, name: `tag${id}`, type: ColumnType.tag }));
type Tags = Record<string, string>;

function create(lastTimeFloorNs = I64_MIN): SeriesDictionary {
  return new SeriesDictionary(kernel, { lastTimeFloorNs, reclaimer: RECLAIM_AT_ONCE });
}

/** The line parser's new-series records; its tag column indices are those of TAGS, in an order of the line's own. */
function writeRecords(series: readonly Tags[], below: (n: number) => number): number {
  const words: number[] = [];
  for (const tags of series) {
    const present = TAGS.map((_, i) => i).filter((i) => tags[TAGS[i]!.name] !== undefined);
    for (let i = present.length - 1; i > 0; i--) {
      const j = below(i + 1);
      [present[i], present[j]] = [present[j]!, present[i]!];
    }
    words.push(present.length);
    for (const i of present) {
      const value = new TextEncoder().encode(tags[TAGS[i]!.name]);
      words.push(i, arena.bytes(value), value.length);
    }
  }
  return arena.u32(words);
}

function resolve(dictionary: SeriesDictionary, series: readonly Tags[], below: (n: number) => number): number[] {
  const out = arena.alloc(series.length * 4);
  dictionary.resolveRecords(writeRecords(series, below), series.length, arena.u32(TAGS.map(({ id }) => id)), out);
  return [...kernel.u32.slice(out / 4, out / 4 + series.length)];
}

function randomTags(below: (n: number) => number): Tags {
  const tags: Tags = {};
  for (const { name } of TAGS) {
    if (below(3) === 0) continue;
    // lengths around the inline limit of views, and now and then more than a chunk
    tags[name] = "x".repeat([0, 1, 8, 11, 12, 13, 40, 700][below(8)]!) + below(4);
  }
  return tags;
}

const keyOf = (tags: Tags) => Buffer.from(canonicalKey(TAGS, tags)).toString("latin1");

describe("SeriesDictionary", () => {
  test.each([1, 2, 3, 4])("gives ids in order of first appearance and keeps tags, seed %i", (seed) => {
    const below = prng(seed);
    const dictionary = create();
    const ids = new Map<string, number>();
    const tagsById: Tags[] = [];
    for (let round = 0; round < 12; round++) {
      const series = Array.from({ length: below(120) }, () => randomTags(below));
      const expected = series.map((tags) => {
        const key = keyOf(tags);
        if (!ids.has(key)) ids.set(key, tagsById.push(tags) - 1);
        return ids.get(key)!;
      });
      expect(resolve(dictionary, series, below)).toEqual(expected);
      const view = dictionary.view();
      expect(view.seriesCount).toBe(tagsById.length);
      tagsById.forEach((tags, id) => {
        expect(readSeries(kernel, TAGS, view, id)).toEqual(tags);
      });
    }
    // the same keys, as the log replays them
    tagsById.forEach((tags, id) => {
      const key = canonicalKey(TAGS, tags);
      expect(dictionary.insertKey(arena.bytes(key), key.length)).toBe(id);
    });
    dictionary.release();
  });

  test("a series without tags, and a value that is empty, are series of their own", () => {
    const dictionary = create();
    const below = prng(1);
    expect(resolve(dictionary, [{}, { tag3: "" }, { tag7: "" }, {}, { tag3: "" }], below)).toEqual([0, 1, 2, 0, 1]);
    expect(readSeries(kernel, TAGS, dictionary.view(), 0)).toEqual({});
    expect(readSeries(kernel, TAGS, dictionary.view(), 1)).toEqual({ tag3: "" });
    dictionary.release();
  });

  test("a tag column added later is absent from earlier series and changes no key", () => {
    const dictionary = create();
    const below = prng(1);
    resolve(dictionary, [{ tag7: "a" }], below);
    dictionary.addTagColumn(5);
    dictionary.addTagColumn(5);
    dictionary.addTagColumn(3);
    expect(dictionary.view().tags.map(({ columnId }) => columnId)).toEqual([3, 5, 7]);
    expect(resolve(dictionary, [{ tag7: "a" }, { tag7: "a", tag3: "b" }], below)).toEqual([0, 1]);
    expect(readSeries(kernel, TAGS, dictionary.view(), 0)).toEqual({ tag7: "a" });
    dictionary.release();
  });

  test("views are the same object until something changes, and stay readable while arrays move", () => {
    const frees: (() => void)[] = [];
    const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: I64_MIN, reclaimer: { defer: (free) => frees.push(free) } });
    const below = prng(1);
    const series = Array.from({ length: 1000 }, (_, i) => ({ tag7: `host-${i}`, tag3: `region with a long name ${i}` }));
    resolve(dictionary, series.slice(0, 3), below);
    const early = dictionary.view();
    expect(dictionary.view()).toBe(early);
    resolve(dictionary, series, below);
    expect(dictionary.view()).not.toBe(early);
    expect(frees.length).toBeGreaterThan(0);
    for (let id = 0; id < 3; id++) expect(readSeries(kernel, TAGS, early, id)).toEqual(series[id]!);
    dictionary.release();
    for (const free of frees) free();
  });

  test("gives all its memory back", () => {
    const before = kernel.heap.usedBytes;
    const dictionary = create();
    const below = prng(9);
    for (let round = 0; round < 5; round++) {
      resolve(
        dictionary,
        Array.from({ length: 400 }, () => randomTags(below)),
        below,
      );
    }
    dictionary.addTagColumn(999);
    expect(dictionary.memoryBytes).toBeGreaterThan(400 * 16);
    dictionary.release();
    arena.free();
    expect(kernel.heap.usedBytes).toBe(before);
  });

  test("10,000 new series of 10 tags, and growth through many doublings", () => {
    const columns: ColumnDef[] = Array.from({ length: 10 }, (_, i) => ({ id: i + 1, name: `t${i}`, type: ColumnType.tag }));
    const words: number[] = [];
    for (let s = 0; s < 10_000; s++) {
      words.push(10);
      for (let t = 0; t < 10; t++) {
        const value = new TextEncoder().encode(t === 4 ? `host_${s}` : `value-${t}-${s % (t + 2)}`);
        words.push(t, arena.bytes(value), value.length);
      }
    }
    const records = arena.u32(words);
    const out = arena.alloc(40_000);
    const columnIds = arena.u32(columns.map(({ id }) => id));
    const dictionary = create();
    dictionary.resolveRecords(records, 10_000, columnIds, out);
    expect(dictionary.seriesCount).toBe(10_000);
    expect(readSeries(kernel, columns, dictionary.view(), 7_777)["t4"]).toBe("host_7777");
    expect(dictionary.view().tags.map(({ valueCount }) => valueCount)).toEqual([3, 4, 5, 6, 10_001, 8, 9, 10, 11, 12]);
    dictionary.release();
  });
});

test("keys of equal hash and length are different series", () => {
  // 300,000 keys have some ten pairs of equal 32-bit hashes: n² / 2^33
  const count = 300_000;
  const keyBytes = 14;
  const [keys, out] = [arena.alloc(count * (8 + keyBytes)), arena.alloc(count * 8)];
  const view = new DataView(kernel.memory.buffer);
  for (let i = 0, at = keys; i < count; i++, at += 8 + keyBytes) {
    view.setUint32(at, i, true);
    view.setUint32(at + 4, keyBytes, true);
    view.setUint32(at + 8, 7, true);
    view.setUint32(at + 12, keyBytes - 8, true);
    kernel.u8.set(Buffer.from(String(i).padStart(6, "0")), at + 16);
  }
  const dictionary = create();
  dictionary.insertRecords(keys, count * (8 + keyBytes), out);
  expect(dictionary.seriesCount).toBe(count);
  expect(dictionary.view().tags[0]!.valueCount).toBe(count + 1);
  dictionary.release();
});

// every allocation in turn finds the memory full
test("a failed allocation loses no memory, and the next try succeeds", () => {
  const below = prng(5);
  const series = Array.from({ length: 60 }, () => randomTags(below));
  const records = writeRecords(series, below);
  const [columnIds, out] = [arena.u32(TAGS.map(({ id }) => id)), arena.alloc(series.length * 4)];
  const alloc = kernel.heap.alloc.bind(kernel.heap);
  const before = kernel.heap.usedBytes;
  let failed = 0;
  for (let failAt = 1, done = false; !done; failAt++) {
    let calls = 0;
    let dictionary: SeriesDictionary | undefined;
    kernel.heap.alloc = (bytes) => {
      if (++calls === failAt) throw new Error("full");
      return alloc(bytes);
    };
    try {
      dictionary = create();
      dictionary.resolveRecords(records, series.length, columnIds, out);
      done = true;
    } catch (error) {
      expect((error as Error).message).toBe("full");
      failed++;
    } finally {
      kernel.heap.alloc = alloc;
    }
    dictionary?.resolveRecords(records, series.length, columnIds, out);
    series.forEach((tags, i) => {
      if (dictionary !== undefined) expect(readSeries(kernel, TAGS, dictionary.view(), kernel.u32[out / 4 + i]!)).toEqual(tags);
    });
    dictionary?.release();
    expect(kernel.heap.usedBytes).toBe(before);
  }
  expect(failed).toBeGreaterThan(20);
});

describe("unseenKeys", () => {
  const series: Tags[] = [{ tag7: "a" }, { tag3: "value of some length" }, {}, { tag7: "b", tag3: "c" }];

  /** The records as [id, key]. */
  function listed(dictionary: SeriesDictionary, rows: number[], stamp: number): [number, string][] {
    const records = dictionary.unseenKeys(arena.u32(rows), rows.length, stamp);
    const data = Buffer.from(kernel.copyOut(records.ptr, records.bytes));
    const found: [number, string][] = [];
    for (let at = 0; at < data.length; at += 8 + data.readUInt32LE(at + 4)) {
      found.push([data.readUInt32LE(at), data.toString("latin1", at + 8, at + 8 + data.readUInt32LE(at + 4))]);
    }
    expect(records.count).toBe(found.length);
    if (records.count > 0) records.release();
    return found;
  }

  test("lists a series once per stamp, in order of its first row", () => {
    const dictionary = create();
    resolve(dictionary, series, prng(1));
    const key = (id: number): [number, string] => [id, keyOf(series[id]!)];
    expect(listed(dictionary, [2, 0, 2, 0, 0], 1)).toEqual([key(2), key(0)]);
    expect(listed(dictionary, [0, 1, 2], 1)).toEqual([key(1)]);
    expect(listed(dictionary, [0, 1, 2], 1)).toEqual([]);
    expect(listed(dictionary, [3, 2], 2)).toEqual([key(3), key(2)]);
    expect(listed(dictionary, [], 3)).toEqual([]);
    dictionary.release();
  });

  test("forgotten records are listed again", () => {
    const dictionary = create();
    resolve(dictionary, series, prng(1));
    listed(dictionary, [1], 1);
    const records = dictionary.unseenKeys(arena.u32([0, 1, 2]), 3, 1);
    dictionary.forget(records);
    records.release();
    expect(listed(dictionary, [0, 1, 2], 1).map(([id]) => id)).toEqual([0, 2]);
    dictionary.release();
  });

  test("another dictionary reads the records back", () => {
    const dictionary = create();
    resolve(dictionary, series, prng(1));
    const records = dictionary.unseenKeys(arena.u32([3, 1, 0, 2]), 4, 1);
    const replayed = create();
    resolve(replayed, [{ tag12: "was here first" }], prng(1));
    const pairs = arena.alloc(records.bytes);
    expect(replayed.insertRecords(records.ptr, records.bytes, pairs)).toBe(4);
    expect([...kernel.u32.slice(pairs / 4, pairs / 4 + 8)]).toEqual([3, 1, 1, 2, 0, 3, 2, 4]);
    expect(readSeries(kernel, TAGS, replayed.view(), 1)).toEqual(series[3]!);
    expect(readSeries(kernel, TAGS, replayed.view(), 4)).toEqual({});
    records.release();
    dictionary.release();
    replayed.release();
  });
});

test("mapSeries maps batch-local ids, also in place", () => {
  const dictionary = create();
  const ids = arena.u32([2, 0, 1, 2]);
  dictionary.mapSeries(arena.u32([70, 50, 60]), ids, 4, ids);
  expect([...kernel.u32.slice(ids / 4, ids / 4 + 4)]).toEqual([60, 70, 50, 60]);
  dictionary.release();
});
