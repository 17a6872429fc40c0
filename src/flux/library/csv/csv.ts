// Package `csv`: tables from text.

import { ColumnBuilder } from "../../tables/column-builder.ts";
import { FluxTable, GroupKey } from "../../tables/table.ts";
import { DecodeError, FluxError, UnplacedError } from "../../values/flux-error.ts";
import type { LibraryPackage } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { parseAnnotatedCsv } from "./annotated.ts";
import { csvRows } from "./parse-csv.ts";

/** The first row holds labels; all values are strings. */
function parseRawCsv(text: string): FluxTable[] {
  let columns: ColumnBuilder[] | null = null;
  let rowCount = 0;
  for (const cells of csvRows(text)) {
    if (cells.length === 0) continue;
    if (columns === null) {
      // labels may repeat
      columns = cells.map((label) => new ColumnBuilder(label, "string"));
      continue;
    }
    if (cells.length !== columns.length) throw new FluxError("error in csv.from(): wrong number of fields");
    cells.forEach((cell, i) => {
      columns![i]!.append(cell);
    });
    rowCount++;
  }
  if (columns === null) return [];
  const built = columns.map((column) => column.build());
  return [new FluxTable(GroupKey.NONE, built, rowCount)];
}

export const CSV: LibraryPackage = {
  path: "csv",
  name: "csv",
  source: "builtin from : (?csv: string, ?file: string, ?mode: string) => stream[A] where A: Record",
  natives: {
    from: (call) => {
      const mode = call.string("mode", "annotations");
      const [text, file] = [call.string("csv", ""), call.string("file", "")];
      if (text !== "" && file !== "") throw new FluxError("must provide exactly one of the parameters csv or file");
      if (text === "" && file === "") throw new FluxError("must provide csv raw text or filename");
      const node = streamOf(call, [], function* () {
        if (file !== "")
          throw new UnplacedError(`error in csv.from(): csv.from() failed to read file: filesystem service is uninitialized`);
        let hasTables = false;
        try {
          for (const table of mode === "raw" ? parseRawCsv(text) : parseAnnotatedCsv(text)) {
            yield table;
            hasTables = true;
          }
        } catch (error) {
          if (!(error instanceof FluxError)) throw error;
          throw hasTables ? new DecodeError(error.message) : new UnplacedError(error.message);
        }
      });
      // nothing keeps a text from having them
      node.passesTables = true;
      return node;
    },
  },
};
