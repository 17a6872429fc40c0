// Runs an InfluxQL statement inside the query worker: text → series, piece by piece → bytes in the requested format.
import { createEncoder } from "../../encode/encode.ts";
import { LineEncoder } from "../../encode/line-text.ts";
import type { PieceEncoder } from "../../encode/piece-encoder.ts";
import { createV1Encoder } from "../../encode/v1/encode.ts";
import { assert } from "../../model/assert.ts";
import type { QueryFormat, TsdbqlOptions } from "../../model/query/query.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
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

const CONTENT_TYPES: Readonly<Record<QueryFormat, string>> = {
  seed: "application/json",
  json: "application/json",
  jsonl: "application/jsonl",
  csv: "text/csv",
  pretty: "text/plain; charset=utf-8",
  parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.stream",
  flight: "application/vnd.apache.arrow.stream",
};

/** Encodes `pieces` in the requested format. */
export function encodePieces(
  { pieces, emptyHead }: Pick<SeriesAnswer, "pieces" | "emptyHead">,
  { answer }: TsdbqlOptions,
  format: QueryFormat,
  rowText: RowTextMaker,
): AnswerParts {
  if (answer === null) return { contentType: CONTENT_TYPES[format], parts: rowsOf(pieces, new PieceRows(emptyHead), format, rowText) };
  const encoder = "v1" in answer ? createV1Encoder(answer.v1, rowText) : new LineEncoder(answer.measurement);
  return { contentType: encoder.contentType, parts: seriesOf(pieces, encoder) };
}

/** An empty table with the answer's columns, followed by one for unbound parameters, of which there are none. The columns are those of
 *  the first rows, because no series declares more. */
export function describePieces({ pieces, emptyHead }: Pick<SeriesAnswer, "pieces" | "emptyHead">): AnswerParts {
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    const rows = new PieceRows(emptyHead);
    for await (const piece of pieces) {
      if (piece.batch.rowCount === 0 || rows.add(piece) === null) rows.flush();
      break;
    }
    for (const schema of [flightSchema(rows), { fields: [], tableName: "" }]) {
      const encoder = await createEncoder("flight", schema);
      for (const bytes of [encoder.begin(), encoder.end()]) if (bytes !== null) yield bytes;
    }
  };
  return { contentType: CONTENT_TYPES.flight, parts: parts() };
}

async function* seriesOf(pieces: AsyncIterable<SeriesPiece>, encoder: PieceEncoder): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = encoder.piece(piece);
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
  rowText: RowTextMaker,
): AsyncGenerator<Uint8Array> {
  let encoder: Awaited<ReturnType<typeof createEncoder>> | undefined;
  const begun = async () => {
    const isFile = format === "parquet" || format === "arrow";
    const schema = format === "flight" ? flightSchema(rows) : isFile ? fileSchema(rows.schema) : rows.schema;
    encoder = await createEncoder(format, schema, rowText);
    return encoder.begin();
  };
  for await (const piece of pieces) {
    const batch = rows.add(piece);
    if (batch === null) continue;
    const head = encoder === undefined ? await begun() : null;
    if (head !== null) yield head;
    const bytes = encoder!.batch(batch);
    if (bytes !== null) yield bytes;
  }
  const rest = rows.flush();
  const head = encoder === undefined ? await begun() : null;
  const last = rest === null ? null : encoder!.batch(rest);
  for (const bytes of [head, last, encoder!.end()]) if (bytes !== null) yield bytes;
}
