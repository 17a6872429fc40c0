// Format of a statement's answer on the v1 /query endpoint. The worker that runs the statement writes it; the main thread writes answers
// that need no worker, and the separators between statements.

export type V1Form = "json" | "csv" | "msgpack";

export interface V1Answer {
  readonly form: V1Form;
  /** Nanoseconds per unit of integer times; null: RFC 3339, in CSV nanoseconds. */
  readonly epochNs: number | null;
  readonly isPretty: boolean;
  /** Maximum rows per document, each being complete; "series": a document for each series, none of which says that others follow; null:
   *  one document for all statements. */
  readonly chunkRows: number | "series" | null;
  /** Null: no limit. */
  readonly rowLimit: V1RowLimit | null;
  /** Position in the request, from 0. */
  readonly statementId: number;
  /** True if nothing is written before or after this answer: it begins and ends the document. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Number of statements in the request. */
  readonly statementCount: number;
}

/** The rest of the request's row limit. An answer that reaches it is the last one. */
export interface V1RowLimit {
  /** At least one. */
  readonly rows: number;
  /** Version 1.x splits the answer into several parts and marks all but the last. */
  readonly isInParts: boolean;
}

/** A message attached to an answer. */
export interface V1Message {
  readonly level: "warning";
  readonly text: string;
}

/** The answer to a request without statements. */
export interface V1Shape {
  readonly form: V1Form;
  readonly isPretty: boolean;
}

export const V1_CONTENT_TYPES: Readonly<Record<V1Form, string>> = {
  json: "application/json",
  csv: "application/csv",
  msgpack: "application/x-msgpack",
};
