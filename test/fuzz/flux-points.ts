// Random points as line protocol: ordinary ones, and those at the edges of what can be stored. Floats are multiples of a quarter, so that
// sums do not depend on their order.
import { parseTime } from "../../src/flux/values/duration.ts";
import { type Below, pick } from "../support/prng.ts";

export interface RandomPoints {
  readonly lines: string;
  readonly measurements: readonly string[];
  readonly tags: readonly string[];
  readonly tagValues: readonly string[];
  readonly fields: readonly string[];
  /** First and last time. */
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

const MEASUREMENTS = ["cpu", "mem", "m,x", "żółw", "m!", "a b", "_m"];
const TAGS = ["host", "region", "slot", "t g", "żet", "_x"];
const TAG_VALUES = ["a", "b", "c", "a,b", "a=b", "a b", "żółw 🐢", '"q"', "-1", "\\x", "\u0001", "0", "A"];
const FIELDS = ["usage", "load", "free", "up", "note", "_value2", "f,x"];
const TYPES = ["float", "int", "uint", "bool", "string"] as const;
const STARTS = ["2024-03-05T10:00:00Z", "2024-03-30T23:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2024-02-28T00:00:00Z"];
const STEPS_NS = [1n, 1_000_000_000n, 40_000_000_000n, 3_600_000_000_000n, 86_400_000_000_000n, 999_999_999_999n];
const EDGES_NS = [-(2n ** 63n) + 2n, 2n ** 63n - 2n];

/** Random points. */
export function randomPoints(below: Below): RandomPoints {
  const some = <T>(all: readonly T[], most: number): T[] => {
    const first = below(2) === 0 ? 0 : below(all.length);
    return Array.from({ length: 1 + below(most) }, (_, i) => all[(first + i) % all.length]!);
  };
  const measurements = some(MEASUREMENTS, 3);
  const tags = below(8) === 0 ? [] : some(TAGS, 3);
  const tagValues = some(TAG_VALUES, 5);
  const fields = some(FIELDS, 4);
  const types = new Map(
    measurements.map((m) => [m, new Map(fields.map((field) => [field, below(3) === 0 ? pick(below, TYPES) : "float"]))]),
  );
  const hasGaps = below(2) === 0;
  const hasMixedTags = below(2) === 0;
  const startNs = parseTime(pick(below, STARTS))!.ns;
  const stepNs = pick(below, STEPS_NS);
  const count = pick(below, [1, 2, 10, 60, 150]);
  const lines: string[] = [];
  const times: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const measurement = pick(below, measurements);
    const ns = below(60) === 0 && count > 10 && stepNs > 1n ? pick(below, EDGES_NS) : startNs + BigInt(below(count)) * stepNs;
    const own = tags.filter(() => !hasMixedTags || below(3) > 0).map((tag) => `,${key(tag)}=${key(pick(below, tagValues))}`);
    const present = fields.filter(() => !hasGaps || below(2) === 0);
    if (present.length === 0) present.push(fields[0]!);
    const cells = present.map((field) => `${key(field)}=${fieldValue(below, types.get(measurement)!.get(field)!)}`);
    lines.push(`${measurement.replace(/[, ]/g, "\\$&")}${own.join("")} ${cells.join()} ${ns}`);
    times.push(ns);
  }
  const ordered = times.filter((ns) => !EDGES_NS.includes(ns)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return { lines: lines.join("\n"), measurements, tags, tagValues, fields, fromNs: ordered[0] ?? startNs, toNs: ordered.at(-1) ?? startNs };
}

function key(text: string): string {
  return text.replace(/[, =]/g, "\\$&");
}

function fieldValue(below: Below, type: (typeof TYPES)[number]): string {
  switch (type) {
    case "float":
      return `${(below(400) - 100) / 4}`;
    case "int":
      return `${below(30) === 0 ? pick(below, [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]) : below(9) - 4}i`;
    case "uint":
      return `${below(30) === 0 ? pick(below, [2n ** 64n - 1n, 2n ** 63n]) : below(9)}u`;
    case "bool":
      return below(2) === 0 ? "true" : "false";
    case "string":
      return JSON.stringify(pick(below, ["", "a", "b", "żółw", "x,y"]));
  }
}
