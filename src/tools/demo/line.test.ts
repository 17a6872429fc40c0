// Points as line protocol: what is escaped where, and what is left out.
import { expect, test } from "bun:test";
import { lineOf, type Point } from "./line.ts";

const T = 1_700_000_000_000_000_000n;
const point = (part: Partial<Point>): Point => ({ table: "t", tags: {}, fields: { f: { type: "float", value: 1 } }, timeNs: T, ...part });

const LINES: [name: string, part: Partial<Point>, line: string | null][] = [
  ["plain", { tags: { host: "a" } }, `t,host=a f=1 ${T}`],
  ["names and values with delimiters", { table: "my table,2", tags: { "a b": "x,y=z w" } }, `my\\ table\\,2,a\\ b=x\\,y\\=z\\ w f=1 ${T}`],
  ["a field name with a blank", { fields: { "adjusted CO2": { type: "float", value: "314.44" } } }, `t adjusted\\ CO2=314.44 ${T}`],
  ["quotes and backslashes in a string", { fields: { s: { type: "string", value: 'C:\\ "x"' } } }, `t s="C:\\\\ \\"x\\"" ${T}`],
  ["a string keeps its newline", { fields: { s: { type: "string", value: "a\nb" } } }, `t s="a\nb" ${T}`],
  [
    "types",
    { fields: { i: { type: "integer", value: "-5" }, b: { type: "boolean", value: "true" }, u: { type: "integer", value: 2n ** 62n } } },
    `t i=-5i,b=true,u=4611686018427387904i ${T}`,
  ],
  [
    "floats of every size",
    { fields: { a: { type: "float", value: "1e21" }, b: { type: "float", value: "0.10" } } },
    `t a=1e+21,b=0.1 ${T}`,
  ],
  ["empty tags are absent", { tags: { a: "", b: null, c: "  ", d: "x" } }, `t,d=x f=1 ${T}`],
  ["a tag is one line and has no open escape", { tags: { a: "x\r\ny\\" } }, `t,a=x\\ y f=1 ${T}`],
  ["null fields are left out", { fields: { a: { type: "float", value: null }, b: { type: "integer", value: 3 } } }, `t b=3i ${T}`],
  ["what a type cannot hold is left out", { fields: { a: { type: "float", value: "NaN" }, b: { type: "integer", value: "1.5" } } }, null],
  ["an empty number is no zero", { fields: { a: { type: "float", value: "" }, b: { type: "integer", value: "" } } }, null],
];

test.each(LINES)("a point as line protocol: %s", (_name, part, line) => expect(lineOf(point(part))).toBe(line));
