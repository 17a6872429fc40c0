// One measurement of a snapshot as the series of a script: rows grouped by all tags, and a series for each field with values.
import type { ReadRequest, SourceRows, SourceSeries } from "../../flux/interpret/flux-source.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import type { Turns } from "../../model/turns.ts";
import type { TableScan } from "../../scan/table-scan.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import type { AnyCells } from "../../tsdbql/execute/rows/columns.ts";
import { orderedRows, readRows, TOO_MANY } from "../../tsdbql/execute/rows/rows.ts";
import { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import { type FieldCells, type GroupedRows, rowsOf, seriesOf } from "./field-series.ts";

/** Reads the series of one measurement. */
export class MeasurementReader {
  constructor(
    private readonly kernel: Kernel,
    private readonly turns: Turns,
    private readonly memory: StatementMemory,
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
    const tags = table.tagColumns.map(({ name }) => name).sort(compareTexts);
    const predicates = tagPredicates(table, wanted?.tags);
    if (predicates === null) return null;
    const loose = await readRows(
      table,
      {
        columns: fields.map(([name, kind]) => ({ name, kind })),
        groupBy: tags,
        range: { minNs: startNs, maxNs: stopNs - 1n },
        ...{ descending: false, bySeries: false },
      },
      { tags: predicates, fields: [], leftTags: [], isEmpty: false },
      [],
      { turns: this.turns, memory: this.memory },
    );
    if (loose === TOO_MANY) throw new Error("BUG: no limit of rows was given");
    this.memory.take(loose.bytes * 2);
    const { groups, starts, times, columns } = await this.turns.run(orderedRows(loose, false));
    return { tags, fields, groups, starts, columns: columns.map((cells) => fieldCells(cells, times)), times };
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

function fieldCells(cells: AnyCells | null, times: BigInt64Array): FieldCells | null {
  return cells === null || cells.type === "tag" ? null : { cells, times, counts: null };
}

function isTag({ type }: ColumnDef): boolean {
  return type === ColumnType.tag;
}
