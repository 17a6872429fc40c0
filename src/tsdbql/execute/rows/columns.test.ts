// Tag values of groups as codes, against the texts that were written: in any order of rows, of any length, with rows without a value.
import { expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { Kernel } from "../../../kernel/memory/kernel.ts";
import { Scratch } from "../../../kernel/memory/scratch.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { finish } from "../../../model/steps.ts";
import { growingColumn, type TagCells } from "./columns.ts";

const kernel = Kernel.create();
/** Up to what a view holds, in ASCII and beyond. */
const TEXTS: readonly string[] = [
  ...Array.from({ length: 200 }, (_, i) => `host_${i}`),
  ...Array.from({ length: 90 }, (_, i) => `long_host_${10 + i}`),
  ...["", "a", "twelve bytes", "ż", "zażółć", "🐢🐢🐢", "\u007f", "\u0080", "tab\t", 'a "b"', "A", "a\0"],
];

/** Row numbers of `TEXTS`, null for no value. */
type Rows = readonly (number | null)[];

const ORDERS: readonly (readonly [name: string, rows: (below: (limit: number) => number) => Rows])[] = [
  ["of one series", () => Array.from({ length: 700 }, () => 7)],
  ["of one series but the first", () => Array.from({ length: 700 }, (_, i) => (i < 75 ? 8 : 7))],
  ["of one series but the last", (below) => [...Array.from({ length: 700 }, () => 7), below(200)]],
  ["of one row", () => Array.from({ length: 75 }, () => 9)],
  ["series by series", () => Array.from({ length: 1300 }, (_, i) => Math.floor(i / 13))],
  ["window by window", () => Array.from({ length: 3020 }, (_, i) => i % TEXTS.length)],
  ["windows that lack some", (below) => Array.from({ length: 3000 }, (_, i) => i % 100).filter(() => below(9) > 0)],
  ["at random", (below) => Array.from({ length: 2000 }, () => below(TEXTS.length))],
  ["at random, few values", (below) => Array.from({ length: 500 }, () => below(3))],
  ["with absent ones", (below) => Array.from({ length: 1500 }, (_, i) => (below(4) === 0 ? null : i % 70))],
  ["forwards and backwards", () => Array.from({ length: 1200 }, (_, i) => (Math.floor(i / 60) % 2 === 0 ? i % 60 : 59 - (i % 60)))],
];

/** Writes views and a bitmap as the scan does; the heap is not needed, since all texts are short. */
function written(scratch: Scratch, rows: Rows): { readonly dataPtr: number; readonly validityPtr: number } {
  const bitmapBytes = (rows.length + 7) >> 3;
  const dataPtr = scratch.alloc(rows.length * 16 + bitmapBytes + 16);
  const validityPtr = dataPtr + rows.length * 16;
  kernel.u8.fill(0, dataPtr, validityPtr + bitmapBytes);
  for (const [row, text] of rows.entries()) {
    if (text === null) continue;
    const bytes = Buffer.from(TEXTS[text]!);
    kernel.u32[dataPtr / 4 + row * 4] = bytes.length;
    kernel.u8.set(bytes, dataPtr + row * 16 + 4);
    const at = validityPtr + (row >> 3);
    kernel.u8[at] = kernel.u8[at]! | (1 << (row & 7));
  }
  return { dataPtr, validityPtr: rows.includes(null) ? validityPtr : 0 };
}

test.each(ORDERS)("tags %s", (_, rowsOf) => {
  const below = prng(11);
  const scratch = new Scratch(kernel);
  const column = growingColumn(kernel, ColumnType.tag);
  const all: (number | null)[] = [];
  // a chunk after the other: views of an earlier one are gone
  for (let chunk = 0; chunk < 3; chunk++) {
    const rows = rowsOf(below).slice(chunk * 37);
    column.append(written(scratch, rows), rows.length);
    all.push(...rows);
    scratch.reset();
  }
  scratch.release();
  const { codes, dictionary } = finish(column.take(null, all.length)) as TagCells;
  expect(Array.from(codes, (code) => dictionary[code])).toEqual(all.map((text) => (text === null ? "" : TEXTS[text])));
  expect(new Set(dictionary).size).toBe(dictionary.length);
});
