// Answers that leave before they are whole: what an error behind them looks like, and that they come in pieces.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { Time } from "../../src/flux/values/value.ts";
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
