// The v1 API's JSON: results of statements, series of a result, rows of a series; one document for all statements, or with `chunkRows` a
// document per group of rows. Members are in the order of version 1.x.
//
// The bytes returned so far are either empty or end within the rows of a series, so that the caller can end the document if no more follow:
// `brokenV1Json`.

import { assert } from "../../model/assert.ts";
import type { ResultBatch } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { SeriesHead } from "../../model/query/series-piece.ts";
import { V1_CONTENT_TYPES, type V1Answer, type V1Message } from "../../model/query/v1-answer.ts";
import { ByteWriter } from "../byte-writer.ts";
import type { V1Cut, V1Encoder } from "./row-limit.ts";
import { V1Rows } from "./rows.ts";
import { V1Layout, v1JsonText } from "./text.ts";

/** Bytes collected before they are returned. */
const PART_BYTES = 64 << 10;
const COMMA = ",";

/** The JSON encoder of one statement. */
export class V1JsonEncoder implements V1Encoder {
  readonly contentType = V1_CONTENT_TYPES.json;
  private readonly out = new ByteWriter();
  private readonly layout: V1Layout;
  private readonly text: V1Rows;
  private head: SeriesHead | null = null;
  /** Rows in the current document. */
  private rowsInDocument = 0;
  private rowsInSeries = 0;

  constructor(
    private readonly answer: V1Answer,
    kernel?: RowTextMaker,
    private readonly messages: readonly V1Message[] = [],
  ) {
    const layout = new V1Layout(answer.isPretty);
    this.layout = layout;
    const texts = {
      rowStart: `${COMMA}${layout.line(6)}[${layout.line(7)}`,
      rowEnd: `${layout.line(6)}]`,
      separator: `${COMMA}${layout.line(7)}`,
    };
    this.text = new V1Rows(this.out, { isCsv: false, epochNs: answer.epochNs, ...texts }, kernel);
  }

  begin(head: SeriesHead): null {
    this.nextSeries(head);
    return null;
  }

  rows(batch: ResultBatch): Uint8Array | null {
    const { chunkRows } = this.answer;
    for (let row = 0; row < batch.rowCount; ) {
      if (this.rowsInDocument === chunkRows) this.nextDocument();
      const room = typeof chunkRows === "number" ? chunkRows - this.rowsInDocument : batch.rowCount;
      const end = Math.min(batch.rowCount, row + room);
      this.writeRows(batch, row, end);
      row = end;
    }
    return this.out.length >= PART_BYTES && this.rowsInSeries > 0 ? this.out.take() : null;
  }

  end(cut?: V1Cut): Uint8Array {
    if (this.head === null) this.openResult();
    else this.closeSeries(cut?.series ?? false);
    this.closeResult(cut?.result ?? false, cut !== undefined || this.answer.isLast);
    return this.out.take();
  }

  private writeRows(batch: ResultBatch, from: number, to: number): void {
    const { out, layout } = this;
    const isFirst = this.rowsInSeries === 0;
    if (isFirst) out.ascii(`${COMMA}${layout.member(5, "values")}[`);
    this.text.write(batch, from, to, isFirst ? COMMA.length : 0);
    this.rowsInSeries += to - from;
    this.rowsInDocument += to - from;
  }

  private nextSeries(head: SeriesHead): void {
    const isFirst = this.head === null;
    const { chunkRows } = this.answer;
    if (!isFirst) this.closeSeries(false);
    if (!isFirst && chunkRows !== null) this.closeResult(chunkRows !== "series");
    if (isFirst || chunkRows !== null) this.openList();
    else this.out.ascii(COMMA);
    this.openSeries(head);
  }

  private nextDocument(): void {
    const { head } = this;
    assert(head !== null, "rows belong to a series");
    this.closeSeries(true);
    this.closeResult(true);
    this.openList();
    this.openSeries(head);
  }

  private openResult(): void {
    const { answer, out, layout } = this;
    out.ascii(startOf(answer, layout));
    this.rowsInDocument = 0;
  }

  private openList(): void {
    this.openResult();
    this.out.ascii(`${COMMA}${this.layout.member(3, "series")}[`);
  }

  private openSeries(head: SeriesHead): void {
    this.head = head;
    this.rowsInSeries = 0;
    this.out.utf8(headOf(head, this.layout));
    this.text.begin(head.fields);
  }

  private closeSeries(isPartial: boolean): void {
    const { out, layout } = this;
    if (this.rowsInSeries > 0) out.ascii(`${layout.line(5)}]`);
    if (isPartial) out.ascii(`${COMMA}${layout.member(5, "partial")}true`);
    out.ascii(`${layout.line(4)}}`);
  }

  private closeResult(isPartial: boolean, isLast = this.answer.isLast): void {
    const { out, layout, answer } = this;
    if (this.head !== null) out.ascii(`${layout.line(3)}]`);
    if (!isPartial) out.utf8(messagesOf(this.messages, layout));
    if (isPartial) out.ascii(`${COMMA}${layout.member(3, "partial")}true`);
    out.ascii(endOf({ ...answer, isLast }, layout));
  }
}

/** A result that consists of an error, after the results of earlier statements. */
export function v1JsonFailure(answer: V1Answer, message: string): string {
  const layout = new V1Layout(answer.isPretty);
  return `${startOf(answer, layout)}${errorMember(layout, message)}${endOf(answer, layout)}`;
}

/** Ends the answer of a statement that failed after its first bytes. */
export function brokenV1Json(answer: V1Answer, message: string): string {
  const layout = new V1Layout(answer.isPretty);
  const closed = `${layout.line(5)}]${layout.line(4)}}${layout.line(3)}]`;
  return `${closed}${errorMember(layout, message)}${endOf(answer, layout)}`;
}

/** The answer to a rejected request; `message` null: a request without statements. */
export function v1JsonRefusal(isPretty: boolean, message: string | null): string {
  const layout = new V1Layout(isPretty);
  return message === null ? "{}\n" : `{${layout.member(1, "error")}${v1JsonText(message)}${layout.line(0)}}\n`;
}

function errorMember(layout: V1Layout, message: string): string {
  return `${COMMA}${layout.member(3, "error")}${v1JsonText(message)}`;
}

function startOf({ chunkRows, isFirst, statementId }: V1Answer, layout: V1Layout): string {
  const begin = chunkRows !== null || isFirst ? `{${layout.member(1, "results")}[` : COMMA;
  return `${begin}${layout.line(2)}{${layout.member(3, "statement_id")}${statementId}`;
}

function endOf({ chunkRows, isLast }: V1Answer, layout: V1Layout): string {
  const end = chunkRows !== null || isLast ? `${layout.line(1)}]${layout.line(0)}}\n` : "";
  return `${layout.line(2)}}${end}`;
}

/** Members of a series up to its columns. */
function headOf({ name, tags, fields }: SeriesHead, layout: V1Layout): string {
  const members: string[] = [];
  if (name !== "") members.push(`${layout.member(5, "name")}${v1JsonText(name)}`);
  if (tags !== null && tags.length > 0) {
    const pairs = tags.map(([key, value]) => `${layout.line(6)}${v1JsonText(key)}${layout.colon}${v1JsonText(value)}`);
    members.push(`${layout.member(5, "tags")}{${pairs.join(COMMA)}${layout.line(5)}}`);
  }
  const columns = fields.map((field) => `${layout.line(6)}${v1JsonText(field.name)}`);
  members.push(`${layout.member(5, "columns")}[${columns.join(COMMA)}${layout.line(5)}]`);
  return `${layout.line(4)}{${members.join(COMMA)}`;
}

function messagesOf(messages: readonly V1Message[], layout: V1Layout): string {
  if (messages.length === 0) return "";
  const texts = messages.map(
    ({ level, text }) =>
      `${layout.line(4)}{${layout.member(5, "level")}"${level}",${layout.member(5, "text")}${v1JsonText(text)}${layout.line(4)}}`,
  );
  return `${COMMA}${layout.member(3, "messages")}[${texts.join(COMMA)}${layout.line(3)}]`;
}
