// Answers that leave before they are whole: what an error behind them looks like, and that they come in pieces.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { Time } from "../../src/flux/values/value.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { KernelRowText } from "../../src/kernel/text/row-text.ts";
import { ANSWER_WINDOW_BYTES } from "../../src/workers/wire/messages.ts";
import { MemorySource } from "./memory-source.ts";

/** The last row is a table of its own, at which the script fails. */
const failing = (rows: number) => `import "generate"
generate.from(count: ${rows}, fn: (n) => n, start: 2024-01-01T00:00:00Z, stop: 2024-01-02T00:00:00Z)
  |> map(fn: (r) => ({r with g: if r._value < ${rows - 1} then "a" else "z"}))
  |> group(columns: ["g"])
  |> filter(fn: (r) => if r.g == "z" then die(msg: "enough") else true)`;

function pieces(text: string): string[] {
  const query = { text, now: new Time(0n), dialect: { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS } };
  return [...answerQuery(query, fluxLibrary(), new MemorySource())].filter((piece) => typeof piece === "string");
}

test("an error behind a short beginning is the whole answer", () => {
  expect(() => pieces(failing(10))).toThrow(/enough/);
});

test("an error behind a long beginning is a table of its own", () => {
  const answer = pieces(failing(5000));
  expect(answer.length).toBeGreaterThan(1);
  const text = answer.join("");
  expect(text.match(/^,,\d+,/gm)!.length).toBe(4999);
  expect(text.slice(text.indexOf("#datatype,string,string\r\n"))).toMatch(
    /^#datatype,string,string\r\n#group,true,true\r\n#default,,\r\n,error,reference\r\n,"?.*enough.*"?,\r\n$/,
  );
});

/** Rows of about 50 bytes, of 100 kB in a column of texts, and of 100 kB in the key; tables of few rows and of many. */
const ANSWERS: readonly (readonly [name: string, script: string])[] = [
  ["short rows", "rows(count: 200000)"],
  ["long texts", `rows(count: 200) |> map(fn: (r) => ({r with text: strings.repeat(v: "ab", i: 50000) + string(v: r._value)}))`],
  ["long keys", `rows(count: 200) |> set(key: "text", value: strings.repeat(v: "ä", i: 50000)) |> group(columns: ["text"])`],
  [
    "small tables",
    `rows(count: 300) |> map(fn: (r) => ({r with text: strings.repeat(v: "ab", i: 50000), g: r._value / 10})) |> group(columns: ["g"])`,
  ],
];

test.each(ANSWERS)("a reader that has stopped keeps less than 4 MiB waiting: %s", (_, script) => {
  const text = `import "generate"\nimport "strings"
rows = (count) => generate.from(count: count, fn: (n) => n, start: 2024-01-01T00:00:00Z, stop: 2024-01-02T00:00:00Z)\n${script}`;
  for (const kernelRows of [undefined, { maker: new KernelRowText(Kernel.create()) }]) {
    const query = {
      ...{ text, now: new Time(0n), dialect: { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS } },
      ...(kernelRows === undefined ? {} : { kernelRows }),
    };
    let [bytes, most] = [0, 0];
    for (const piece of answerQuery(query, fluxLibrary(), new MemorySource())) {
      if (piece === null || piece instanceof Promise) continue;
      const length = Buffer.byteLength(piece);
      bytes += length;
      if (length > most) most = length;
    }
    expect(bytes).toBeGreaterThan(5 << 20);
    // what the worker sends before it waits for the reader, and the piece that it has made then
    expect(ANSWER_WINDOW_BYTES + most).toBeLessThan(4 << 20);
  }
});
