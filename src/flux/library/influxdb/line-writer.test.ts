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

test("a line that is a comment becomes no row, so none of that kind is written", () => {
  const stored = new LineWriter(true);
  expect(() => stored.append("#m", [], [["f", 1]], 5n)).toThrow('cannot write measurement "#m": a line that begins with # is a comment');
  // of a row without a value there is no line
  stored.append("#m", [], [["f", Number.NaN]], 5n);
  stored.append(" #m", [["#t", "#"]], [["#f", 1]], 5n);
  expect(stored.take()).toBe("\\ #m,#t=# #f=1 5\n");
  // a message is no row
  const message = new LineWriter();
  message.append("#m", [], [["f", 1]], 5n);
  expect(message.take()).toBe("#m f=1 5\n");
});
