// Points as line protocol: what is refused.
import { expect, test } from "bun:test";
import { LineWriter } from "./line-writer.ts";

test("a field has a name, as for release 2.8.0; one without a value is left out first", () => {
  const lines = new LineWriter();
  expect(() => lines.append("m", [], [["", 1]], 5n)).toThrow("all fields must have non-empty names");
  lines.append(
    "m",
    [["", "t"]],
    [
      ["", Number.NaN],
      ["f", 1],
    ],
    5n,
  );
  expect(lines.take()).toBe("m f=1 5\n");
});
