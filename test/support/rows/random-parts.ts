// Random parts of a table, in files and in memory, and deletions of their rows.
import type { Tombstone } from "../../../src/model/rows/tombstone.ts";
import type { Below } from "../prng.ts";
import { randomTombstones } from "./naive-scan.ts";
import { randomRows } from "./random-rows.ts";
import type { TestRow } from "./rows.ts";
import type { TablePart } from "./table-snapshot.ts";

export const HOUR_NS = 3_600_000_000_000n;

/** Some parts of batches; each batch keeps to a stretch of time, and sometimes comes back to an earlier one. */
export function randomParts(below: Below): TablePart[] {
  let start = 0;
  const batch = (): TestRow[] => {
    start += below(4) === 0 ? -below(30) : below(30);
    const rows = randomRows(below, { count: below(10) === 0 ? 0 : 1 + below(150), times: 1 + below(40), hosts: 1 + below(9) });
    return rows.map((row) => ({ ...row, timeNs: (row.timeNs + BigInt(start)) * HOUR_NS }));
  };
  const files = Array.from({ length: below(4) }, (): TablePart => ({ kind: "file", batches: Array.from({ length: 1 + below(3) }, batch) }));
  return [...files, { kind: "memory", batches: Array.from({ length: below(4) }, batch) }];
}

/** Some of the parts' rows have one host, and one rack as well: tag predicates that every series of a file satisfies. */
export function withLoneHosts(below: Below, parts: readonly TablePart[]): TablePart[] {
  return parts.map((part) => {
    const tags = [null, { host: "host-0" }, { host: "host-0", rack: "x" }][below(3)]!;
    if (tags === null) return part;
    return { ...part, batches: part.batches.map((rows) => rows.map((row) => ({ ...row, tags: { ...row.tags, ...tags } }))) };
  });
}

/** A deletion seals what is in memory first: no file has rows of lower and of higher sequences. */
export function randomDeletions(below: Below, parts: readonly TablePart[]): Tombstone[] {
  let sequence = 0;
  const ends = parts.flatMap(({ kind, batches }) => {
    sequence += batches.length;
    return kind === "file" ? [sequence] : batches.map((_, i) => sequence - batches.length + i + 1);
  });
  if (ends.length === 0) return [];
  const hours = (ns: bigint) => (ns > 10_000n || ns < -10_000n ? ns : ns * HOUR_NS);
  return randomTombstones(below, { count: below(4), sequences: 1, times: 200 }).map((tombstone, i) => {
    const { minNs, maxNs } = tombstone.range;
    return { ...tombstone, id: 1 + i, sequence: ends[below(ends.length)]!, range: { minNs: hours(minNs), maxNs: hours(maxNs) } };
  });
}
