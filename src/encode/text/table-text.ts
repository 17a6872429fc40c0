// Encodes answers of one table as JSON or CSV, in the formats of table-forms.ts.
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultSchema } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import { ByteWriter } from "../byte-writer.ts";
import { createCells } from "../cells/create-cells.ts";
import { type Encoder, joinParts } from "../encoder.ts";
import type { TableForm } from "./table-forms.ts";
import { TextRows } from "./text-rows.ts";

/** The text encoder of one answer. */
export class TableTextEncoder implements Encoder {
  readonly contentType: string;
  private readonly out = new ByteWriter();
  private text: TextRows | undefined;
  private hasRows = false;

  constructor(
    private readonly form: TableForm,
    private readonly kernel?: RowTextMaker,
  ) {
    this.contentType = form.contentType;
  }

  begin(schema: ResultSchema): Uint8Array | null {
    const { out, form, kernel } = this;
    const layout = form.layout(schema.fields);
    const { isCsv, skipsNulls } = layout;
    const makeCells = () => createCells(schema, out, { style: isCsv ? "csv" : "json", omitNulls: skipsNulls });
    this.text = new TextRows(out, { fields: schema.fields, layout, kernel, makeCells });
    form.writeHead(out, schema);
    return form.hasHeadOnlyWithRows ? null : out.takeIfAny();
  }

  rows(batch: ResultBatch): Uint8Array | null {
    const { out, form, text } = this;
    assert(text !== undefined, "the columns are known before the rows");
    if (batch.rowCount === 0) return null;
    const skip = form.joinsRows && !this.hasRows ? 1 : 0;
    this.hasRows = true;
    const bytes = text.byKernel(batch);
    if (bytes !== null) return out.length === 0 ? bytes.subarray(skip) : joinParts([out.take(), bytes.subarray(skip)]);
    text.append(batch, 0, batch.rowCount, skip);
    return out.take();
  }

  end(): Uint8Array | null {
    const { out, form } = this;
    // drops a head that waits for rows
    out.truncate(0);
    out.ascii(form.tail);
    return out.takeIfAny();
  }
}
