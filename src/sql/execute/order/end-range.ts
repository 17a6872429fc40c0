// Rows in the order of time of which only the first are returned: they lie at one end of the scan's times. How far that end reaches is
// found by counting rows, which takes the times of some pages and no other column.
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import type { ScanRequest, TimeRange } from "../../../model/query/scan.ts";
import type { ScanTable } from "../../../model/query/scan-table.ts";
import { countRows } from "../groups-in-turns.ts";
import type { Breathe } from "../series/breathe.ts";

/** The first rows in the order of time. */
export interface EndRows {
  readonly count: number;
  /** True: the latest ones. */
  readonly isDescending: boolean;
}

/** So many rows are read as they are. */
const ROWS_MIN = 4096;
/** Of evenly spread rows the first range has twice as many as are wanted; each of the following ones is so many times as long. */
const SPARE = 2;
/** If more than one row in so many is wanted, all are read. */
const SHARE = 8;
const GROWTH = 16n;
const HALVINGS_MAX = 8;

/** A part of the request's range at one end of it that has the wanted rows, as few times as this can tell; the whole range if they may lie
 *  anywhere. @throws TsdbError what scans throw */
export async function endRange(
  kernel: Kernel,
  table: ScanTable,
  request: Pick<ScanRequest, "range" | "tags" | "tests" | "fields">,
  { count, isDescending }: EndRows,
  breathe: Breathe,
): Promise<TimeRange> {
  const { range } = request;
  const { times, rowCountMax } = table;
  if (times === undefined || rowCountMax < ROWS_MIN || count >= rowCountMax / SHARE) return range;
  const minNs = times.minNs > range.minNs ? times.minNs : range.minNs;
  const maxNs = times.maxNs < range.maxNs ? times.maxNs : range.maxNs;
  const spanNs = maxNs - minNs;
  const partOf = (widthNs: bigint) =>
    isDescending ? { minNs: maxNs - widthNs, maxNs: range.maxNs } : { minNs: range.minNs, maxNs: minNs + widthNs };
  const rowsOf = (widthNs: bigint) => countRows(kernel, table, { ...request, range: partOf(widthNs) }, breathe);
  const hasConditions = [request.tags, request.tests, request.fields].some((conditions) => (conditions ?? []).length > 0);
  // how many rows satisfy them is unknown, and may be few: a single count
  let widthNs = hasConditions ? spanNs / GROWTH + 1n : ((times.maxNs - times.minNs) * BigInt(SPARE * count)) / BigInt(rowCountMax) + 1n;
  let tooFewNs = 0n;
  let found: number | null = 0;
  for (; widthNs < spanNs; widthNs *= GROWTH) {
    found = await rowsOf(widthNs);
    if (found === null) return range;
    if (found >= count) break;
    tooFewNs = widthNs;
  }
  if (widthNs >= spanNs) return range;
  // rows that are far from most others make the steps long
  for (let halving = 0; halving < HALVINGS_MAX && found > ROWS_MIN; halving++) {
    const middleNs = (tooFewNs + widthNs) / 2n;
    const some = await rowsOf(middleNs);
    if (some === null) break;
    if (some < count) tooFewNs = middleNs;
    else [widthNs, found] = [middleNs, some];
  }
  return partOf(widthNs);
}
