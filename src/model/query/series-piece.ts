// The answer of an InfluxQL statement, in pieces: series with a name, tags and value columns.
import type { ResultBatch, ResultField } from "./result-batch.ts";

export interface SeriesHead {
  /** A measurement, or the name of a SHOW statement's list; "" for lists without a name. */
  readonly name: string;
  /** GROUP BY tags, ordered by key; a missing value is "". Null if the statement groups by no tags. */
  readonly tags: readonly (readonly [key: string, value: string])[] | null;
  /** Tags that no source has. */
  readonly unknownTags?: readonly string[];
  /** Tags that not all sources have, which are plain texts. */
  readonly plainTags?: readonly string[];
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
