// Package `csv`: tables from text.

import type { FluxTable } from "../../tables/table.ts";
import { GroupKey, TableBuilder } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { LibraryPackage } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { parseAnnotatedCsv } from "./annotated.ts";
import { csvRows } from "./parse-csv.ts";

/** The first row holds labels; all values are strings. */
function parseRawCsv(text: string): FluxTable[] {
  const builder = new TableBuilder(GroupKey.NONE);
  let labels: readonly string[] | null = null;
  for (const cells of csvRows(text)) {
    if (cells.length === 0) continue;
    if (labels === null) {
      labels = cells;
      if (new Set(cells).size < cells.length) throw new FluxError("csv.from: two columns have the same label");
      for (const label of labels) builder.column(label, "string");
      continue;
    }
    if (cells.length !== labels.length) throw new FluxError("error in csv.from(): record on line 0: wrong number of fields");
    cells.forEach((cell, i) => {
      builder.columns[i]!.append(cell);
    });
    builder.rowCount++;
  }
  return labels === null ? [] : [builder.build()];
}

export const CSV: LibraryPackage = {
  path: "csv",
  name: "csv",
  source: "builtin from : (?csv: string, ?file: string, ?mode: string) => stream[A] where A: Record",
  natives: {
    from: (call) => {
      const mode = call.string("mode", "annotations");
      if (call.has("file")) throw new FluxError("csv.from() error: filesystem service uninitialized");
      const text = call.string("csv", "");
      if (text === "") throw new FluxError("must provide csv raw text or filename");
      return streamOf(call, [], () => (mode === "raw" ? parseRawCsv(text) : parseAnnotatedCsv(text)));
    },
  },
};
