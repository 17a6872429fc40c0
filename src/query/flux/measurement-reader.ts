// One measurement of a snapshot as the series of a script: rows grouped by all tags, and a series for each field with values.
import type { ReadRequest, SourceRows, SourceSeries } from "../../flux/interpret/flux-source.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Turns } from "../../model/turns.ts";
import type { TableScan } from "../../scan/table-scan.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import { type GroupedRows, rowsOf, seriesOf } from "./field-series.ts";
import { seriesRows } from "./series-rows.ts";

/** Reads the series of one measurement. */
export class MeasurementReader {
  constructor(
    private readonly kernel: Kernel,
    readonly turns: Turns,
    readonly memory: StatementMemory,
  ) {}

  /** Series with rows in the range, in the order of their keys. @throws TsdbError query_limit, cancelled */
  async read(scan: TableScan, request: ReadRequest): Promise<readonly SourceSeries[]> {
    const found = await this.grouped(scan, request);
    return found === null ? [] : this.turns.run(seriesOf(scan.name, found.tags, found.fields, found));
  }

  /** The same with the fields side by side. @throws TsdbError query_limit, cancelled */
  async rows(scan: TableScan, request: ReadRequest): Promise<readonly SourceRows[]> {
    const found = await this.grouped(scan, request);
    const rows = found === null ? [] : await this.turns.run(rowsOf(scan.name, found.tags, found.fields, found));
    // the scan may give other series too
    const tests = [...(request.wanted?.tags ?? [])];
    return rows.filter(({ tags }) => tests.every(([tag, texts]) => tags.some(([name, text]) => name === tag && texts.includes(text))));
  }

  private async grouped(scan: TableScan, { startNs, stopNs, wanted }: ReadRequest): Promise<GroupedRows | null> {
    const table = new MeasurementTable(this.kernel, scan);
    const fields = [...table.schema.fields].filter(([field]) => wanted?.mayBe(scan.name, field) ?? true);
    if (startNs >= stopNs || fields.length === 0) return null;
    const tags = tagPredicates(table, wanted?.tags);
    if (tags === null) return null;
    const columns = fields.map(([name]) => table.column(name)!);
    const found = await seriesRows(table, { fields: columns, range: { startNs, stopNs }, tags }, this);
    this.memory.take(found.bytes * 2);
    return { ...found, tags: found.tagNames, fields };
  }
}

/** Null: no row can have them. */
export function tagPredicates(table: MeasurementTable, wanted: ReadonlyMap<string, readonly string[]> | undefined): TagPredicate[] | null {
  const predicates: TagPredicate[] = [];
  for (const [tag, values] of wanted ?? []) {
    const column = table.column(tag);
    if (column === undefined || !isTag(column)) return null;
    predicates.push({ columnId: column.id, values });
  }
  return predicates;
}

function isTag({ type }: ColumnDef): boolean {
  return type === ColumnType.tag;
}
