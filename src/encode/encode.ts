// Entry point: creates the encoder for an answer's format and columns.
import { unreachable } from "../model/assert.ts";
import type { QueryFormat } from "../model/query/query.ts";
import type { ResultSchema } from "../model/query/result-batch.ts";
import type { RowTextMaker } from "../model/query/row-text.ts";
import type { AnswerEncoder } from "./answer-encoder.ts";
import { CsvEncoder } from "./text/csv-encoder.ts";
import { JsonEncoder, SeriesEncoder } from "./text/json-encoder.ts";
import { PrettyEncoder } from "./text/pretty-encoder.ts";

export type { AnswerEncoder } from "./answer-encoder.ts";

/** Creates the encoder of one answer; with `kernel`, it formats rows of JSON and CSV where possible. Arrow and Parquet load their
 *  libraries on first use, because importing them takes longer than the rest of a server start. @throws TsdbError bad_format if the
 *  format cannot represent a column's type */
export function createEncoder(format: QueryFormat, schema: ResultSchema, kernel?: RowTextMaker): AnswerEncoder | Promise<AnswerEncoder> {
  switch (format) {
    case "seed":
      return new SeriesEncoder(schema, kernel);
    case "json":
      return new JsonEncoder(schema, false, kernel);
    case "jsonl":
      return new JsonEncoder(schema, true, kernel);
    case "csv":
      return new CsvEncoder(schema, kernel);
    case "pretty":
      return new PrettyEncoder(schema);
    case "arrow":
      return import("./arrow/arrow-encoder.ts").then(({ ArrowEncoder }) => new ArrowEncoder(schema));
    case "flight":
      return import("./arrow/arrow-encoder.ts").then(({ ArrowEncoder }) => new ArrowEncoder(schema, "flight"));
    case "parquet":
      return import("./parquet/parquet-encoder.ts").then(({ ParquetEncoder }) => ParquetEncoder.create(schema));
    default:
      return unreachable(format);
  }
}
