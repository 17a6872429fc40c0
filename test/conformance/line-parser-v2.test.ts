// Lines by the rules of 2.x, where they differ from those of 3.x; the recorded ones are in test/vectors/v2, random ones in test/fuzz.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { LineParser } from "../../src/kernel/parse/line-parser.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { expectV2Agreement } from "./line-parser-v2.ts";
import { KernelReader } from "./parsed-lines.ts";

const kernel = Kernel.create();
let reader: KernelReader;
beforeEach(() => {
  reader = new KernelReader(kernel, new LineParser(kernel, undefined, "v2"));
});
afterEach(() => reader.parser.release());

/** As one text each: table, tags, fields. */
function rowsOf(text: string): string[] {
  const { tables } = expectV2Agreement(reader, Buffer.from(text), Precision.nanosecond);
  return tables.flatMap(({ name, rows }) =>
    rows.map(({ tags, fields }) => [name, ...tags.map(([k, v]) => `${k}:${v}`), ...fields.map(([k, , v]) => `${k}=${v}`)].join("|")),
  );
}

function fatesOf(text: string): string[] {
  return expectV2Agreement(reader, Buffer.from(text), Precision.nanosecond).errors.map(({ fate }) => fate);
}

test.each<[line: string, row: string]>([
  // numbers
  ["m f=.5,g=1.,h=-.5,i=1.e2,j=.5e1 1", "m|f=0.5|g=1|h=-0.5|i=100|j=5"],
  ["m f=007i,g=-0i 1", "m|f=7|g=0"],
  // backslashes stay, except before what they escape
  ["a\\\\b,c\\\\d=e\\\\f g\\\\h=1 1", "a\\\\b|c\\\\d:e\\\\f|g\\\\h=1"],
  ["a\\=b,c\\=d=e\\=f g\\=h=1 1", "a\\=b|c=d:e=f|g=h=1"],
  ["a\\ b\\,c,d=\\\\ e f=1 1", "a b,c|d:\\ e|f=1"],
  ['m f\\"g=1 1', 'm|f"g=1'],
  // tabs and returns are characters of names
  ["a\tb,c=d\te f\tg=1 1", "a\tb|c:d\te|f\tg=1"],
  ["m,a=b\rc f=1 1", "m|a:b\rc|f=1"],
  // blanks between the parts
  ["\t \0m \t\0f=1 \t1  ", "m|f=1"],
  // texts: between the first quote and the last byte
  ['m f="a\\"b\\\\c\\d" 1', 'm|f=a"b\\c\\d'],
  ['m f="a"b"c" 1', 'm|f=a"b"c'],
  ['m f="two\nlines, a=1" 1', "m|f=two\nlines, a=1"],
  // fields called time are left out, and of two of one name the first
  ["m time=1,f=2 1", "m|f=2"],
  ["m f=1,f=2,g=3,f=4 1", "m|f=4|g=3"],
  ["m _field=1 1", "m|_field=1"],
  ["m,a==b f=1 1", "m|a:=b|f=1"],
])("%j is a row", (line, row) => {
  expect(rowsOf(line)).toEqual([row]);
  // known by now
  expect(rowsOf(`${line}\n${line}`)).toEqual([row, row]);
});

test.each([
  ...["m,a=b=c f=1", "m,_field=x f=1", "m,_measurement=x f=1", "m,time=x f=1", "m,a=1,b=2,a=3 f=1"],
  ...["m f=1\r", "m f=1 1\r", "m f=1 9223372036854775807", "m f=1 -9223372036854775807", "m f=1 1 x", "m f=1 1\t"],
  ...["m f=1e400", "m f=1e", "m f=.", "m f=-", "m f=-.", "m f=1i2", "m f=+1", "m f=1.0i", "m f=-1u", "m f=NaN", "m f=tru"],
  ...[",a=b f=1", "m", "m ", "m f", "m f=", "m =1", "m f=1,", "m f=1,=2", 'm f="open', "m a\\\\=1", "m f=1\tg=2", "\r"],
  ...[`${"k".repeat(65_536)} f=1`, `m ${"f".repeat(65_531)}=1`],
])("%.40j cannot be parsed", (line) => {
  expect(fatesOf(line)).toEqual(["bad"]);
});

test.each(["m time=1", "m f=1,f=2i", 'm f=1,f="1"', "m,a=b a=1", `m g=1,f="${"x".repeat((1 << 20) + 1)}"`])(
  "%.40j is left out, and the lines around it are not",
  (line) => {
    const { tables, errors } = expectV2Agreement(reader, Buffer.from(`a v=1\n${line}\nb v=2`), Precision.nanosecond);
    expect(tables.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(errors.map(({ fate }) => fate)).toEqual(["left out"]);
  },
);

test.each([`m,${"k".repeat(65_526)}=${"v".repeat(1)} f=1`, `${"k".repeat(65_530)} f=1`, `m f="${"x".repeat(1 << 20)}"`])(
  "%.20j is as long as it may be",
  (line) => expect(fatesOf(line)).toEqual([]),
);

test.each<[line: string, byte: number]>([
  ["m\xff f=1", 1],
  ["m,t=\xff f=1", 4],
  ["m \xff=1", 2],
  ['m f="\xff"', 5],
  ['m f="\\"\xff\\\\"', 7],
])("%j has a byte that is no UTF-8 at %d", (line, byte) => {
  const body = Buffer.from(`m f=1\n${line}`, "latin1");
  const { errors } = reader.parse(body, { precision: Precision.nanosecond, receiveTimeNs: 0n });
  expect(errors.map(({ message }) => message)).toEqual([`Invalid UTF-8 at byte ${byte} of the line`]);
});

describe("where lines end", () => {
  test("a quote that is not closed hides all that follows", () => {
    expect(fatesOf('m f="a\nm f=1\nm f=2')).toEqual(["bad"]);
    expect(fatesOf('m,a="b f=1\nm f=2')).toEqual([]);
  });

  test("blank lines and comments", () => {
    expect(rowsOf("\n \n\t\0\n# a\n  # b\nm f=1\n\n")).toEqual(["m|f=1"]);
    expect(fatesOf("m f=1\r\n\r\nm f=2")).toEqual(["bad", "bad"]);
  });
});

test("series whose tags have the names of the last new one, until a value has an equals sign", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `m,host=h${i},zone=${i === 30 ? "a=b" : "z"} f=${i} ${i}`);
  expect(fatesOf(lines.join("\n"))).toEqual(["bad"]);
});

test("tags of a series are told again in a later body", () => {
  rowsOf("m,a\\=b=c\\\\d f=1");
  const { view } = reader.parser;
  const target = kernel.heap.alloc(view.seriesRecordBytes({ tableIndex: 0, seriesId: 0 }));
  view.writeSeriesRecord({ tableIndex: 0, seriesId: 0 }, target);
  expect(reader.readRecord(target, ["a=b"]).tags).toEqual([["a=b", "c\\\\d"]]);
});
