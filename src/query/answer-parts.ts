// Produces the bytes of an answer, batch by batch, as the engine computes them.
import { shownRows } from "../encode/arrow/shown-rows.ts";
import type { Encoder } from "../encode/encoder.ts";
import type { QueryFormat } from "../model/query/query.ts";
import type { ResultBatch, ResultSchema } from "../model/query/result-batch.ts";
import type { Turns } from "../model/turns.ts";
import type { SqlAnswer } from "../sql/execute/engine.ts";
import type { StatementClock } from "./statement-clock.ts";

/** Values formatted without a pause in a text table: each takes several microseconds. */
const DRAWN_CELLS = 2 * 1024;

/** An encoder after `begin`, and the bytes that this returned. */
export interface BegunEncoder {
  readonly encoder: Encoder;
  readonly head: Uint8Array | null;
}

export interface AnswerRun {
  readonly format: QueryFormat;
  /** Lets other statements of the worker run between two parts. */
  readonly turns: Turns;
  /** Runs while a part is produced, paused while the reader consumes it. */
  readonly clock: StatementClock;
}

/** Encodes the batches of one answer. Each part is owned by the reader. */
export class AnswerParts implements AsyncIterable<Uint8Array> {
  /** Rows encoded so far. */
  rowCount = 0;

  constructor(
    private readonly answer: SqlAnswer,
    private readonly begun: BegunEncoder,
    private readonly run: AnswerRun,
  ) {}

  /** May be iterated once. The clock is paused at the start. @throws TsdbError */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { answer } = this;
    const { encoder, head } = this.begun;
    const { format, turns, clock } = this.run;
    if (head !== null) yield head;
    clock.resume();
    for await (const batch of answer.batches) {
      this.rowCount += batch.rowCount;
      for (const part of partsOf(batch, answer.schema, format)) {
        const bytes = encoder.rows(part);
        clock.pause();
        if (bytes !== null) yield bytes;
        clock.resume();
        const pause = turns.pause();
        if (pause !== null) await pause;
      }
    }
    clock.pause();
    const tail = encoder.end();
    if (tail !== null) yield tail;
  }
}

/** Splits a batch into the rows that an encoder processes without a pause. */
function* partsOf(batch: ResultBatch, { fields }: ResultSchema, format: QueryFormat): Generator<ResultBatch> {
  const rows = Math.max(1, Math.floor(DRAWN_CELLS / Math.max(1, fields.length)));
  if (format !== "pretty" || batch.rowCount <= rows) yield batch;
  else
    for (let from = 0; from < batch.rowCount; from += rows) {
      yield shownRows(batch, fields, { from, count: Math.min(rows, batch.rowCount - from) });
    }
}
