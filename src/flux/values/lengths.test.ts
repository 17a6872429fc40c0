// Lengths as release 2.8.0 shows them in plans of templates.
import { expect, test } from "bun:test";
import { lengthNs, overlongPart, readParts } from "./duration.ts";

const HOUR_NS = 3_600_000_000_000n;
const DAY = 24n;

test.each([
  ["1mo", 28n * DAY],
  ["3mo", 91n * DAY],
  ["12mo", 364n * DAY],
  ["1y1mo", 392n * DAY],
  ["10y", 3647n * DAY],
  ["292y", 2_559_648n],
  ["1mo1h", 673n],
])("%s", (text, hours) => expect(lengthNs(readParts(text)!.parts)).toBe(hours * HOUR_NS));

test("a sum wraps, a part does not", () => {
  expect(lengthNs(readParts("2562047h47m16s854ms775us808ns")!.parts)).toBe(-(1n << 63n));
  expect(overlongPart(readParts("2562047h48m")!.parts)).toBeNull();
  expect(overlongPart(readParts("1h2562048h")!.parts)).toBe("2562048h");
});
