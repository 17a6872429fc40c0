// How lines with wrong types are printed. The expectations were recorded from the vendor.
import { expect, test } from "bun:test";
import { displayedLine, lineParts } from "./line-display.ts";

const CASES: [line: string, displayed: string][] = [
  // numbers
  ["m v=2.50 1700", "m v=2.5 1700"],
  ["m,t=a  v=1e3   1700", "m,t=a v=1000 1700"],
  ["m v=-0.0", "m v=-0"],
  ["m v=1e21", "m v=1000000000000000000000"],
  ["m v=1.5e300", `m v=15${"0".repeat(299)}`],
  ["m v=1e-7", "m v=0.0000001"],
  ["m v=-1.25e-7", "m v=-0.000000125"],
  ["m v=1. 007", "m v=1 7"],
  ["m v=007i", "m v=7i"],
  ["m v=+5i,w=7u", "m v=5i,w=7u"],
  // truth values
  ["m v=T,w=FALSE", "m v=true,w=false"],
  // strings
  ['m,t=a v="a b" 1', "m,t=a v=a b 1"],
  ['m v="a,b c=d",w="" 5', "m v=a,b c=d,w= 5"],
  ['m v="a\\"b"', 'm v=a\\"b'],
  ['m v="a\\\\b"', "m v=a\\b"],
  // escapes outside of strings stay
  ['m\\ y,a\\,b=c\\=d f\\=g="s"', "m\\ y,a\\,b=c\\=d f\\=g=s"],
];
test.each(CASES)("%j", (line, displayed) => expect(displayedLine(lineParts(line)!)).toBe(displayed));

test("names without their escapes, in the line's order", () => {
  const { tableName, tagNames, fields } = lineParts('m\\ y,b\\,c=x,a=y g=1,f\\ h="s" 1')!;
  expect([tableName, tagNames, fields.map(({ name }) => name)]).toEqual(["m y", ["b,c", "a"], ["g", "f h"]]);
});

test.each(["m", "m v", "m v=1 x"])("%j is no line", (line) => expect(lineParts(line)).toBeNull());
