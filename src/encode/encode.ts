// Entry point: creates the encoder for an answer's format.
import { unreachable } from "../model/assert.ts";
import type { QueryFormat } from "../model/query/query.ts";
import type { RowTextMaker } from "../model/query/row-text.ts";
import type { Encoder } from "./encoder.ts";
import { PluginAnswerEncoder } from "./text/plugin-answer.ts";
import { PrettyEncoder } from "./text/pretty-encoder.ts";
import { CSV, JSON_LINES, JSON_ROWS, SERIES } from "./text/table-forms.ts";
import { TableTextEncoder } from "./text/table-text.ts";

/** Creates the encoder of one answer; with `kernel`, it formats rows of JSON and CSV where possible. Arrow and Parquet load their
 *  libraries on first use, because importing them takes longer than the rest of a server start. */
export function createEncoder(format: QueryFormat, kernel?: RowTextMaker): Encoder | Promise<Encoder> {
  switch (format) {
    case "seed":
      return new TableTextEncoder(SERIES, kernel);
    case "plugin":
      return new PluginAnswerEncoder(kernel);
    case "json":
      return new TableTextEncoder(JSON_ROWS, kernel);
    case "jsonl":
      return new TableTextEncoder(JSON_LINES, kernel);
    case "csv":
      return new TableTextEncoder(CSV, kernel);
    case "pretty":
      return new PrettyEncoder();
    case "arrow":
      return import("./arrow/arrow-encoder.ts").then(({ ArrowEncoder }) => new ArrowEncoder());
    case "flight":
      return import("./arrow/arrow-encoder.ts").then(({ ArrowEncoder }) => new ArrowEncoder("flight"));
    case "parquet":
      return import("./parquet/parquet-encoder.ts").then(({ ParquetEncoder }) => ParquetEncoder.create());
    default:
      return unreachable(format);
  }
}
