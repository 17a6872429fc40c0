// Encodes answers as an Arrow IPC stream: schema, dictionaries as they change, record batches, end-of-stream mark. Without
// dictionaries for Flight.
import { makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from "apache-arrow";
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultField, ResultSchema } from "../../model/query/result-batch.ts";
import { ByteWriter } from "../byte-writer.ts";
import type { Encoder } from "../encoder.ts";
import { CodeStrings, withoutCodes } from "./code-strings.ts";
import { type ArrowColumn, type ArrowTarget, arrowColumn } from "./columns.ts";
import { JOIN_LIMITS, JoinedBatches, type JoinLimits } from "./joined-batches.ts";
import { shownRows } from "./shown-rows.ts";

/** Larger batches are split: gRPC clients reject messages above 4 MiB by default. */
const BATCH_BYTES_MAX = 2 << 20;

/** The columns of a stream. */
interface ArrowTable {
  readonly fields: readonly ResultField[];
  readonly columns: readonly ArrowColumn[];
  /** The same columns with unique names: the library identifies columns by name. Batches contain no names. */
  readonly unnamed: Schema;
  /** Null: codes are encoded as dictionaries. */
  readonly strings: CodeStrings | null;
  /** Null: every batch is a record batch. */
  readonly joined: JoinedBatches | null;
}

/** How rows are cut into record batches. */
export interface ArrowBatchLimits {
  readonly bytesMax?: number;
  /** Null: batches are not joined. */
  readonly join?: JoinLimits | null;
}

/** The Arrow encoder of one answer. */
export class ArrowEncoder implements Encoder {
  readonly contentType = "application/vnd.apache.arrow.stream";
  private readonly out = new ByteWriter();
  private readonly writer = new StreamBytes(this.out);
  private table: ArrowTable = { fields: [], columns: [], unnamed: new Schema([]), strings: null, joined: null };
  private readonly batchBytesMax: number;
  private readonly join: JoinLimits | null;

  /** @param target the reader: HTTP or Flight clients, or the Parquet writer */
  constructor(
    private readonly target: ArrowTarget = "ipc",
    { bytesMax, join = JOIN_LIMITS }: ArrowBatchLimits = {},
  ) {
    // a row group of Parquet ends by the bytes that this encoder returned
    this.join = target === "parquet" ? null : join;
    this.batchBytesMax = bytesMax ?? (target === "parquet" ? Number.POSITIVE_INFINITY : BATCH_BYTES_MAX);
  }

  begin({ fields: all, metadata }: ResultSchema): Uint8Array {
    const { target } = this;
    const fields = target === "flight" ? withoutCodes(all) : all;
    const columns = fields.map((field) => arrowColumn(field, target));
    const unnamed = new Schema(columns.map(({ field }, index) => field.clone({ name: String(index) })));
    this.table = {
      ...{ fields, columns, unnamed, strings: target === "flight" ? new CodeStrings(all) : null },
      joined: this.join === null ? null : new JoinedBatches(all, this.join),
    };
    const named = columns.map(({ field }) => field);
    this.writer.reset(undefined, new Schema(named, metadata === undefined ? null : new Map(metadata)));
    return this.out.take();
  }

  rows(batch: ResultBatch): Uint8Array | null {
    const { columns, joined } = this.table;
    assert(batch.columns.length === columns.length, `${batch.columns.length} columns, ${columns.length} in the schema`);
    if (batch.rowCount === 0) return null;
    for (const part of joined?.add(batch) ?? [batch]) this.writeAll(part);
    return this.out.takeIfAny();
  }

  private writeAll(batch: ResultBatch): void {
    const { strings } = this.table;
    if (strings === null) this.write(batch);
    else for (const part of strings.parts(batch, this.batchBytesMax)) this.write(part);
  }

  private write(batch: ResultBatch): void {
    const { rowCount } = batch;
    const { fields } = this.table;
    const whole = this.recordBatch(shownRows(batch, fields));
    const { byteLength } = whole.data;
    // In multiples of eight rows, so that no bitmap must be shifted; eight rows may still be too large.
    const rows = Math.max(8, Math.floor((rowCount * this.batchBytesMax) / byteLength / 8) * 8);
    if (byteLength <= this.batchBytesMax || rows >= rowCount) this.writer.writeBatch(whole);
    else {
      for (let from = 0; from < rowCount; from += rows) {
        const part = shownRows(batch, fields, { from, count: Math.min(rows, rowCount - from) });
        this.writer.writeBatch(this.recordBatch(part));
      }
    }
  }

  private recordBatch({ rowCount, columns }: ResultBatch): RecordBatch {
    const { unnamed, columns: targets } = this.table;
    const children = targets.map((column, index) => column.data(columns[index]!, rowCount));
    return new RecordBatch(unnamed, makeData({ type: new Struct(unnamed.fields), length: rowCount, nullCount: 0, children }));
  }

  end(): Uint8Array {
    for (const part of this.table.joined?.rest() ?? []) this.writeAll(part);
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
