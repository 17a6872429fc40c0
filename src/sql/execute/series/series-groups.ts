// Groups by expressions over tags: combinations of the tags with equal values of the expressions are one group of the storage.
import type { AggregateRequest } from "../../../model/query/aggregate.ts";
import type { MergedGroups } from "../../../model/query/merged-groups.ts";
import type { ResultBatch } from "../../../model/query/result-batch.ts";
import type { ScanTable } from "../../../model/query/scan-table.ts";
import type { TagCombinations } from "../../../model/query/tag-combinations.ts";
import type { SeriesQuery } from "../../plan/series-query.ts";
import { combinationsOf, type PrepareParts, resultOf } from "./combinations.ts";

/** The groups of one scan. Owned: call `release`. */
export class SeriesGroups {
  private combinations: TagCombinations | null = null;
  private merged_: MergedGroups | undefined;

  constructor(
    private readonly table: ScanTable,
    private readonly query: SeriesQuery,
  ) {}

  /** The request takes them as they are. Undefined before `merge`. */
  get merged(): MergedGroups | undefined {
    return this.merged_;
  }

  /** Returns false if rows must be grouped instead. @throws TsdbError if the statement was stopped, or rows cannot be read */
  async merge({ range, tags, tests = [] }: Pick<AggregateRequest, "range" | "tags" | "tests">, parts: PrepareParts): Promise<boolean> {
    const combinations = await combinationsOf(this.table, { tags: this.query.tags, range, where: [...tags, ...tests] }, parts);
    this.combinations = combinations;
    if (combinations === null) return false;
    const result = new Uint32Array(combinations.count);
    const take = ({ columns, rowCount }: ResultBatch) => {
      const [numbers, firsts] = columns.map(({ values }) => values as BigInt64Array);
      for (let i = 0; i < rowCount; i++) result[Number(numbers![i]!)] = Number(firsts![i]!);
    };
    const first = await resultOf(combinations, this.query, parts, { result, take });
    if (first !== null) this.merged_ = combinations.merge(first);
    return first !== null;
  }

  release(): void {
    this.combinations?.release();
    this.combinations = null;
    this.merged_ = undefined;
  }
}
