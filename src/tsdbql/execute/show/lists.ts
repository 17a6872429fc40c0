// Lists as series of an answer: columns of texts and integers.

import type { ResultColumn, ResultField } from "../../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../../model/rows/column.ts";
import type { SeriesHead, SeriesPiece } from "../../functions/series.ts";
import { Texts } from "../../functions/texts.ts";
import { toResultColumn } from "../rows/columns.ts";

/** Rows per piece. */
const PIECE_ROWS = 10_000;

export type ListColumn = readonly string[] | BigInt64Array;

export interface Limits {
  /** 0: no limit. */
  readonly limit: number;
  readonly offset: number;
}

export interface ListHead extends Pick<SeriesHead, "name" | "hasPlainName"> {
  readonly tags?: SeriesHead["tags"];
  /** True: files store the columns as plain texts. */
  readonly hasPlainColumns?: boolean;
}

const UNLIMITED: Limits = { limit: 0, offset: 0 };

/** A series of named columns of equal length after limit and offset; nothing if no row remains. */
export function* list(
  head: ListHead,
  columns: Readonly<Record<string, ListColumn>>,
  { limit, offset }: Limits = UNLIMITED,
): Generator<SeriesPiece> {
  const names = Object.keys(columns);
  const values = Object.values(columns);
  const count = values[0]!.length;
  const end = limit === 0 ? count : Math.min(count, offset + limit);
  if (offset >= end) return;
  const whole = seriesHead(head, names, values);
  for (let from = offset; from < end; from += PIECE_ROWS) {
    const to = Math.min(end, from + PIECE_ROWS);
    yield { head: whole, batch: { rowCount: to - from, columns: values.map((column) => resultColumn(column, from, to)) } };
  }
}

/** The head of an empty list. */
export function listHead(head: ListHead, columns: Readonly<Record<string, ListColumn>>): SeriesHead {
  return seriesHead(head, Object.keys(columns), Object.values(columns));
}

/** Columns that are dictionaries in files, with their kinds. */
const IN_FILES: Readonly<Record<string, NonNullable<ResultField["inFile"]>>> = {
  name: { kind: null, isDictionary: true },
  tagKey: { kind: null, isDictionary: true },
  key: { kind: null, isDictionary: true },
  value: { kind: COLUMN_TYPE_LABEL[ColumnType.tag] },
};

function seriesHead(
  { tags = null, hasPlainColumns = false, ...head }: ListHead,
  names: readonly string[],
  values: readonly ListColumn[],
): SeriesHead {
  const fields = names.map((field, i): ResultField => {
    const type = values[i] instanceof BigInt64Array ? ({ kind: "int", bits: 64, signed: true } as const) : ({ kind: "utf8" } as const);
    return { name: field, type, ...(Object.hasOwn(IN_FILES, field) && !hasPlainColumns ? { inFile: IN_FILES[field]! } : {}) };
  });
  return { ...head, tags, fields };
}

function resultColumn(column: ListColumn, from: number, to: number): ResultColumn {
  if (column instanceof BigInt64Array) return { validity: null, values: column.subarray(from, to) };
  return toResultColumn({ type: "string", values: Texts.of(column.slice(from, to)), validity: null }, to - from);
}

/** A series that continues across calls: for lists over several measurements. */
export class RunningList {
  private readonly head: SeriesHead;
  private skipped = 0;
  private taken = 0;

  constructor(
    head: { readonly name: string },
    private readonly column: string,
    private readonly limits: Limits,
  ) {
    this.head = seriesHead(head, [column], [[]]);
  }

  /** True if the limit is reached. */
  get isFull(): boolean {
    return this.limits.limit > 0 && this.taken >= this.limits.limit;
  }

  *add(values: readonly string[]): Generator<SeriesPiece> {
    const { limit, offset } = this.limits;
    const from = Math.min(values.length, offset - this.skipped);
    this.skipped += from;
    const left = limit === 0 ? values.length - from : Math.min(values.length - from, limit - this.taken);
    if (left <= 0) return;
    this.taken += left;
    for (const { batch } of list({ name: "" }, { [this.column]: values }, { offset: from, limit: left })) yield { head: this.head, batch };
  }
}
