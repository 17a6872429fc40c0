// The answer of an InfluxQL statement, in pieces: series with a name, tags and value columns.
import type { ResultBatch, ResultField, ResultType } from "./result-batch.ts";

export interface GroupingField {
  readonly type: ResultType;
  /** As in `ResultField.columnKind`. */
  readonly kind: string;
  /** Of that type; 1 is true. */
  readonly value: number | bigint | string | null;
}

export interface SeriesHead {
  /** A measurement, or the name of a SHOW statement's list; "" for lists without a name. */
  readonly name: string;
  /** GROUP BY tags, ordered by key; a missing value is "". Null if the statement groups by no tags. */
  readonly tags: readonly (readonly [key: string, value: string])[] | null;
  /** Tags that no source has. */
  readonly unknownTags?: readonly string[];
  /** Tags that not all sources have, which are plain texts. */
  readonly plainTags?: readonly string[];
  /** In v3: those of `tags` that are fields, by key, with the value that the series has. */
  readonly groupingFields?: ReadonlyMap<string, GroupingField>;
  /** True: files store the name as plain text, not as a dictionary. */
  readonly hasPlainName?: boolean;
  /** For SELECT, `time` first (a timestamp in ns). */
  readonly fields: readonly ResultField[];
}

/** Some rows of a series. Pieces of one series are consecutive and share the `head` object; a different object starts a new series. */
export interface SeriesPiece {
  readonly head: SeriesHead;
  /** Usually at least one row; an empty batch lists a series without rows. Borrowed until the next piece is requested. */
  readonly batch: ResultBatch;
}
