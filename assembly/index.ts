// The kernel's exports, folder by folder; no logic here.
export {
  markUnknown,
  rankViews,
  rowKeysBytes,
  rowKeysCount,
  rowKeysCreate,
  rowKeysFree,
  rowKeysMove,
  rowKeysOf,
  rowKeysTags,
  rowKeysViews,
  skipWithoutTag,
} from "./cache/keys";
export {
  clearBits,
  slotsCanClaim,
  slotsClaim,
  slotsClaimed,
  slotsExpire,
  slotsLeastEntered,
  slotsLiveKeys,
  slotsMerge,
  slotsMerged,
  slotsOrdered,
  slotsOrderedEntered,
  slotsOrderedTime,
  slotsSetSeries,
  slotsUsed,
} from "./cache/newest";
export { seenKeys, seenLeast, seenRows } from "./cache/seen";
export { ownText, textBytesOf } from "./cache/text";
export {
  codecBytesMax,
  codecColumnBytes,
  codecDecode,
  codecEncode,
  codecPackedBytesMax,
  codecPresentCount,
  codecTextBytes,
  codecWorkBytes,
} from "./codec/column";
export {
  dividedBase,
  dividedOdd,
  dividedWidth,
  dividedZeros,
  divideValues,
  gatherDivided,
  multiplyParts,
  multiplyValues,
} from "./codec/divided";
export { gatherNarrow, narrowBase, narrowValues, narrowWidth, widenParts, widenValues } from "./codec/narrow";
export { parquetDelta, parquetTexts } from "./codec/parquet";
export { codecDecodeParts } from "./codec/parts";
export { appendRows, frameRows, frameRowsMax, hasColumnIds, hasSeriesIds } from "./line/known-rows";
export { lineCreate, lineMemoryBytes, lineTableCount, lineProbeSteps, lineRelease, lineSeriesRecord, lineSeriesRecordBytes } from "./line/parser";
export { lineParse } from "./line/parse";
export { copyBits, countBits, gatherBits, presentRows, rowBits, setBits } from "./memory/bits";
export { copyBytes, fillBytes } from "./memory/bytes";
export { hashText } from "./memory/hash";
export { setMemoryBase } from "./memory/host";
export { findTimeRange, foundTimeMax, foundTimeMin, gather1, gather4, gather8, gather16, isSorted, unmappedIds } from "./memory/rows";
export {
  seriesAddTag,
  seriesBytes,
  seriesCount,
  seriesCreate,
  seriesFree,
  seriesGrowthMax,
  seriesProbeSteps,
  seriesRetiredCount,
  seriesTagCount,
  seriesTags,
  seriesTakeRetired,
} from "./memory/series-dictionary";
export {
  seriesImport,
  seriesInsert,
  seriesInsertRecords,
  seriesKeyBytes,
  seriesMarkUnseen,
  seriesResolve,
  seriesUnmark,
  seriesWriteKeys,
} from "./memory/series-records";
export { notedOverlapMax, notedOverlapMin, seriesNoteTimes, seriesSetGaps } from "./memory/series-times";
export { clearAbsent, keepPacked, packValues, packViews, spreadValues, spreadViews, unpackValues } from "./memory/packed";
export { copyViews, textBytes } from "./memory/views";
export {
  cellsCount,
  cellsCreate,
  cellsCut,
  cellsDescribe,
  cellsFree,
  cellsFull,
  cellsHash,
  cellsJoin,
  cellsOfGroups,
  cellsOfRows,
  cellsWithRows,
  groupsOfRows,
} from "./scan/cells";
export {
  groupKeysBytes,
  groupKeysCodes,
  groupKeysCount,
  groupKeysCreate,
  groupKeysFree,
  groupKeysLearnRanges,
  groupKeysLearnRows,
  groupKeysLearnSeries,
  groupKeysValues,
} from "./scan/group-keys";
export { digestsBytes, digestsCreate, digestsFree, groupsQuantile, rowsDigest, spansDigest } from "./scan/digests";
export { fillWords, groupsBoolean, groupsFlipped, groupsMean, groupsPresent } from "./scan/groups";
export {
  mergeCount,
  mergeMarkSeries,
  mergeNumber,
  mergeOffsets,
  mergePlace,
  mergeSort,
  mergeUnsortedMax,
  scatter1,
  scatter8,
  scatter16,
} from "./scan/merge";
export { newestAscending, newestSorted, newestUnordered } from "./scan/newest";
export { rowsFirst, rowsLast, spansFirst, spansLast } from "./scan/reduce-ends";
export { rowsExtremeFloat, rowsExtremeInteger, spansExtremeFloat, spansExtremeInteger } from "./scan/reduce-extreme-times";
export {
  rowsLeastFloat,
  rowsLeastInteger,
  rowsMostFloat,
  rowsMostInteger,
  spansLeastFloat,
  spansLeastInteger,
  spansMostFloat,
  spansMostInteger,
} from "./scan/reduce-extremes";
export { rowsSumInteger, rowsSumUnsigned, spansSumInteger, spansSumNarrow, spansSumUnsigned } from "./scan/reduce-integers";
export {
  rowsSquaresFloat,
  rowsSquaresInteger,
  rowsSquaresUnsigned,
  spansSquaresFloat,
  spansSquaresInteger,
  spansSquaresUnsigned,
} from "./scan/reduce-squares";
export { rowsCount, rowsCountTrue, rowsSumFloat, spansCount, spansCountTrue, spansSumFloat } from "./scan/reduce-sum";
export {
  newestByRun,
  newestHaveTag,
  newestKeep,
  newestNumbers,
  newestOfGroups,
  newestRanks,
} from "./scan/newest-union";
export { countPartRows, cutDividedParts, cutParts, joinParts, pageParts, partBits, partSeries, partValues } from "./scan/page-parts";
export { expressionColumn } from "./expression/program";
export {
  selectionCount,
  selectionCreate,
  selectionExclude,
  selectionFree,
  selectionNext,
  selectionOfAll,
  selectionRanges,
  selectionWhere,
} from "./scan/select";
export { textsFill } from "./scan/texts";
export {
  areAscending,
  chooseSeries,
  findCodes,
  markCodes,
  matchGroups,
  matchSeries,
  noteCodes,
  combineCodes,
  renumberGroups,
  scanCodes,
} from "./scan/series-choice";
export { gatherTags } from "./scan/tags";
export {
  valueGroupsBytes,
  valueGroupsCount,
  valueGroupsCountRows,
  valueGroupsCreate,
  valueGroupsDescribe,
  valueGroupsFree,
  valueGroupsOfNothing,
  valueGroupsOfRows,
} from "./scan/value-groups";
export { squeeze } from "./codec/nulls";
export { areBelow, blockCodes, blockSeries, fillSeries, isOffsets, listedSeries, neverDescend, seriesOfRow } from "./store/block";
export { distinctTexts } from "./store/distinct";
export { fileFilterAdd } from "./store/file-filter";
export {
  countDays,
  dayOf,
  orderRows,
  orderSeriesByTag,
  pageTextMax,
  placeDays,
  rankCodes,
  seriesStarts,
  sortViews,
} from "./store/order";
export { textRows } from "./text/rows";
export { placeValues1, placeValues8, placeValues16 } from "./store/place";
export { moveText, placeViews, scatterCodes, unifySeries, unifyValues } from "./store/unify";
