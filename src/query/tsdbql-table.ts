// One measurement of a pinned snapshot as SELECT reads it: its predicates for the scan, its rows in groups.
import type { Kernel } from "../kernel/kernel.ts";
import { type ColumnDef, ColumnType } from "../model/column.ts";
import type { FieldPredicate, ScanTable, TagPredicate, TimeRange } from "../model/scan.ts";
import type { FieldType } from "../tsdbql/ast.ts";
import type { Schema } from "../tsdbql/plan-types.ts";
import type { TagTest, Where } from "../tsdbql/plan-where.ts";
import { TagColumn } from "./tsdbql-columns.ts";
import type { Turns } from "./tsdbql-turns.ts";

const FIELD_TYPE: Partial<Record<ColumnType, FieldType>> = {
  [ColumnType.float]: "float",
  [ColumnType.integer]: "integer",
  [ColumnType.unsigned]: "unsigned",
  [ColumnType.string]: "string",
  [ColumnType.boolean]: "boolean",
};

/** What a scan can judge itself, exactly; the rest of a condition is judged row by row. */
export interface ScanPredicates {
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
  /** Tags whose values are too many to be listed. */
  readonly leftTags: readonly TagTest[];
  /** No row can satisfy them. */
  readonly isEmpty: boolean;
}

export class MeasurementTable {
  readonly schema: Schema;
  private readonly byName: ReadonlyMap<string, ColumnDef>;

  constructor(
    readonly kernel: Kernel,
    readonly scan: ScanTable,
  ) {
    this.byName = new Map(scan.columns.map((column) => [column.name, column]));
    const fields = new Map<string, FieldType>();
    const tags = new Set<string>();
    for (const { name, type } of scan.columns) {
      if (type === ColumnType.tag) tags.add(name);
      else if (type !== ColumnType.time) fields.set(name, FIELD_TYPE[type]!);
    }
    this.schema = { fields, tags };
  }

  column(name: string): ColumnDef | undefined {
    return this.byName.get(name);
  }

  get timeColumn(): ColumnDef {
    return this.scan.columns.find(({ type }) => type === ColumnType.time)!;
  }

  get tagColumns(): ColumnDef[] {
    return this.scan.columns.filter(({ type }) => type === ColumnType.tag);
  }

  async predicates(where: Where, range: TimeRange, turns: Turns): Promise<ScanPredicates> {
    const tags: TagPredicate[] = [];
    const leftTags: TagTest[] = [];
    for (const test of where.tags) {
      const { id: columnId } = this.column(test.tag)!;
      if (test.only !== null) tags.push({ columnId, values: [test.only === "" ? null : test.only] });
      else {
        const values = await this.tagValues(test.tag, range, turns);
        if (values === null) leftTags.push(test);
        else tags.push({ columnId, values: values.filter(test.accepts).map((value) => (value === "" ? null : value)) });
      }
    }
    const fields = where.fields.map(({ field, operator, value }) => ({ columnId: this.column(field)!.id, operator, value }));
    return { tags, fields, leftTags, isEmpty: where.isNever || tags.some(({ values }) => values.length === 0) };
  }

  /** The values that a tag has in a range of time; null: too many. */
  private async tagValues(tag: string, range: TimeRange, turns: Turns): Promise<string[] | null> {
    const column = this.column(tag)!;
    const request = { range, tags: [], fields: [], bins: null, groupBy: [column], aggregates: [{ fn: "count", column: null }] } as const;
    const cursor = await turns.run(this.scan.aggregateInSteps?.(request) ?? null);
    if (cursor === null) return null;
    const values = new TagColumn(this.kernel);
    try {
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) values.append(chunk.columns[0]!, chunk.rowCount);
    } finally {
      cursor.close();
    }
    return values.dictionary;
  }
}
