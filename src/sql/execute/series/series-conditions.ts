// Decides the conditions of one scan on tags, before it reads rows: DuckDB evaluates them on the combinations of the tags' values.
import type { ResultBatch } from "../../../model/query/result-batch.ts";
import type { ScanRequest, SeriesTest } from "../../../model/query/scan.ts";
import type { ScanTable } from "../../../model/query/scan-table.ts";
import type { TagCombinations } from "../../../model/query/tag-combinations.ts";
import type { SeriesQuery } from "../../plan/series-query.ts";
import { combinationsOf, type PrepareParts, resultOf } from "./combinations.ts";

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
  async decide({ range, tags }: Pick<ScanRequest, "range" | "tags">, parts: PrepareParts): Promise<boolean> {
    const combinations = await combinationsOf(this.table, { tags: this.query.tags, range, where: tags }, parts);
    this.combinations = combinations;
    if (combinations === null) return false;
    const result = new Uint8Array(combinations.count);
    const take = ({ columns, rowCount }: ResultBatch) => {
      const numbers = columns[0]!.values as BigInt64Array;
      for (let i = 0; i < rowCount; i++) result[Number(numbers[i]!)] = 1;
    };
    const passes = await resultOf(combinations, this.query, parts, { result, take });
    if (passes !== null) this.tests_ = [combinations.test(passes)];
    return passes !== null;
  }

  release(): void {
    this.combinations?.release();
    this.combinations = null;
    this.tests_ = [];
  }
}
