// TypeScript signatures of the kernel's exports of assembly/codec.

/** assembly/codec: pointers and counts are u32, booleans 0 or 1; a result below 0 is CODEC_CORRUPT. */
export interface CodecExports {
  codecWorkBytes(rowCount: number): number;
  codecBytesMax(type: number, data: number, validity: number, rowCount: number): number;
  codecEncode(type: number, data: number, validity: number, rowCount: number, isPacked: number, work: number, target: number): number;
  codecPackedBytesMax(type: number, data: number, present: number, rowCount: number): number;
  codecPresentCount(source: number, sourceBytes: number, rowCount: number): number;
  parquetDelta(values: number, count: number, work: number, target: number): number;
  parquetTexts(views: number, validity: number, from: number, count: number, target: number): number;
  squeeze(values: number, bitmap: number, count: number, size: number, target: number): void;
  codecColumnBytes(source: number, sourceBytes: number): number;
  codecTextBytes(source: number, sourceBytes: number, rowCount: number, work: number): number;
  codecDecode(
    type: number,
    source: number,
    sourceBytes: number,
    rowCount: number,
    isPacked: number,
    work: number,
    data: number,
    validity: number,
    text: number,
    textBytes: number,
  ): number;
  codecDecodeParts(
    type: number,
    source: number,
    sourceBytes: number,
    rowCount: number,
    parts: number,
    partCount: number,
    work: number,
    data: number,
    validity: number,
    text: number,
    textBytes: number,
  ): number;
  narrowWidth(values: number, count: number): number;
  narrowBase(): bigint;
  narrowValues(values: number, count: number, base: bigint, width: number, target: number): void;
  gatherNarrow(source: number, rows: number, count: number, base: bigint, width: number, target: number): void;
  gatherDivided(source: number, rows: number, count: number, base: bigint, odd: number, zeros: number, width: number, target: number): void;
  widenValues(source: number, count: number, base: bigint, width: number, target: number): void;
  widenParts(source: number, parts: number, partCount: number, base: bigint, width: number, target: number): void;
  dividedWidth(values: number, count: number): number;
  dividedBase(): bigint;
  dividedOdd(): number;
  dividedZeros(): number;
  divideValues(values: number, count: number, base: bigint, odd: number, zeros: number, width: number, target: number): void;
  multiplyValues(source: number, count: number, base: bigint, odd: number, zeros: number, width: number, target: number): void;
  multiplyParts(
    source: number,
    parts: number,
    partCount: number,
    base: bigint,
    odd: number,
    zeros: number,
    width: number,
    target: number,
  ): void;
}
