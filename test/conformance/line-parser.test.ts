// The suite for both parsers, and the goldens: each test/golden/line/*.lp with what it must become in the .json beside it.
// UPDATE=1 rewrites the .json files from the reference parser; read the diff.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { LineParser } from "../../src/kernel/parse/line-parser.ts";
import { COLUMN_TYPE_LABEL } from "../../src/model/rows/column.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { lineParserSuite } from "./line-parser.ts";
import { KernelReader, type PlainBody, type PlainParser } from "./parsed-lines.ts";
import { parseReference } from "./reference-parser.ts";

const kernel = Kernel.create();

function parseWithKernel(): PlainParser {
  const reader = new KernelReader(kernel, new LineParser(kernel));
  return (body, options) => reader.parse(body, options);
}

lineParserSuite("reference", () => parseReference);
lineParserSuite("kernel", parseWithKernel);

/** A body as a person reads it. */
function render({ tables, ...rest }: PlainBody): unknown {
  const readable = tables.map(({ name, rows }) => ({
    name,
    rows: rows.map(({ tags, fields, timeNs, lineOffset }) => ({
      lineOffset,
      tags: Object.fromEntries(tags),
      fields: Object.fromEntries(
        fields.map(([field, type, value]) => [field, [COLUMN_TYPE_LABEL[type].split("::").at(-1), String(value)]]),
      ),
      timeNs: String(timeNs),
    })),
  }));
  return { tables: readable, ...rest };
}

const FOLDER = join(import.meta.dir, "../golden/line");
const OPTIONS = { precision: Precision.auto, receiveTimeNs: 1_700_000_000_123_456_789n };

test.each(readdirSync(FOLDER).filter((file) => file.endsWith(".lp")))("golden %s", (file) => {
  const body = readFileSync(join(FOLDER, file));
  const expectedPath = join(FOLDER, file.replace(/lp$/, "json"));
  if (process.env.UPDATE) writeFileSync(expectedPath, `${JSON.stringify(render(parseReference(body, OPTIONS)), null, 1)}\n`);
  const expected = JSON.parse(readFileSync(expectedPath, "utf8"));
  const parse = parseWithKernel();
  expect(render(parseReference(body, OPTIONS))).toEqual(expected);
  // twice on one parser: what the first left behind must not show
  for (let i = 0; i < 2; i++) expect(render(parse(body, OPTIONS))).toEqual(expected);
});
