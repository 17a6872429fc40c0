// Each shape is what its name says, and no point comes twice: a bench that wrote duplicates would measure something else.
import { expect, test } from "bun:test";
import { HOSTILE_SHAPES, type Shape, shapedLines, tablesOf, WIDE_FIELDS } from "./shapes.ts";

const HOSTS = 20;
const ROWS = 3000;

function linesOf(shape: Shape): string[] {
  const bodies = [...shapedLines(shape, { hosts: HOSTS, rows: ROWS, seed: 1, bodyLines: 700 })].map((body) =>
    new TextDecoder().decode(body),
  );
  expect(bodies.map((body) => body.split("\n").length - 1)).toEqual([700, 700, 700, 700, 200]);
  return bodies.join("").trimEnd().split("\n");
}

/** Table, tags, fields as [name, value], time; no string of these shapes has a comma or an equals sign but one. */
function parse(line: string) {
  const [, key, fields, time] = /^(\S+) (.*) (\d{19})$/.exec(line)!;
  return { key: key!, pairs: fields!.split(",").map((pair) => pair.split("=")), timeNs: BigInt(time!) };
}

test.each([...HOSTILE_SHAPES, "wide table" as const, "random floats" as const])("%s: every point once, in its tables", (shape) => {
  const lines = linesOf(shape).map(parse);
  expect(new Set(lines.map(({ key, timeNs }) => `${key} ${timeNs}`)).size).toBe(ROWS);
  expect(new Set(lines.map(({ key }) => key.slice(0, key.indexOf(",")))).size).toBe(tablesOf(shape).length);
});

test("what is unusual is there", () => {
  const orders = (shape: Shape) =>
    new Set(
      linesOf(shape).map((line) =>
        parse(line)
          .pairs.map(([name]) => name)
          .join(),
      ),
    ).size;
  expect(orders("fields in changing order")).toBeGreaterThan(2000);
  expect(orders("missing fields")).toBeGreaterThan(500);
  expect(orders("shuffled hosts")).toBe(1);
  const descents = (shape: Shape) => {
    const times = linesOf(shape).map((line) => parse(line).timeNs);
    return times.filter((time, i) => i > 0 && time < times[i - 1]!).length;
  };
  expect(descents("out-of-order time")).toBeGreaterThan(1000);
  expect(descents("string fields")).toBe(0);
  expect(linesOf("string fields").every((line) => /usage_system="request \w+ took \d+ ms"/.test(line))).toBe(true);
  const names = new Set(linesOf("wide table").flatMap((line) => parse(line).pairs.map(([name]) => name)));
  expect(names.size).toBe(WIDE_FIELDS);
});
