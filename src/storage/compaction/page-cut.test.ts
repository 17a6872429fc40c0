// Pages of rows whose text is more than 32 bits count.
import { expect, test } from "bun:test";
import { Blocks } from "../../kernel/memory/blocks.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { cutPages } from "./page-cut.ts";

test("rows that share one text of 1 MiB are 64 to a page, also 4096 of them", () => {
  const kernel = Kernel.create();
  const blocks = new Blocks(kernel);
  const rowCount = 4096;
  const view = blocks.allocViews(["x".repeat(1 << 20)]);
  const dataPtr = blocks.alloc(rowCount * 16);
  for (let row = 0; row < rowCount; row++) kernel.call.copyBytes(dataPtr + row * 16, view, 16);
  const kept = new Map([[1, { columnId: 1, type: ColumnType.string, dataPtr, validityPtr: 0 }]]);
  expect(cutPages(kernel, { kept, rest: null }, { rowCount, isLast: true })).toEqual(new Array(64).fill(64));
  // the same of columns that are not there
  const rest = new Uint32Array(rowCount).fill(1 << 20);
  expect(cutPages(kernel, { kept: new Map(), rest }, { rowCount, isLast: true })).toEqual(new Array(64).fill(64));
  expect(cutPages(kernel, { kept: new Map(), rest: rest.fill(1) }, { rowCount, isLast: true })).toEqual([rowCount]);
  blocks.release();
});
