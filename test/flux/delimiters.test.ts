// Cells with parts that are the delimiter: what release 2.8.0 answers.
import { expect, test } from "bun:test";
import { answerQuery } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { Time } from "../../src/flux/values/value.ts";
import { MemorySource } from "./memory-source.ts";

const SCRIPT = 'import "array"\narray.from(rows: [{a: -1, b: "x", c: 2020-01-01T00:00:00Z, d: true, e: 1.5}])';

test.each([
  [":", '::0:-1:x:"2020-01-01T00:00:00Z":true:1.5'],
  ["-", '--0-"-1"-x-"2020-01-01T00:00:00Z"-true-1.5'],
  [".", '..0.-1.x.2020-01-01T00:00:00Z.true."1.5"'],
  ["1", '1101"-1"1x1"2020-01-01T00:00:00Z"1true1"1.5"'],
  ["t", 'tt0t-1txt2020-01-01T00:00:00Zt"true"t1.5'],
  [";", ";;0;-1;x;2020-01-01T00:00:00Z;true;1.5"],
])("delimiter %s", (delimiter, row) => {
  const dialect = { header: false, delimiter, annotations: ["default"] } as const;
  let text = "";
  for (const piece of answerQuery({ text: SCRIPT, now: new Time(0n), dialect }, fluxLibrary(), new MemorySource())) {
    if (piece !== null && !(piece instanceof Promise)) text += typeof piece === "string" ? piece : Buffer.from(piece).toString();
  }
  expect(text.split("\r\n")[1]).toBe(row);
});
