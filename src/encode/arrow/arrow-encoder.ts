// Encodes answers as an Arrow IPC stream: schema, dictionaries as they change, one record batch per batch, end-of-stream mark. Without
// dictionaries for Flight.
import { makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from "apache-arrow";
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultField, ResultSchema } from "../../model/query/result-batch.ts";
import type { AnswerEncoder } from "../answer-encoder.ts";
import { ByteWriter } from "../byte-writer.ts";
import { CodeStrings, withoutCodes } from "./code-strings.ts";
import { type ArrowColumn, type ArrowTarget, arrowColumn } from "./columns.ts";
import { shownRows } from "./shown-rows.ts";

/** Larger batches are split: gRPC clients reject messages above 4 MiB by default. */
const BATCH_BYTES_MAX = 2 << 20;

/** The Arrow encoder of one answer. */
export class ArrowEncoder implements AnswerEncoder {
  readonly contentType = "application/vnd.apache.arrow.stream";
  private readonly columns: readonly ArrowColumn[];
  private readonly fields: readonly ResultField[];
  private readonly schema: Schema;
  /** The same columns with unique names: the library identifies columns by name. Batches contain no names. */
  private readonly unnamed: Schema;
  private readonly out = new ByteWriter();
  private readonly writer: StreamBytes;
  /** Null: codes are encoded as dictionaries. */
  private readonly strings: CodeStrings | null;

  /** @param target the reader: HTTP or Flight clients, or the Parquet writer */
  constructor(
    schema: ResultSchema,
    target: ArrowTarget = "ipc",
    private readonly batchBytesMax = target === "parquet" ? Number.POSITIVE_INFINITY : BATCH_BYTES_MAX,
  ) {
    this.strings = target === "flight" ? new CodeStrings(schema.fields) : null;
    this.fields = target === "flight" ? withoutCodes(schema.fields) : schema.fields;
    this.columns = this.fields.map((field) => arrowColumn(field, target));
    this.schema = new Schema(
      this.columns.map(({ field }) => field),
      schema.metadata === undefined ? null : new Map(schema.metadata),
    );
    this.unnamed = new Schema(this.columns.map(({ field }, index) => field.clone({ name: String(index) })));
    this.writer = new StreamBytes(this.out);
  }

  begin(): Uint8Array {
    this.writer.reset(undefined, this.schema);
    return this.out.take();
  }

  batch(batch: ResultBatch): Uint8Array | null {
    const { rowCount } = batch;
    assert(batch.columns.length === this.columns.length, `${batch.columns.length} columns, ${this.columns.length} in the schema`);
    if (rowCount === 0) return null;
    if (this.strings === null) this.write(batch);
    else for (const part of this.strings.parts(batch, this.batchBytesMax)) this.write(part);
    return this.out.take();
  }

  private write(batch: ResultBatch): void {
    const { rowCount } = batch;
    const whole = this.recordBatch(shownRows(batch, this.fields));
    const { byteLength } = whole.data;
    // In multiples of eight rows, so that no bitmap must be shifted; eight rows may still be too large.
    const rows = Math.max(8, Math.floor((rowCount * this.batchBytesMax) / byteLength / 8) * 8);
    if (byteLength <= this.batchBytesMax || rows >= rowCount) this.writer.writeBatch(whole);
    else {
      for (let from = 0; from < rowCount; from += rows) {
        const part = shownRows(batch, this.fields, { from, count: Math.min(rows, rowCount - from) });
        this.writer.writeBatch(this.recordBatch(part));
      }
    }
  }

  private recordBatch({ rowCount, columns }: ResultBatch): RecordBatch {
    const { unnamed } = this;
    const children = this.columns.map((column, index) => column.data(columns[index]!, rowCount));
    return new RecordBatch(unnamed, makeData({ type: new Struct(unnamed.fields), length: rowCount, nullCount: 0, children }));
  }

  end(): Uint8Array {
    this.writer.finish();
    return this.out.take();
  }
}

/** The library's writer with its chunk queue replaced by our buffer: chunks are views of the batch's borrowed buffers, so they are
 *  copied immediately. */
class StreamBytes extends RecordBatchStreamWriter {
  constructor(private readonly out: ByteWriter) {
    super({ autoDestroy: false });
  }

  /** Accepts batches of the stream's schema, whatever their names. */
  writeBatch(batch: RecordBatch): void {
    this._writeRecordBatch(batch);
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (this._started) {
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.out.copy(bytes, 0, bytes.length);
      this._position += bytes.length;
    }
    return this;
  }

  protected override _writeRecordBatch(batch: RecordBatch): this {
    super._writeRecordBatch(batch);
    // Collected for a file footer, which a stream does not have: one entry per batch, never freed.
    this._recordBatchBlocks.length = 0;
    this._dictionaryBlocks.length = 0;
    return this;
  }
}
