// What a statement of the v1-style language answers, piece by piece: series with a name, tags and columns of values.
import type { ResultBatch, ResultField } from "./result-batch.ts";

export interface SeriesHead {
  /** A measurement, or what a SHOW statement calls its list; "" for lists without a name. */
  readonly name: string;
  /** GROUP BY tags in order of key; a missing value is "". Null when the statement groups by no tags. */
  readonly tags: readonly (readonly [key: string, value: string])[] | null;
  /** Tags that no source has. */
  readonly unknownTags?: readonly string[];
  /** The name is a text like others, no dictionary in files. */
  readonly hasPlainName?: boolean;
  /** Of SELECT: `time` first (a timestamp of unit ns). */
  readonly fields: readonly ResultField[];
}

/** Some rows of a series. Pieces of one series follow each other and share the same `head` object; another object is another series. */
export interface SeriesPiece {
  readonly head: SeriesHead;
  /** At least one row; none says that the series has no rows and is listed all the same. Borrowed until the next piece is asked for. */
  readonly batch: ResultBatch;
}
