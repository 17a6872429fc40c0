// TypeScript signatures of the kernel's exports, one interface per folder of assembly/, and the functions that it imports from the host.
import type { CacheExports } from "../cache/exports.ts";
import type { CodecExports } from "../codec/exports.ts";
import type { AggregateExports } from "./aggregate-exports.ts";
import type { Heap } from "./heap.ts";

/** assembly/memory: pointers and counts are u32, booleans 0 or 1. */
export interface MemoryExports {
  setMemoryBase(base: bigint): void;
  /** Only for its test: hashes never leave the kernel's memory. */
  hashText(ptr: number, bytes: number, owner: number): number;
  copyBytes(target: number, source: number, bytes: number): void;
  fillBytes(target: number, value: number, bytes: number): void;
  setBits(bitmap: number, from: number, count: number): void;
  countBits(bitmap: number, from: number, count: number): number;
  copyBits(source: number, sourceFrom: number, target: number, targetFrom: number, count: number): void;
  gatherBits(source: number, rows: number, count: number, target: number): void;
  rowBits(rows: number, count: number, rowCount: number, target: number): void;
  presentRows(bitmap: number, rowCount: number, target: number): number;
  unmappedIds(map: number, ids: number, count: number, empty: number, target: number): number;
  gather1(source: number, rows: number, count: number, target: number): void;
  gather4(source: number, rows: number, count: number, target: number): void;
  gather8(source: number, rows: number, count: number, target: number): void;
  gather16(source: number, rows: number, count: number, target: number): void;
  findTimeRange(times: number, rowCount: number): void;
  foundTimeMin(): bigint;
  foundTimeMax(): bigint;
  isSorted(series: number, times: number, rowCount: number): number;
  textBytes(views: number, validity: number, from: number, count: number): number;
  packValues(size: number, values: number, validity: number, from: number, count: number, target: number): void;
  packViews(views: number, validity: number, from: number, count: number, target: number, text: number): number;
  spreadValues(size: number, packed: number, validity: number, from: number, count: number, target: number): void;
  spreadViews(packed: number, validity: number, from: number, count: number, target: number, text: number): number;
  clearAbsent(size: number, values: number, validity: number, from: number, count: number): void;
  keepPacked(size: number, packed: number, validity: number, keep: number, rowCount: number, target: number): number;
  unpackValues(size: number, packed: number, validity: number, rowCount: number, target: number): void;
  copyViews(views: number, validity: number, from: number, count: number, target: number, text: number): number;
  seriesCreate(lastTimeFloorNs: bigint): number;
  seriesFree(dictionary: number): void;
  seriesCount(dictionary: number): number;
  seriesGrowthMax(dictionary: number, count: number, columnIds: number, columnCount: number): number;
  seriesBytes(dictionary: number): number;
  seriesProbeSteps(dictionary: number): number;
  seriesTagCount(dictionary: number): number;
  seriesTags(dictionary: number, target: number): void;
  seriesAddTag(dictionary: number, columnId: number): void;
  seriesResolve(dictionary: number, records: number, count: number, columnIds: number, target: number, bytesMax: number): number;
  seriesInsert(dictionary: number, key: number, keyBytes: number): number;
  seriesInsertRecords(dictionary: number, records: number, bytes: number, target: number): number;
  seriesMarkUnseen(dictionary: number, series: number, rowCount: number, stamp: number, unseen: number): number;
  seriesUnmark(dictionary: number, ids: number, count: number): void;
  seriesKeyBytes(dictionary: number, ids: number, count: number): number;
  seriesWriteKeys(dictionary: number, ids: number, count: number, target: number): void;
  /** 1 = unique, 2 = ascending. */
  seriesNoteTimes(dictionary: number, series: number, times: number, rowCount: number): number;
  seriesSetGaps(dictionary: number, gaps: number, count: number): void;
  notedOverlapMin(): bigint;
  notedOverlapMax(): bigint;
  seriesImport(dictionary: number, tags: number, tagCount: number, count: number, used: number, target: number): void;
  seriesRetiredCount(dictionary: number): number;
  seriesTakeRetired(dictionary: number): number;
}

/** assembly/line. Returned pointers are signed. */
export interface LineExports {
  lineCreate(powersPtr: number, dialect: number): number;
  lineParse(
    parserPtr: number,
    bodyPtr: number,
    bodyBytes: number,
    precision: number,
    from: number,
    tablesMax: number,
    newNamesMax: number,
    keptTablesMax: number,
  ): number;
  lineSeriesRecordBytes(parserPtr: number, tableIndex: number, seriesId: number): number;
  lineSeriesRecord(parserPtr: number, tableIndex: number, seriesId: number, target: number): void;
  lineTableCount(parserPtr: number): number;
  lineMemoryBytes(parserPtr: number): number;
  lineProbeSteps(parserPtr: number): number;
  lineRelease(parserPtr: number): void;
  /** Takes tables in the layout that lineParse returns; booleans are 0 or 1. */
  hasColumnIds(tablePtr: number, idsPtr: number, count: number, unknown: number): number;
  hasSeriesIds(mapPtr: number, idsPtr: number, count: number, unknown: number): number;
  frameRowsMax(tablePtr: number): number;
  frameRows(tablePtr: number, idsPtr: number, workPtr: number, target: number): number;
  appendRows(tablePtr: number, idsPtr: number, targets: number, rowCount: number): number;
}

/** assembly/scan: selection, tags, merging. */
export interface ScanExports {
  selectionCreate(
    series: number,
    times: number,
    rowCount: number,
    sorted: number,
    wanted: number,
    seriesCount: number,
    minTimeNs: bigint,
    maxTimeNs: bigint,
  ): number;
  selectionOfAll(rowCount: number): number;
  selectionExclude(selection: number, exclusions: number, count: number): void;
  selectionWhere(selection: number, predicates: number, count: number, work: number): void;
  expressionColumn(program: number, first: number, end: number, target: number, validity: number): number;
  textsFill(views: number, count: number, slots: number, mask: number): void;
  selectionFree(selection: number): void;
  selectionRanges(selection: number, target: number, max: number): number;
  selectionCount(selection: number): number;
  selectionNext(selection: number, target: number, max: number): number;
  pageParts(
    offsets: number,
    wanted: number,
    firstSeries: number,
    lastSeries: number,
    firstRow: number,
    rowCount: number,
    target: number,
  ): number;
  cutParts(parts: number, count: number, times: number, isPacked: number, minTimeNs: bigint, maxTimeNs: bigint): number;
  cutDividedParts(parts: number, count: number, quotients: number, width: number, least: number, most: number): number;
  countPartRows(parts: number, count: number): number;
  joinParts(parts: number, count: number, target: number): number;
  partSeries(parts: number, count: number, target: number): void;
  partValues(source: number, joined: number, count: number, size: number, target: number): void;
  partBits(source: number, joined: number, count: number, rows: number, target: number): void;
  newestKeep(series: number, times: number, rowCount: number, map: number, base: number, bestTimes: number, places: number): void;
  newestNumbers(places: number, count: number, target: number): number;
  newestRanks(ranks: number, valueCount: number, isSorted: number, isDescending: number, nullsFirst: number): void;
  newestHaveTag(codes: number, numbers: number, count: number): number;
  newestOfGroups(numbers: number, count: number, keys: number, keyCount: number, bestTimes: number): number;
  newestByRun(
    numbers: number,
    count: number,
    places: number,
    bases: number,
    runCount: number,
    run: number,
    starts: number,
    rows: number,
    indexes: number,
    runs: number,
  ): number;
  newestSorted(selection: number, target: number): number;
  newestAscending(selection: number, wantedCount: number, found: number, target: number): number;
  newestUnordered(selection: number, best: number, target: number): number;
  gatherTags(
    series: number,
    first: number,
    rows: number,
    count: number,
    codes: number,
    values: number,
    targetViews: number,
    targetValidity: number,
  ): number;
  findCodes(values: number, valueCount: number, wanted: number, wantedCount: number, target: number): number;
  scanCodes(
    values: number,
    valueCount: number,
    wanted: number,
    wantedCount: number,
    target: number,
    slots: number,
    slotCount: number,
  ): number;
  chooseSeries(codes: number, seriesCount: number, list: number, codeCount: number, wanted: number, narrows: number): number;
  markCodes(list: number, codeCount: number, match: number): void;
  matchGroups(groups: number, seriesCount: number, match: number, wanted: number, narrows: number): number;
  renumberGroups(groups: number, seriesCount: number, numbers: number, target: number): void;
  matchSeries(codes: number, seriesCount: number, match: number, wanted: number, narrows: number): number;
  noteCodes(codes: number, seriesCount: number, wanted: number, found: number): number;
  combineCodes(codes: number, seriesCount: number, valueCount: number, combined: number): void;
  areAscending(views: number, count: number): number;
  mergeMarkSeries(series: number, rows: number, count: number, used: number): void;
  mergeCount(series: number, rows: number, count: number, map: number, counts: number): void;
  mergeOffsets(counts: number, seriesCount: number): void;
  mergePlace(
    series: number,
    times: number,
    rows: number,
    count: number,
    map: number,
    offsets: number,
    base: number,
    outTimes: number,
    outNumbers: number,
  ): void;
  mergeUnsortedMax(times: number, ends: number, seriesCount: number): number;
  mergeSort(times: number, numbers: number, ends: number, seriesCount: number, scratch: number, scratchRows: number): void;
  mergeNumber(times: number, numbers: number, ends: number, seriesCount: number, outSeries: number, places: number): number;
  scatter1(source: number, validity: number, rows: number, count: number, places: number, out: number, outValidity: number): void;
  scatter8(source: number, validity: number, rows: number, count: number, places: number, out: number, outValidity: number): void;
  scatter16(source: number, validity: number, rows: number, count: number, places: number, out: number, outValidity: number): void;
}

/** assembly/store */
export interface StoreExports {
  sortViews(views: number, count: number, numbers: number, scratch: number): void;
  rankCodes(sorted: number, valueCount: number, ranks: number): void;
  orderSeriesByTag(order: number, count: number, codes: number, ranks: number, valueCount: number, counts: number, target: number): void;
  seriesStarts(series: number, rowCount: number, seriesCount: number, starts: number): void;
  orderRows(order: number, seriesCount: number, starts: number, rows: number): void;
  dayOf(time: bigint): number;
  countDays(times: number, rowCount: number, firstDay: number, counts: number): void;
  placeDays(times: number, rows: number, count: number, firstDay: number, offsets: number, target: number): void;
  pageTextMax(views: number, validity: number, rows: number, count: number, pageRows: number): number;
  blockSeries(series: number, rows: number, count: number, ids: number, offsets: number): number;
  blockCodes(
    codes: number,
    ids: number,
    count: number,
    ranks: number,
    sorted: number,
    valueCount: number,
    map: number,
    target: number,
    views: number,
  ): number;
  isOffsets(offsets: number, count: number, last: number): number;
  areBelow(codes: number, count: number, limit: number): number;
  neverDescend(codes: number, count: number): number;
  listedSeries(offsets: number, seriesCount: number, from: number, rows: number, count: number, target: number): void;
  fillSeries(offsets: number, firstSeries: number, from: number, count: number, target: number): void;
  seriesOfRow(offsets: number, seriesCount: number, row: number): number;
  placeValues1(
    source: number,
    validity: number,
    first: number,
    count: number,
    places: number,
    limit: number,
    out: number,
    bits: number,
  ): void;
  placeValues8(
    source: number,
    validity: number,
    first: number,
    count: number,
    places: number,
    limit: number,
    out: number,
    bits: number,
  ): void;
  placeValues16(
    source: number,
    validity: number,
    first: number,
    count: number,
    places: number,
    limit: number,
    out: number,
    bits: number,
  ): void;
  distinctTexts(views: number, count: number, slots: number, slotCount: number, entries: number): number;
  fileFilterAdd(views: number, count: number, filter: number, cells: number): void;
  unifyValues(viewsA: number, countA: number, viewsB: number, countB: number, mapA: number, mapB: number): number;
  placeViews(views: number, count: number, map: number, target: number): number;
  moveText(views: number, count: number, map: number, target: number, text: number): number;
  unifySeries(tagCount: number, tagsA: number, countA: number, tagsB: number, countB: number, mapA: number, mapB: number): number;
  scatterCodes(codes: number, count: number, map: number, target: number): void;
}

/** assembly/text: pointers are u32. */
export interface TextExports {
  textRows(rows: number, row: number, out: number, outEnd: number): void;
}

export interface KernelExports
  extends MemoryExports,
    LineExports,
    ScanExports,
    AggregateExports,
    CodecExports,
    StoreExports,
    TextExports,
    CacheExports {}

/** The kernel's imports: memory allocation, and parsing of decimal numbers of more than 19 digits. Allocation throws
 *  TsdbError("overloaded") through the kernel, which therefore allocates before it changes any state. */
export function kernelImports(memory: WebAssembly.Memory, heap: Heap): Record<string, unknown> {
  return {
    memory,
    hostAlloc: (bytes: number) => heap.alloc(bytes >>> 0),
    hostFree: (ptr: number, bytes: number) => heap.free(ptr >>> 0, bytes >>> 0),
    hostParseFloat: (ptr: number, bytes: number) => Number(Buffer.from(memory.buffer, ptr >>> 0, bytes >>> 0).toString("latin1")),
    abort: (_message: number, _file: number, line: number, column: number) => {
      throw new Error(`BUG: kernel abort at ${line}:${column}`);
    },
  };
}
