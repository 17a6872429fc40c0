// TypeScript signatures of assembly/cache: the state of last-value and distinct-value caches.

/** assembly/cache: pointers and counts are u32, booleans 0 or 1. */
export interface CacheExports {
  rowKeysCreate(): number;
  rowKeysFree(keys: number): void;
  rowKeysCount(keys: number): number;
  rowKeysBytes(keys: number): number;
  rowKeysOf(
    keys: number,
    series: number,
    map: number,
    fields: number,
    fieldCount: number,
    skipsNulls: number,
    first: number,
    end: number,
    target: number,
  ): number;
  rowKeysTags(keys: number, list: number, count: number, target: number): void;
  rowKeysViews(
    keys: number,
    list: number,
    count: number,
    widths: number,
    index: number,
    sign: bigint,
    target: number,
    validity: number,
  ): void;
  rowKeysMove(keys: number, list: number, count: number, map: number, other: number, target: number): void;
  rankViews(views: number, validity: number, sorted: number, count: number, ranks: number): number;
  skipWithoutTag(codes: number, seriesCount: number, used: number, map: number): void;
  markUnknown(series: number, rows: number, first: number, end: number, map: number, used: number): number;
  slotsClaim(slots: number, series: number, times: number, map: number, first: number, from: number): number;
  slotsCanClaim(slots: number, map: number, seriesCount: number, maxTimeNs: bigint): number;
  slotsClaimed(slots: number): void;
  slotsSetSeries(slots: number, series: number, map: number, from: number): number;
  slotsMerge(slots: number, keys: number, ids: number, times: number, map: number, seriesMap: number, first: number, end: number): number;
  slotsMerged(slots: number, target: number): number;
  slotsExpire(slots: number, keyCount: number, minEnteredNs: bigint): number;
  slotsLeastEntered(): bigint;
  slotsLiveKeys(): number;
  slotsOrdered(slots: number, keys: number, keyCount: number, minEnteredNs: bigint, minTimeNs: bigint, target: number): number;
  slotsOrderedEntered(): bigint;
  slotsOrderedTime(): bigint;
  slotsUsed(slots: number, keyCount: number, keys: number): void;
  clearBits(bitmap: number, list: number, count: number): void;
  seenRows(
    seen: number,
    series: number,
    times: number,
    map: number,
    earliestNs: bigint,
    leastNs: bigint,
    mostNs: bigint,
    first: number,
    end: number,
  ): number;
  seenKeys(seen: number, keys: number, count: number, minSeenNs: bigint, target: number): number;
  seenLeast(): bigint;
  textBytesOf(views: number, validity: number, list: number, count: number): number;
  ownText(views: number, validity: number, list: number, count: number, text: number): void;
}
