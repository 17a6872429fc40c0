// How a statement's answer looks on the v1 API's /query. The worker that runs the statement writes it; the main thread writes what answers
// without a worker, and what stands between the answers of several statements.

export type V1Form = "json" | "csv" | "msgpack";

export interface V1Answer {
  readonly form: V1Form;
  /** Nanoseconds of the unit in which times are whole numbers; null: RFC 3339, in CSV nanoseconds. */
  readonly epochNs: number | null;
  readonly isPretty: boolean;
  /** Rows of a document at most, each document being a whole; null: all statements are one document. */
  readonly chunkRows: number | null;
  /** Null: as many rows as there are. */
  readonly rowLimit: V1RowLimit | null;
  /** From 0 in order of the request. */
  readonly statementId: number;
  /** Nothing was written before it, and nothing will be behind it: the document begins and ends with it. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The request has so many statements. */
  readonly statementCount: number;
}

/** What a statement has left of the limit of its request. An answer that reaches it is the last one. */
export interface V1RowLimit {
  /** At least one. */
  readonly rows: number;
  /** 1.x sends the answer in several parts, each but the last one marked as such. */
  readonly isInParts: boolean;
}

/** What is said beside an answer. */
export interface V1Message {
  readonly level: "warning";
  readonly text: string;
}

/** Of a request without statements. */
export interface V1Shape {
  readonly form: V1Form;
  readonly isPretty: boolean;
}

export const V1_CONTENT_TYPES: Readonly<Record<V1Form, string>> = {
  json: "application/json",
  csv: "application/csv",
  msgpack: "application/x-msgpack",
};
