// Aggregation by the WebAssembly module (assembly/scan): cells of groups and bins, and what rows add to them.

/** The parameters shared by reducers of spans and of rows: pointers are u32. */
type SpanReducer = (spans: number, count: number, data: number, validity: number, target: number) => number;
type RowReducer = (cells: number, rows: number, first: number, count: number, data: number, validity: number, target: number) => number;

/** Two targets: number and mean of the values, and their squared deviations. */
type Squares = [data: number, validity: number, moments: number, squares: number];
type SpanSquares = (spans: number, count: number, ...column: Squares) => void;
type RowSquares = (cells: number, rows: number, first: number, count: number, ...column: Squares) => void;

/** Values with their times. `what`: the bytes of a value, or 1 for the greatest and 0 for the least one. */
type TimedValues = [data: number, validity: number, what: number, rowTimes: number, times: number, values: number];
type TimedSpanReducer = (spans: number, count: number, ...column: TimedValues) => void;
type TimedRowReducer = (cells: number, rows: number, first: number, count: number, ...column: TimedValues) => void;

/** assembly/scan: aggregation. Reducers of integer sums return non-zero on overflow, the others nothing. */
export interface AggregateExports {
  cellsCreate(originNs: bigint, widthNs: bigint, bins: number, cellsMax: number): number;
  cellsFree(cells: number): void;
  cellsCount(cells: number): number;
  cellsFull(cells: number): number;
  cellsHash(cells: number, list: number, count: number): void;
  cellsDescribe(cells: number, list: number, count: number, groups: number, times: number): void;
  cellsCut(cells: number, ranges: number, rangeCount: number, times: number, map: number, spans: number, max: number): number;
  cellsOfRows(
    cells: number,
    series: number,
    times: number,
    rows: number,
    first: number,
    count: number,
    map: number,
    target: number,
  ): number;
  cellsJoin(cells: number, rows: number, first: number, count: number, spans: number, max: number): number;
  groupsOfRows(series: number, rows: number, first: number, count: number, map: number, target: number): number;
  cellsOfGroups(cells: number, times: number, rows: number, first: number, count: number, groups: number): void;
  valueGroupsCreate(bytesMax: number): number;
  valueGroupsFree(groups: number): void;
  valueGroupsCount(groups: number): number;
  valueGroupsBytes(groups: number): number;
  valueGroupsOfRows(
    groups: number,
    layout: number,
    data: number,
    base: bigint,
    validity: number,
    rows: number,
    first: number,
    count: number,
    numbers: number,
  ): void;
  valueGroupsCountRows(
    groups: number,
    width: number,
    data: number,
    base: bigint,
    validity: number,
    first: number,
    count: number,
    numbers: number,
    counts: number,
    target: number,
    max: number,
  ): number;
  valueGroupsOfNothing(groups: number, count: number, numbers: number): void;
  valueGroupsDescribe(groups: number, list: number, count: number, width: number, data: number, validity: number): number;
  cellsWithRows(rowCounts: number, from: number, cellCount: number, target: number, max: number): number;
  groupKeysCreate(tagCount: number): number;
  groupKeysFree(keys: number): void;
  groupKeysCount(keys: number): number;
  groupKeysBytes(keys: number): number;
  groupKeysCodes(keys: number, tag: number): number;
  groupKeysValues(keys: number, tag: number): number;
  groupKeysLearnRanges(keys: number, sources: number, ranges: number, count: number, map: number): void;
  groupKeysLearnSeries(keys: number, sources: number, seriesCount: number, wanted: number, map: number): void;
  groupKeysLearnRows(keys: number, sources: number, series: number, rows: number, first: number, count: number, map: number): void;
  groupsPresent(counts: number, list: number, count: number, bitmap: number): number;
  groupsMean(sums: number, type: number, counts: number, list: number, count: number, target: number): void;
  groupsFlipped(values: number, list: number, count: number, flip: bigint, target: number): void;
  groupsBoolean(trues: number, counts: number, list: number, count: number, most: number, target: number): void;
  fillWords(target: number, value: bigint, count: number): void;
  digestsCreate(type: number, weightType: number, size: number, bytesSmall: number): number;
  digestsFree(digests: number): void;
  digestsBytes(digests: number): number;
  spansDigest(
    digests: number,
    spans: number,
    count: number,
    data: number,
    validity: number,
    weights: number,
    weightValidity: number,
    cells: number,
  ): void;
  rowsDigest(
    digests: number,
    cellList: number,
    rows: number,
    first: number,
    count: number,
    data: number,
    validity: number,
    weights: number,
    weightValidity: number,
    cells: number,
  ): void;
  groupsQuantile(digests: number, cells: number, list: number, count: number, share: number, target: number): void;
  spansCount(spans: number, count: number, validity: number, counts: number): void;
  rowsCount(cells: number, rows: number, first: number, count: number, validity: number, counts: number): void;
  spansCountTrue: SpanReducer;
  spansSumFloat: SpanReducer;
  spansSumInteger: SpanReducer;
  spansSumUnsigned: SpanReducer;
  spansSumNarrow(spans: number, count: number, data: number, width: number, base: bigint, unsigned: number, target: number): number;
  spansSquaresFloat: SpanSquares;
  spansSquaresInteger: SpanSquares;
  spansSquaresUnsigned: SpanSquares;
  spansLeastFloat: SpanReducer;
  spansMostFloat: SpanReducer;
  spansLeastInteger(spans: number, count: number, data: number, validity: number, target: number, flip: bigint): void;
  spansMostInteger(spans: number, count: number, data: number, validity: number, target: number, flip: bigint): void;
  spansFirst: TimedSpanReducer;
  spansLast: TimedSpanReducer;
  spansExtremeFloat: TimedSpanReducer;
  spansExtremeInteger(
    spans: number,
    count: number,
    data: number,
    validity: number,
    flip: bigint,
    most: number,
    rowTimes: number,
    times: number,
    values: number,
  ): void;
  rowsCountTrue: RowReducer;
  rowsSumFloat: RowReducer;
  rowsSumInteger: RowReducer;
  rowsSumUnsigned: RowReducer;
  rowsSquaresFloat: RowSquares;
  rowsSquaresInteger: RowSquares;
  rowsSquaresUnsigned: RowSquares;
  rowsLeastFloat: RowReducer;
  rowsMostFloat: RowReducer;
  rowsLeastInteger(
    cells: number,
    rows: number,
    first: number,
    count: number,
    data: number,
    validity: number,
    target: number,
    flip: bigint,
  ): void;
  rowsMostInteger: AggregateExports["rowsLeastInteger"];
  rowsFirst: TimedRowReducer;
  rowsLast: TimedRowReducer;
  rowsExtremeFloat: TimedRowReducer;
  rowsExtremeInteger(
    cells: number,
    rows: number,
    first: number,
    count: number,
    data: number,
    validity: number,
    flip: bigint,
    most: number,
    rowTimes: number,
    times: number,
    values: number,
  ): void;
}
