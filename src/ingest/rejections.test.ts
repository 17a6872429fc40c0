// What is kept of lines that are not stored: the first ones of the body, and why any of them was refused.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { LIMITS } from "../model/limits.ts";
import { type ColumnDef, ColumnType } from "../model/rows/column.ts";
import { tooManyColumns } from "../storage/catalog/schema-limits.ts";
import { describeRejected, Rejections } from "./rejections.ts";

const MAX = LIMITS.lineErrorsReported;

test("the first lines of the body are kept, whatever groups they come in", () => {
  const below = prng(1);
  const groups = Array.from({ length: 5 }, () => Array.from({ length: 400 }, () => below(1e9)).sort((a, b) => a - b));
  const rejections = new Rejections([{ lineOffset: 5, message: "malformed", isParsed: false }], 3);
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
  expect(new Rejections([{ lineOffset: 0, message: tooManyColumns(500), isParsed: false }], 1).hasSchemaLimit).toBe(true);
});

// The reason given first for a line whose names disagree with each other and with the table, in the vendor's order.
const COLUMNS: ColumnDef[] = [
  { id: 0, name: "time", type: ColumnType.time },
  { id: 1, name: "f", type: ColumnType.float },
];
const TABLE = { columnsByName: new Map(COLUMNS.map((column) => [column.name, column])) };

function described(line: string, isParsed = true) {
  const body = new TextEncoder().encode(line);
  const rejected = { lineOffset: 0, message: "the parser's reason", isParsed };
  return describeRejected(body, [rejected], { dialect: undefined, schemaOf: (name) => (name === "m" ? TABLE : undefined) })[0]!;
}

const FLOAT = "invalid column type for column 'f', expected iox::column_type::field::float, got iox::column_type";
const CASES: [line: string, message: string][] = [
  ["m,f=x f=1.5", `${FLOAT}::tag`],
  ['m f=1,f="x"', `${FLOAT}::field::string`],
  ["m time=5", "invalid column type for column 'time', expected iox::column_type::timestamp, got iox::column_type::field::float"],
  ["other,f=x f=1.5", "the parser's reason"],
];
test.each(CASES)("%s", (line, message) => expect(described(line).errorMessage).toBe(message));

test("only well-formed lines are printed from their parts", () => {
  expect(described("m  f=2.0 1").originalLine).toBe("m f=2 1");
  expect(described("m  f=2.0 1", false)).toEqual({ errorMessage: "the parser's reason", lineNumber: 1, originalLine: "m  f=2.0 1" });
});

test("a line that is too long to be printed from its parts is given as it was sent", () => {
  const line = (length: number) => `m  f="${"x".repeat(length - 9)}" 1`;
  expect(described(line(4096)).originalLine).toBe(`m f=${"x".repeat(4087)} 1`);
  expect(described(line(4097)).originalLine).toBe(line(4097));
});
