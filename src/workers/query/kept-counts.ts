// Answers to statements that count all rows of a table, or the combinations of tags that they have, kept until its rows change. Main gives
// them without a worker: the way there and back takes three times as long as everything else about such a statement.

import type { QueryRequest } from "../../model/query/query.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { TableSnapshot, TableState } from "../../scan/snapshot.ts";

/** A complete answer. */
export interface CountAnswer {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rowCount: number;
}

interface KeptCount {
  readonly answer: CountAnswer;
  readonly state: TableState;
}

/** Current state of a table; null if it does not exist, or its rows may change by themselves. */
export type StateOf = (database: string, tableName: string) => TableState | null;

const KEPT_MAX = 256;
const STATEMENT_CHARS_MAX = 1000;
/** Arrow and Parquet answers of one number are below it. */
const ANSWER_BYTES_MAX = 8 << 10;

/** A bounded map from statements to answers; the least recently kept ones are dropped first. */
export class KeptCounts {
  private readonly kept = new Map<string, KeptCount>();

  constructor(private readonly stateOf: StateOf) {}

  /** The answer that the statement would have now; undefined: it must be run. */
  find(request: QueryRequest): CountAnswer | undefined {
    const key = keyOf(request);
    const found = key === null ? undefined : this.kept.get(key);
    if (found === undefined) return undefined;
    const { answer, state } = found;
    const { table, sequence, lastDeletion } = this.stateOf(request.database, state.table.name) ?? {};
    if (table === state.table && sequence === state.sequence && lastDeletion === state.lastDeletion) return answer;
    this.kept.delete(key!);
    return undefined;
  }

  /** @param table what was counted */
  keep(request: QueryRequest, { table, retentionMinNs, sequence, lastDeletion }: TableSnapshot, answer: CountAnswer): void {
    const key = keyOf(request);
    if (key === null || retentionMinNs !== ALL_TIME.minNs || answer.bytes.byteLength > ANSWER_BYTES_MAX) return;
    // the client's bytes may be transferred to another thread, and `slice` of a Buffer shares them
    const bytes = new Uint8Array(answer.bytes);
    this.kept.delete(key);
    this.kept.set(key, { answer: { ...answer, bytes }, state: { table, sequence, lastDeletion } });
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT_MAX) this.kept.delete(oldest!);
  }
}

/** Null for what is not kept: it is no SQL statement on a database that port 8181 shows, or not only its text decides. */
function keyOf({ database, scope, statement, format, params, tsdbql, flux, rows, describe }: QueryRequest): string | null {
  if (scope !== undefined || tsdbql !== undefined || flux !== undefined || rows !== undefined || describe === true) return null;
  for (const _ in params) return null;
  return statement.length > STATEMENT_CHARS_MAX ? null : `${format} ${database}\n${statement}`;
}
