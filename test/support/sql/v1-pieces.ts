// Pieces of answers of the v1 language, built from plain values.
import type { ResultField, ResultType } from "../../../src/model/query/result-batch.ts";
import type { SeriesHead, SeriesPiece } from "../../../src/model/query/series-piece.ts";
import type { V1Answer } from "../../../src/model/query/v1-answer.ts";
import { batchOf, type Plain } from "../rows/result-batch.ts";

export const TIME: ResultType = { kind: "timestamp", unit: "ns", zone: null };
export const FLOAT: ResultType = { kind: "float", bits: 64 };
export const INTEGER: ResultType = { kind: "int", bits: 64, signed: true };
export const UNSIGNED: ResultType = { kind: "int", bits: 64, signed: false };
export const TEXT: ResultType = { kind: "utf8" };
export const CODE: ResultType = { kind: "dictionary" };
export const BOOLEAN: ResultType = { kind: "bool" };

export const fieldsOf = (types: Record<string, ResultType>): ResultField[] => Object.entries(types).map(([name, type]) => ({ name, type }));

export const ONLY: V1Answer = {
  ...{ form: "json", epochNs: null, isPretty: false, chunkRows: null, rowLimit: null },
  ...{ statementId: 0, isFirst: true, isLast: true, statementCount: 1 },
};
export const S = 1_000_000_000n;
export const V: Record<string, ResultType> = { time: TIME, v: FLOAT };

/** A part of a series' rows. */
export function piece(head: SeriesHead, rows: Plain[][]): SeriesPiece {
  return { head, batch: batchOf(head.fields, rows) };
}

export const series = (name: string, tags: SeriesHead["tags"], types: Record<string, ResultType>, rows: Plain[][]): SeriesPiece =>
  piece({ name, tags, fields: fieldsOf(types) }, rows);
