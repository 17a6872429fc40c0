// Annotated CSV in scripts. Expected: the answers of InfluxDB 2.8.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;

/** Rows of the answer without their first three cells; what went wrong is the last line. */
function rows(csv: string, more = ""): string[] {
  const text = `import "csv"\ncsv.from(csv: ${JSON.stringify(csv)}${more})`;
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  let body = "";
  try {
    for (const piece of answerQuery({ text, now: NOW, dialect }, fluxLibrary(), new MemorySource())) body += piece ?? "";
  } catch (error) {
    return [(error as Error).message];
  }
  const lines = body.split("\r\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.slice(1).map((line) => line.replace(/^,[^,]*,[^,]*,/, ""));
}

function block(types: string, defaults: string, labels: string, lines: string): string {
  const count = types.split(",").length;
  return `#datatype,string,long,${types}\n#group,false,false${",false".repeat(count)}\n#default,_result,${defaults}\n,result,table,${labels}\n${lines}`;
}

const CELLS: readonly (readonly [type: string, cell: string, shown: string])[] = [
  ["boolean", "1", "true"],
  ["boolean", "T", "true"],
  ["boolean", "False", "false"],
  ["long:x", "+5", "5"],
  ["double", "0x1p-2", "0.25"],
  ["double", "-0X1.8P+1", "-3"],
  ["double", "0x_1p1", "2"],
  ["double", "1_0e1_0", "100000000000"],
  ["double", "infinity", "+Inf"],
  ["dateTime:2006-01-02", "2024-03-05", "2024-03-05T00:00:00Z"],
  ["dateTime:RFC3339", "2024-03-05T1:00:00+01:00", "2024-03-05T00:00:00Z"],
  ["dateTime:RFC3339Nano", '"2024-03-05T10:00:00,5Z"', "2024-03-05T10:00:00.5Z"],
];

test.each(CELLS)("a cell of %s: %s", (type, cell, shown) => {
  expect(rows(block(type, ",", "a", `,,0,${cell}\n`))).toEqual([shown]);
});

const BAD_CELLS: readonly (readonly [type: string, cell: string, problem: string])[] = [
  ["boolean", "yes", 'strconv.ParseBool: parsing "yes": invalid syntax'],
  // members of every object are neither values nor layouts
  ["boolean", "constructor", 'strconv.ParseBool: parsing "constructor": invalid syntax'],
  ["dateTime:constructor", "2024-03-05", 'parsing time "2024-03-05" as "constructor": cannot parse "2024-03-05" as "constructor"'],
  ["long", "9223372036854775808", 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ["unsignedLong", "18446744073709551616", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
  ["unsignedLong", "+1", 'strconv.ParseUint: parsing "+1": invalid syntax'],
  ["double", "1e400", 'strconv.ParseFloat: parsing "1e400": value out of range'],
  ["double", "0x10", 'strconv.ParseFloat: parsing "0x10": invalid syntax'],
  ["double", "1__0", 'strconv.ParseFloat: parsing "1__0": invalid syntax'],
  ["dateTime:RFC3339", "2024-03-05", 'parsing time "2024-03-05" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
  ["dateTime:RFC3339Nano", "a", 'parsing time "a" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "a" as "2006"'],
  ["dateTime", "2024-03-05T10:00:00Z", 'parsing time "2024-03-05T10:00:00Z": extra text: "2024-03-05T10:00:00Z"'],
];

test.each(BAD_CELLS)("no cell of %s: %s", (type, cell, problem) => {
  const [error] = rows(block(type, ",", "a", `,,0,${cell}\n`));
  expect(error).toBe(`error in csv.from(): ${problem}`);
});

test("members of every object are no types", () => {
  const answer = (type: string) => rows(block(type, ",", "a", ",,0,1\n"));
  expect(answer("constructor")).toEqual(answer("foo").map((text) => text.replaceAll("foo", "constructor")));
});

const SYNTAX = 'column "a" has invalid default value: strconv.ParseInt: parsing "d": invalid syntax';
const DEFAULTS: readonly (readonly [what: string, text: string, problem: string])[] = [
  ["that no cell needs", block("long", ",d", "a", ",,0,1\n"), SYNTAX],
  ["in a block without rows", block("long", ",d", "a", ""), SYNTAX],
  ["before a cell that is wrong", block("long,long", ",d,", "a,b", ",,0,1,x\n"), SYNTAX],
  ["before a type that there is not", block("long,foo", ",d,", "a,b", ",,0,1,x\n"), SYNTAX],
  ["of tables", block("long", "x,d", "a", ",,0,1\n"), "default Table ID is not an integer"],
  ["of tables, out of range", block("long", "9999999999999999999,", "a", ",,0,1\n"), "default Table ID is not an integer"],
];

test.each(DEFAULTS)("a wrong default %s", (_, text, problem) => {
  expect(rows(text)).toEqual([`error in csv.from(): failed to read metadata: ${problem}`]);
});

test("rows that say an error have no columns", () => {
  expect(rows(block("foo", ",x", "a", "").replace(",result", ",error").concat(",bad,0,\n"))).toEqual(["error in csv.from(): bad"]);
});

test("labels may repeat", () => {
  expect(rows(block("long,string", ",1,q", "a,a", ",,0,,\n,,0,3,4\n"))).toEqual(["1,q", "3,4"]);
});

const QUOTES: readonly (readonly [cells: string, shown: readonly string[]])[] = [
  ['"a"b",y\n', ['"a""b",y']],
  ['x,"y', ["x,y"]],
  ['x,"y\r', ["x,y"]],
  ['x,"', ["x,"]],
  ['x,"q\r\n,,0,z,y\n', ['x,"q', ",,0,z,y", '"']],
  ['x,""z\n', ['x,"""z', '"']],
  ['"q,\n,,0,z,y\n', ["error in csv.from(): wrong number of fields"]],
  ['"a"b,y\n', ["error in csv.from(): wrong number of fields"]],
];

test.each(QUOTES)("quotes out of place in %j", (cells, shown) => {
  const text = block("string,string", ",,", "a,b", `,,0,${cells}`);
  const lines = rows(text);
  // rows() takes the first cells of each line, of those within a cell too
  expect(lines).toEqual(shown.map((line) => line.replace(/^,[^,]*,[^,]*,/, "")));
});

test("lines end in a quoted cell as they do outside", () => {
  expect(rows('a,b\n"x\r\ny",1\n', ', mode: "raw") |> map(fn: (r) => ({same: r.a == "x\\ny"})')).toEqual(["true"]);
});

test("a line with no more than an empty cell in quotes is a row", () => {
  expect(rows('a\n""\n\n1\n', ', mode: "raw"')).toEqual(["", "1"]);
});

test("raw rows have as many cells as the first", () => {
  expect(rows("a,b\n1\n", ', mode: "raw"')).toEqual(["error in csv.from(): wrong number of fields"]);
});
