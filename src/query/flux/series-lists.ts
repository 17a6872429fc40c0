// What a measurement's series are, from the dictionaries of its rows: values of tags, names of tags, how many.
import type { ReadRequest, SeriesQuestion } from "../../flux/interpret/flux-source.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import type { Turns } from "../../model/turns.ts";
import type { TableScan } from "../../scan/table-scan.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import { aggregatedColumns } from "../../tsdbql/execute/rows/aggregated.ts";
import { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import { countSeries, hasSeries, type SeriesChoice, tagKeys, tagValues } from "../../tsdbql/execute/show/series.ts";
import type { SeriesCondition, TextCondition } from "../../tsdbql/plan/show-condition.ts";
import { tagPredicates } from "./measurement-reader.ts";

export interface SeriesFacts {
  readonly texts: readonly string[];
  readonly count: number;
}

const ABSENT: TextCondition = { text: "", isNegated: false, accepts: (value) => value === "" };

const NOTHING: SeriesFacts = { texts: [], count: 0 };

/** Lists of one statement. */
export class SeriesLists {
  constructor(
    private readonly kernel: Kernel,
    private readonly turns: Turns,
    private readonly memory: StatementMemory,
  ) {}

  /** Null: only rows tell. @throws TsdbError query_limit, cancelled */
  async read(scan: TableScan, { startNs, stopNs, wanted }: ReadRequest, question: SeriesQuestion): Promise<SeriesFacts | null> {
    const table = new MeasurementTable(this.kernel, scan);
    const fields = [...table.schema.fields.keys()].filter((field) => wanted?.mayBe(scan.name, field) ?? true);
    const predicates = tagPredicates(table, wanted?.tags);
    if (fields.length === 0 || predicates === null) return NOTHING;
    if (question.kind === "values" && question.tag === "_field")
      return this.fieldsWithValues(table, fields, { startNs, stopNs }, predicates);
    // a series has rows, but perhaps none with the field
    if (fields.length < table.schema.fields.size) return null;
    const { kernel, turns, memory } = this;
    const condition = conditionOf(wanted?.tags ?? new Map());
    const choice: SeriesChoice = { kernel, turns, memory, range: { minNs: startNs, maxNs: stopNs - 1n }, condition };
    const shown = { name: scan.name, tables: [scan] };
    switch (question.kind) {
      case "count":
        return { texts: [], count: await countSeries(choice, shown) };
      case "labels":
        return (await hasSeries(choice, shown))
          ? { texts: ["_field", "_measurement", ...(await tagKeys(choice, shown))], count: 0 }
          : NOTHING;
      case "values": {
        const { tag } = question;
        if (tag === "_measurement") return (await hasSeries(choice, shown)) ? { texts: [scan.name], count: 0 } : NOTHING;
        const texts = (await tagValues(choice, shown, (key) => key === tag)).get(tag) ?? [];
        const without: SeriesChoice = { ...choice, condition: { kind: "and", left: condition, right: { kind: "tag", tag, of: ABSENT } } };
        return { texts: question.withAbsent && (await hasSeries(without, shown)) ? ["", ...texts] : texts, count: 0 };
      }
    }
  }

  private async fieldsWithValues(
    table: MeasurementTable,
    fields: readonly string[],
    { startNs, stopNs }: Pick<ReadRequest, "startNs" | "stopNs">,
    tags: readonly TagPredicate[],
  ): Promise<SeriesFacts | null> {
    const request: AggregateRequest = {
      range: { minNs: startNs, maxNs: stopNs - 1n },
      ...{ tags, fields: [], bins: null, groupBy: [] },
      aggregates: fields.map((field) => ({ fn: "count", column: table.column(field)! })),
    };
    const found = await aggregatedColumns(table, request, this.turns);
    if (found === null) return null;
    const { columns: counts, rowCount } = found;
    const texts: string[] = [];
    for (const [i, field] of fields.entries()) {
      const cells = await this.turns.run(counts[i]!.take(null, rowCount));
      if (cells.type !== "tag" && (cells.values as BigInt64Array).some((count) => count > 0n)) texts.push(field);
    }
    return { texts, count: 0 };
  }
}

/** Absent tags equal nothing, not even the empty text. */
function conditionOf(tags: ReadonlyMap<string, readonly string[]>): SeriesCondition {
  let all: SeriesCondition = { kind: "all" };
  for (const [tag, values] of tags) {
    const texts = values.filter((text) => text !== "");
    if (texts.length === 0) return { kind: "none" };
    const any = texts.map(
      (text): SeriesCondition => ({ kind: "tag", tag, of: { text, isNegated: false, accepts: (value) => value === text } }),
    );
    const own = any.reduce((left, right) => ({ kind: "or", left, right }));
    all = all.kind === "all" ? own : { kind: "and", left: all, right: own };
  }
  return all;
}
