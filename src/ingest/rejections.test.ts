// What is kept of lines that are not stored: the first ones of the body, and why any of them was refused.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { LIMITS } from "../model/limits.ts";
import { tooManyColumns } from "../storage/catalog/schema-limits.ts";
import { Rejections } from "./rejections.ts";

const MAX = LIMITS.lineErrorsReported;

test("the first lines of the body are kept, whatever groups they come in", () => {
  const below = prng(1);
  const groups = Array.from({ length: 5 }, () => Array.from({ length: 400 }, () => below(1e9)).sort((a, b) => a - b));
  const rejections = new Rejections([{ lineOffset: 5, message: "malformed" }], 3);
  for (const group of groups) {
    rejections.beginGroup();
    for (const offset of group) rejections.add(offset, `${offset}`);
  }
  const all = groups.flat().sort((a, b) => a - b);
  expect(rejections.first.map(({ lineOffset }) => lineOffset)).toEqual([5, ...all].slice(0, MAX));
  expect(rejections.count).toBe(3 + all.length);
  expect(rejections.hasSchemaLimit).toBe(false);
});

test("a limit is reported as the reason of any line, also beyond the reported lines", () => {
  const rejections = new Rejections([], 0);
  for (let i = 0; i < MAX; i++) rejections.add(i, "type");
  rejections.add(MAX, tooManyColumns(500));
  expect([rejections.hasSchemaLimit, rejections.first.length]).toEqual([true, MAX]);
  expect(new Rejections([{ lineOffset: 0, message: tooManyColumns(500) }], 1).hasSchemaLimit).toBe(true);
});
