// Decides the conditions of one scan on tags, before it reads rows: DuckDB evaluates them on the combinations of the tags' values.
import type { ChunkCursor, ScanSource } from "../../../duckdb/table-function.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { ResultBatch } from "../../../model/query/result-batch.ts";
import type { ScanRequest, SeriesTest } from "../../../model/query/scan.ts";
import type { ScanTable } from "../../../model/query/scan-table.ts";
import type { TagCombinations } from "../../../model/query/tag-combinations.ts";
import type { SeriesQuery } from "../../plan/series-query.ts";
import { OpenCursors } from "../open-cursors.ts";
import type { Breathe } from "./breathe.ts";

/** Runs a query over the rows of `source`. @throws TsdbError */
export type ReadSeries = (query: SeriesQuery, source: ScanSource) => AsyncIterable<ResultBatch>;

export interface PrepareParts {
  readonly breathe: Breathe;
  readonly readSeries: ReadSeries;
}

/** The conditions of one scan. Owned: call `release`. */
export class SeriesConditions {
  private combinations: TagCombinations | null = null;
  private tests_: readonly SeriesTest[] = [];

  constructor(
    private readonly table: ScanTable,
    private readonly query: SeriesQuery,
  ) {}

  /** Requests take them as they are; empty before `decide`. */
  get tests(): readonly SeriesTest[] {
    return this.tests_;
  }

  /** Returns false if rows must be tested instead: there are too many combinations, or a condition fails for a combination, which perhaps
   *  no row has. @throws TsdbError if the statement was stopped, or rows cannot be read */
  async decide({ range, tags }: Pick<ScanRequest, "range" | "tags">, { breathe, readSeries }: PrepareParts): Promise<boolean> {
    const steps = this.table.combinations!({ tags: this.query.tags, range, where: tags });
    try {
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) {
          this.combinations = step.value;
          break;
        }
        await breathe();
      }
    } finally {
      // no effect if it has ended
      steps.return(null);
    }
    const { combinations } = this;
    if (combinations === null) return false;
    const passes = new Uint8Array(combinations.count);
    try {
      if (combinations.count > 0) await this.mark(passes, readSeries);
    } catch (error) {
      // the statement's own end is no result of a condition
      if (error instanceof TsdbError && error.details["engineKind"] !== undefined) return false;
      throw error;
    }
    this.tests_ = [combinations.test(passes)];
    return true;
  }

  release(): void {
    this.combinations?.release();
    this.combinations = null;
    this.tests_ = [];
  }

  private async mark(passes: Uint8Array, readSeries: ReadSeries): Promise<void> {
    const source = new CombinationSource(this.combinations!, this.query.columns);
    try {
      for await (const { columns, rowCount } of readSeries(this.query, source)) {
        const numbers = columns[0]!.values as BigInt64Array;
        for (let i = 0; i < rowCount; i++) passes[Number(numbers[i]!)] = 1;
      }
    } finally {
      source.end();
    }
    if (source.error !== undefined) throw source.error;
  }
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
