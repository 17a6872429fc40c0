// Joins small batches of an answer: a record batch costs as much as a few thousand values, for us and for the reader, and the engine
// returns 2,048 rows at a time.
import type { ResultBatch, ResultField } from "../../model/query/result-batch.ts";
import { JoinedColumn } from "../../model/rows/joined-column.ts";

/** Rows that are joined, and approximate bytes of their values. */
export interface JoinLimits {
  readonly rows: number;
  readonly bytes: number;
}

export const JOIN_LIMITS: JoinLimits = { rows: 16 * 1024, bytes: 1 << 20 };

/** The batches of one answer. The first is never held back, so that an answer begins as soon as there are rows. */
export class JoinedBatches {
  private readonly columns: readonly JoinedColumn[];
  private isFirst = true;
  private rowCount = 0;
  private bytes = 0;

  constructor(
    fields: readonly ResultField[],
    private readonly limits: JoinLimits = JOIN_LIMITS,
  ) {
    this.columns = fields.map(({ type }) => new JoinedColumn(type));
  }

  /** Takes a borrowed batch, and returns what is ready: borrowed, and valid until the next one is asked for. */
  *add(batch: ResultBatch): Generator<ResultBatch> {
    const bytes = bytesOf(batch);
    if (this.rowCount > 0 && !this.hasRoom(batch, bytes)) yield* this.rest();
    const isLarge = batch.rowCount * 2 > this.limits.rows || bytes * 2 > this.limits.bytes;
    if (this.isFirst || (this.rowCount === 0 && isLarge)) {
      this.isFirst = false;
      yield batch;
      return;
    }
    for (const [i, column] of this.columns.entries()) column.append(batch.columns[i]!, { from: 0, count: batch.rowCount });
    this.rowCount += batch.rowCount;
    this.bytes += bytes;
    if (this.rowCount >= this.limits.rows || this.bytes >= this.limits.bytes) yield* this.rest();
  }

  /** Returns the rows that are held back. */
  *rest(): Generator<ResultBatch> {
    const { rowCount } = this;
    if (rowCount === 0) return;
    this.rowCount = 0;
    this.bytes = 0;
    yield { rowCount, columns: this.columns.map((column) => column.column()) };
    for (const column of this.columns) column.clear();
  }

  private hasRoom({ rowCount, columns }: ResultBatch, bytes: number): boolean {
    if (this.rowCount + rowCount > this.limits.rows || this.bytes + bytes > this.limits.bytes) return false;
    return this.columns.every((column, i) => column.accepts(columns[i]!));
  }
}

function bytesOf({ columns }: Pick<ResultBatch, "columns">): number {
  let bytes = 0;
  for (const { values, offsets, data, children } of columns) {
    bytes += values.byteLength + (offsets?.byteLength ?? 0) + (data?.byteLength ?? 0);
    if (children !== undefined) bytes += bytesOf({ columns: children });
  }
  return bytes;
}
