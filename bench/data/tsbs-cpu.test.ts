// The generator keeps its promises: shape, order, determinism.
import { expect, test } from "bun:test";
import { TSBS_CPU_FIELDS, tsbsCpu } from "./tsbs-cpu.ts";

const text = (options: Parameters<typeof tsbsCpu>[0]) => [...tsbsCpu(options)].map((body) => new TextDecoder().decode(body));

test("bodies hold the asked-for lines in time order, all hosts per timestamp", () => {
  const bodies = text({ hosts: 3, rows: 25, seed: 1, bodyLines: 10 });
  expect(bodies.map((body) => body.split("\n").length - 1)).toEqual([10, 10, 5]);
  const lines = bodies.join("").trimEnd().split("\n");
  lines.forEach((line, row) => {
    expect(line).toMatch(
      new RegExp(`^cpu,hostname=host_${row % 3},region=.* ${1451606400n + BigInt(Math.floor(row / 3)) * 10n}000000000$`),
    );
  });
});

test.each([false, true])("10 tags, 10 fields, values within 0..100; floats: %p", (floats) => {
  for (const line of text({ hosts: 10, rows: 500, seed: 2, floats }).join("").trimEnd().split("\n")) {
    const [key, fields] = line.split(" ");
    expect(key!.split(",").length).toBe(11);
    const pairs = fields!.split(",").map((pair) => pair.split("=") as [string, string]);
    expect(pairs.map(([name]) => name)).toEqual([...TSBS_CPU_FIELDS]);
    for (const [, value] of pairs) {
      expect(value).toMatch(floats ? /^\d+(\.\d+)?$/ : /^\d+i$/);
      expect(Number.parseFloat(value)).toBeWithin(0, 101);
    }
  }
});

test("the same seed gives the same bytes, another seed gives others", () => {
  const options = { hosts: 10, rows: 100, seed: 3 };
  expect(text(options)).toEqual(text(options));
  expect(text(options)).not.toEqual(text({ ...options, seed: 4 }));
});
