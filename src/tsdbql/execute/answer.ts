// Runs an InfluxQL statement inside the query worker: text → series, piece by piece → bytes in the requested format.
import { createEncoder } from "../../encode/encode.ts";
import { type Encoder, pieceBytes, wholeTable } from "../../encode/encoder.ts";
import { LineEncoder } from "../../encode/line-text.ts";
import { createV1Encoder } from "../../encode/v1/encode.ts";
import { assert } from "../../model/assert.ts";
import type { QueryFormat, TsdbqlOptions } from "../../model/query/query.ts";
import type { ResultSchema } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";
import type { SeriesAnswer } from "../functions/series.ts";
import type { Statement } from "../parse/ast.ts";
import { NO_PARAMS, parseParams } from "../parse/params.ts";
import { parseQuery } from "../parse/parser.ts";
import { fileSchema } from "./file-schema.ts";
import { flightSchema } from "./flight-schema.ts";
import { PieceRows } from "./piece-rows.ts";

/** @throws TsdbError bad_query */
export function statementOf(text: string, { params }: TsdbqlOptions): Statement {
  const [only, ...others] = parseQuery(text, params === null ? NO_PARAMS : parseParams(params));
  assert(only !== undefined && others.length === 0, "one statement at a time comes to a worker");
  return only.statement;
}

export interface AnswerParts {
  readonly contentType: string;
  readonly parts: AsyncIterable<Uint8Array>;
}

/** Encodes `pieces` in the requested format. */
export async function encodePieces(
  { pieces, emptyHead }: Pick<SeriesAnswer, "pieces" | "emptyHead">,
  { answer }: TsdbqlOptions,
  format: QueryFormat,
  rowText: RowTextMaker,
): Promise<AnswerParts> {
  if (answer === null) {
    const encoder = await createEncoder(format, rowText);
    return { contentType: encoder.contentType, parts: rowsOf(pieces, new PieceRows(emptyHead), format, encoder) };
  }
  const encoder = "v1" in answer ? createV1Encoder(answer.v1, rowText) : new LineEncoder(answer.measurement);
  return { contentType: encoder.contentType, parts: seriesOf(pieces, encoder) };
}

/** An empty table with the answer's columns, followed by one for unbound parameters, of which there are none. The columns are those of
 *  the first rows, because no series declares more. */
export function describePieces({ pieces, emptyHead }: Pick<SeriesAnswer, "pieces" | "emptyHead">): Promise<AnswerParts> {
  const schemas = async function* (): AsyncGenerator<ResultSchema> {
    const rows = new PieceRows(emptyHead);
    for await (const piece of pieces) {
      if (piece.batch.rowCount === 0 || rows.add(piece) === null) rows.flush();
      break;
    }
    yield flightSchema(rows);
    yield { fields: [], tableName: "" };
  };
  return emptyTables(schemas());
}

/** For Flight: tables without rows, one behind the other. */
export async function emptyTables(schemas: Iterable<ResultSchema> | AsyncIterable<ResultSchema>): Promise<AnswerParts> {
  const { contentType } = await createEncoder("flight");
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    for await (const schema of schemas) yield wholeTable(await createEncoder("flight"), schema, []);
  };
  return { contentType, parts: parts() };
}

async function* seriesOf(pieces: AsyncIterable<SeriesPiece>, encoder: Encoder<SeriesHead>): AsyncGenerator<Uint8Array> {
  const encode = pieceBytes(encoder);
  for await (const piece of pieces) {
    const bytes = encode(piece);
    if (bytes !== null) yield bytes;
    if (encoder.isDone) break;
  }
  const end = encoder.end();
  if (end !== null) yield end;
}

/** Converts the pieces to rows of one table. */
async function* rowsOf(
  pieces: AsyncIterable<SeriesPiece>,
  rows: PieceRows,
  format: QueryFormat,
  encoder: Encoder,
): AsyncGenerator<Uint8Array> {
  let hasBegun = false;
  const begin = () => {
    if (hasBegun) return null;
    hasBegun = true;
    const isFile = format === "parquet" || format === "arrow";
    return encoder.begin(format === "flight" ? flightSchema(rows) : isFile ? fileSchema(rows.schema) : rows.schema);
  };
  for await (const piece of pieces) {
    const batch = rows.add(piece);
    if (batch === null) continue;
    const head = begin();
    if (head !== null) yield head;
    const bytes = encoder.rows(batch);
    if (bytes !== null) yield bytes;
  }
  const rest = rows.flush();
  const head = begin();
  const last = rest === null ? null : encoder.rows(rest);
  for (const bytes of [head, last, encoder.end()]) if (bytes !== null) yield bytes;
}
