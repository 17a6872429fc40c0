// Reads the combinations of some tags of a table by a query of DuckDB, before the statement itself reads the table.
import { type ChunkCursor, type ScanSource, scanCall } from "../../../duckdb/table-function.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { ResultBatch } from "../../../model/query/result-batch.ts";
import type { ScanTable } from "../../../model/query/scan-table.ts";
import type { CombinationRequest, TagCombinations } from "../../../model/query/tag-combinations.ts";
import type { SeriesQuery } from "../../plan/series-query.ts";
import { printStatement } from "../../print/print.ts";
import { OpenCursors } from "../open-cursors.ts";
import type { Breathe } from "./breathe.ts";
import type { KnownResults, SeriesResult } from "./known-results.ts";

/** Runs a query over the rows of `source`. @throws TsdbError */
export type ReadSeries = (query: SeriesQuery, source: ScanSource) => AsyncIterable<ResultBatch>;

export interface PrepareParts {
  readonly breathe: Breathe;
  readonly readSeries: ReadSeries;
  readonly known: KnownResults;
}

/** Null: there are too many. @throws TsdbError if the statement was stopped, or rows cannot be read */
export async function combinationsOf(
  table: ScanTable,
  request: CombinationRequest,
  { breathe }: PrepareParts,
): Promise<TagCombinations | null> {
  const steps = table.combinations!(request);
  try {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      await breathe();
    }
  } finally {
    // no effect if it has ended
    steps.return(null);
  }
}

/** What the query returns for the combinations: `take` puts its batches into `result`, unless it is known from an earlier statement. Null
 *  if the query fails, for a combination that perhaps no row has. The result is shared: it is only read. @throws TsdbError if the statement
 *  was stopped */
export async function resultOf<Result extends SeriesResult>(
  combinations: TagCombinations,
  query: SeriesQuery,
  parts: PrepareParts,
  { result, take }: { readonly result: Result; readonly take: (batch: ResultBatch) => void },
): Promise<Result | null> {
  const { key } = combinations;
  // the text has the values that clocks and parameters have in this statement
  const known = key === null ? null : `${printStatement(query.query, [scanCall({ columns: [], handle: 0 })]).text}\0${key}`;
  const found = known === null ? null : parts.known.find(known);
  if (found !== null) return found as Result;
  if (!(await readCombinations(combinations, query, parts, take))) return null;
  if (known !== null) parts.known.keep(known, result);
  return result;
}

/** Passes the query's answer to `take`, which need not be called if there are no combinations. Returns false if the query fails. */
async function readCombinations(
  combinations: TagCombinations,
  query: SeriesQuery,
  { readSeries }: PrepareParts,
  take: (batch: ResultBatch) => void,
): Promise<boolean> {
  if (combinations.count === 0) return true;
  const source = new CombinationSource(combinations, query.columns);
  try {
    for await (const batch of readSeries(query, source)) take(batch);
  } catch (error) {
    if (source.error !== undefined) throw source.error;
    // the statement's own end is no result of the query
    if (error instanceof TsdbError && error.details["engineKind"] !== undefined) return false;
    throw error;
  } finally {
    source.end();
  }
  return true;
}

/** Combinations as a source of the scan function. */
class CombinationSource implements ScanSource {
  readonly rowCountMax: number;
  error: unknown;
  private readonly cursors = new OpenCursors();

  constructor(
    private readonly combinations: TagCombinations,
    readonly columns: ScanSource["columns"],
  ) {
    this.rowCountMax = combinations.count;
  }

  open(columnIndexes: readonly number[]): ChunkCursor {
    this.cursors.throwIfEnded();
    const rows = this.combinations.rows();
    return this.cursors.track({
      next: () => {
        const chunk = rows.next();
        return chunk === null ? null : { rowCount: chunk.rowCount, columns: columnIndexes.map((index) => chunk.columns[index]!) };
      },
      close: () => rows.close(),
    });
  }

  failed(error: unknown): void {
    this.error ??= error;
  }

  end(): void {
    this.cursors.end();
  }
}
