// Comma-separated text: quotes, line ends, and cells that are missing.
import { expect, test } from "bun:test";
import { parseCsv } from "./csv.ts";

const FILES: [text: string, rows: Record<string, string>[]][] = [
  [
    "a,b\n1,2\n3,4\n",
    [
      { a: "1", b: "2" },
      { a: "3", b: "4" },
    ],
  ],
  ["a,b\r\n1,2", [{ a: "1", b: "2" }]],
  ['a,b\n"x, y","say ""hi"""\n', [{ a: "x, y", b: 'say "hi"' }]],
  ['a,b\n"two\nlines",2\n', [{ a: "two\nlines", b: "2" }]],
  [
    "a,b\n,\n1\n",
    [
      { a: "", b: "" },
      { a: "1", b: "" },
    ],
  ],
  ["\ufeffa\n1\n", [{ a: "1" }]],
  ["a,b\n1,", [{ a: "1", b: "" }]],
  ["", []],
  ["a,b\n", []],
];

test.each(FILES)("CSV is parsed: %j", (text, rows) => expect(parseCsv(text)).toEqual(rows));
