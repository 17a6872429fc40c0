// The v1 API's answers as MessagePack. Lists start with their length, so a document is returned as a whole: without chunks all rows of a
// statement are collected, up to a limit.
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ResultBatch, ResultColumn, ResultField } from "../../model/query/result-batch.ts";
import type { SeriesHead } from "../../model/query/series-piece.ts";
import { V1_CONTENT_TYPES, type V1Answer, type V1Message } from "../../model/query/v1-answer.ts";
import { MsgpackWriter } from "./msgpack-writer.ts";
import type { V1Cut, V1Encoder } from "./row-limit.ts";

const DOCUMENT_BYTES_MAX = 256 << 20;

/** The MessagePack encoder of one statement. */
export class V1MsgpackEncoder implements V1Encoder {
  readonly contentType = V1_CONTENT_TYPES.msgpack;
  private readonly out = new MsgpackWriter();
  /** Completed series of the document, and rows of the current one. */
  private readonly series = new MsgpackWriter();
  private readonly values = new MsgpackWriter();
  private seriesCount = 0;
  private rowCount = 0;
  private head: SeriesHead | null = null;

  constructor(
    private readonly answer: V1Answer,
    private readonly messages: readonly V1Message[] = [],
  ) {}

  begin(head: SeriesHead): null {
    if (this.head !== null) this.closeSeries(false);
    if (this.head !== null && this.answer.chunkRows !== null) this.closeDocument(this.answer.chunkRows !== "series");
    this.head = head;
    return null;
  }

  rows(batch: ResultBatch): Uint8Array | null {
    const { head } = this;
    const { chunkRows } = this.answer;
    assert(head !== null, "rows belong to a series");
    for (let row = 0; row < batch.rowCount; row++) {
      if (this.rowCount === chunkRows) {
        this.closeSeries(true);
        this.closeDocument(true);
      }
      this.writeRow(head.fields, batch.columns, row);
      this.rowCount++;
    }
    if (this.series.length + this.values.length > DOCUMENT_BYTES_MAX) {
      throw new TsdbError("query_limit", "an answer in MessagePack of more than 256 MiB; ask for it with chunked=true, or as JSON");
    }
    return this.out.takeIfAny();
  }

  end(cut?: V1Cut): Uint8Array {
    if (this.head !== null) this.closeSeries(cut?.series ?? false);
    this.closeDocument(cut?.result ?? false);
    return this.out.take();
  }

  private writeRow(fields: readonly ResultField[], columns: readonly ResultColumn[], row: number): void {
    this.values.array(fields.length);
    for (let i = 0; i < fields.length; i++) writeCell(this.values, fields[i]!, columns[i]!, row, this.answer.epochNs);
  }

  private closeSeries(isPartial: boolean): void {
    const { series, values } = this;
    const { name, tags, fields } = this.head!;
    const hasTags = tags !== null && tags.length > 0;
    series.map(Number(name !== "") + Number(hasTags) + 1 + Number(this.rowCount > 0) + Number(isPartial));
    if (name !== "") {
      series.text("name");
      series.text(name);
    }
    if (hasTags) {
      series.text("tags");
      series.map(tags.length);
      for (const text of tags.flat()) series.text(text);
    }
    series.text("columns");
    series.array(fields.length);
    for (const field of fields) series.text(field.name);
    if (this.rowCount > 0) {
      series.text("values");
      series.array(this.rowCount);
      series.copy(values.bytes, 0, values.length);
    }
    if (isPartial) writePartial(series);
    values.truncate(0);
    this.rowCount = 0;
    this.seriesCount++;
  }

  private closeDocument(isPartial: boolean): void {
    const { out, series, messages } = this;
    begin(out, this.answer);
    out.map(2 + Number(messages.length > 0) + Number(isPartial));
    out.text("statement_id");
    out.int64(BigInt(this.answer.statementId));
    if (messages.length > 0) writeMessages(out, messages);
    out.text("series");
    out.array(this.seriesCount);
    out.copy(series.bytes, 0, series.length);
    if (isPartial) writePartial(out);
    series.truncate(0);
    this.seriesCount = 0;
  }
}

/** A result that consists of an error. */
export function v1MsgpackFailure(answer: V1Answer, message: string): Uint8Array {
  const out = new MsgpackWriter();
  begin(out, answer);
  out.map(1);
  out.text("error");
  out.text(message);
  return out.take();
}

/** The bytes before `resultCount` results. */
export function v1MsgpackStart(resultCount: number): Uint8Array {
  const out = new MsgpackWriter();
  writeStart(out, resultCount);
  return out.take();
}

/** The answer to a rejected request; `message` null: a request without statements. */
export function v1MsgpackRefusal(message: string | null): Uint8Array {
  const out = new MsgpackWriter();
  out.map(1);
  if (message === null) {
    out.text("results");
    out.array(0);
  } else {
    out.text("error");
    out.text(message);
  }
  return out.take();
}

/** The bytes before a result. */
function begin(out: MsgpackWriter, { chunkRows, isFirst, statementCount }: V1Answer): void {
  if (chunkRows === null && !isFirst) return;
  writeStart(out, chunkRows === null ? statementCount : 1);
}

function writeStart(out: MsgpackWriter, resultCount: number): void {
  out.map(1);
  out.text("results");
  out.array(resultCount);
}

function writePartial(out: MsgpackWriter): void {
  out.text("partial");
  out.bool(true);
}

function writeMessages(out: MsgpackWriter, messages: readonly V1Message[]): void {
  out.text("messages");
  out.array(messages.length);
  for (const { level, text } of messages) {
    out.map(2);
    out.text("level");
    out.text(level);
    out.text("text");
    out.text(text);
  }
}

function writeCell(out: MsgpackWriter, { type }: ResultField, column: ResultColumn, row: number, epochNs: number | null): void {
  const { validity, values } = column;
  if (validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0) {
    out.nil();
    return;
  }
  switch (type.kind) {
    case "bool":
      out.bool(values[row] !== 0);
      return;
    case "int":
      if (type.signed) out.int64(BigInt(values[row]!));
      else out.uint64(BigInt(values[row]!));
      return;
    case "float": {
      const value = values[row] as number;
      if (Number.isNaN(value)) out.nil();
      else out.float(value);
      return;
    }
    case "timestamp": {
      const timeNs = values[row] as bigint;
      if (epochNs === null) out.time(timeNs);
      else out.int64(timeNs / BigInt(epochNs));
      return;
    }
    case "utf8":
      out.textBytes(column.data!, column.offsets![row]!, column.offsets![row + 1]!);
      return;
    case "dictionary":
      out.text(column.dictionary![values[row] as number]!);
      return;
    default:
      assert(type.kind === "null", `a value of type ${type.kind} in MessagePack`);
      out.nil();
      return;
  }
}
