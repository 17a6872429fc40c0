// Weeks from Monday for buckets without an end or of half a year, days below, hours below two days: the shards that the v2 line makes.
import { expect, test } from "bun:test";
import { ALL_TIMES, indexBounds } from "./index-bounds.ts";

const ns = (text: string) => BigInt(Date.parse(text)) * 1_000_000n;
const DAY_NS = 86_400_000_000_000n;

test.each([
  [0n, "2024-03-05T10:05:00Z", "2024-03-05T10:06:00Z", "2024-03-04T00:00:00Z", "2024-03-11T00:00:00Z"],
  [180n * DAY_NS, "2024-03-04T00:00:00Z", "2024-03-11T00:00:00Z", "2024-03-04T00:00:00Z", "2024-03-18T00:00:00Z"],
  [0n, "1969-12-31T00:00:00Z", "1970-01-04T23:00:00Z", "1969-12-29T00:00:00Z", "1970-01-05T00:00:00Z"],
  [179n * DAY_NS, "2024-03-05T10:05:00Z", "2024-03-06T10:06:00Z", "2024-03-05T00:00:00Z", "2024-03-07T00:00:00Z"],
  [DAY_NS, "2024-03-05T10:05:00Z", "2024-03-05T10:06:00Z", "2024-03-05T10:00:00Z", "2024-03-05T11:00:00Z"],
])("retention of %s ns: %s to %s", (retentionNs, start, stop, from, to) => {
  expect(indexBounds({ startNs: ns(start), stopNs: ns(stop) }, retentionNs)).toEqual({ startNs: ns(from), stopNs: ns(to) });
});

test("no bounds beyond the first and the last time", () => {
  expect(indexBounds(ALL_TIMES, 0n)).toEqual(ALL_TIMES);
});
