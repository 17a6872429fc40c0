// One measurement of a pinned snapshot, as read by SELECT: its scan predicates, its rows in groups.
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import { withColumns } from "../../../model/query/field-expression.ts";
import { ALL_TIME, type FieldPredicate, type TagPredicate } from "../../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { StepCounter, type Steps } from "../../../model/steps.ts";
import type { Turns } from "../../../model/turns.ts";
import { textsOf } from "../../../scan/series-tags.ts";
import type { FieldType } from "../../parse/ast.ts";
import type { Schema } from "../../plan/types.ts";
import type { FieldTest, TagTest, Where } from "../../plan/where.ts";
import type { OpenTable } from "../context.ts";

const FIELD_TYPE: Partial<Record<ColumnType, FieldType>> = {
  [ColumnType.float]: "float",
  [ColumnType.integer]: "integer",
  [ColumnType.unsigned]: "unsigned",
  [ColumnType.string]: "string",
  [ColumnType.boolean]: "boolean",
};

/** The part of a condition that a scan evaluates exactly; the rest is evaluated row by row. */
export interface ScanPredicates {
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
  /** Tags with too many values to list. */
  readonly leftTags: readonly TagTest[];
  /** True if no row can satisfy them. */
  readonly isEmpty: boolean;
}

/** An open measurement. */
export class MeasurementTable {
  readonly schema: Schema;
  private readonly byName: ReadonlyMap<string, ColumnDef>;
  private readonly valuesOf = new Map<string, readonly string[]>();

  constructor(
    readonly kernel: Kernel,
    readonly scan: OpenTable,
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

  async predicates(where: Where, turns: Turns): Promise<ScanPredicates> {
    const tags: TagPredicate[] = [];
    const leftTags: TagTest[] = [];
    for (const test of where.tags) {
      const { id: columnId } = this.column(test.tag)!;
      if (test.values !== null) tags.push({ columnId, values: test.values.map((value) => (value === "" ? null : value)) });
      else {
        const values = await this.tagValues(test.tag, turns);
        if (values === null) leftTags.push(test);
        else tags.push({ columnId, values: await turns.run(acceptedOf(test, values)) });
      }
    }
    const fields = where.fields.map((test) => this.predicate(test));
    return { tags, fields, leftTags, isEmpty: where.isNever || tags.some(({ values }) => values.length === 0) };
  }

  private predicate(test: FieldTest): FieldPredicate {
    if (test.operator === "true") {
      const { names, expression } = test;
      return { operator: "true", expression: withColumns(expression, (place) => this.column(names[place]!)!.id) };
    }
    const { field, ...comparison } = test;
    return { columnId: this.column(field)!.id, ...comparison };
  }

  /** Values of a tag in the dictionaries of the rows, "" for absent; null: too many. */
  private async tagValues(tag: string, turns: Turns): Promise<readonly string[] | null> {
    const known = this.valuesOf.get(tag);
    if (known !== undefined) return known;
    const { id } = this.column(tag)!;
    const values = new Set([""]);
    for (const { dictionary } of this.scan.visibleSeries(ALL_TIME)) {
      const column = dictionary.tags.find(({ columnId }) => columnId === id);
      if (column !== undefined) for (const text of await turns.run(textsOf(this.kernel, column))) values.add(text);
      if (values.size > VALUES_MAX) return null;
      const pause = turns.pause();
      if (pause !== null) await pause;
    }
    const found = [...values];
    this.valuesOf.set(tag, found);
    return found;
  }
}

/** The values that pass the test; null for absent. */
function* acceptedOf(test: TagTest, values: readonly string[]): Steps<(string | null)[]> {
  const accepted: (string | null)[] = [];
  const counter = new StepCounter();
  for (const value of values) {
    if (test.accepts(value)) accepted.push(value === "" ? null : value);
    if (counter.isDue(test.size * TEST_ROWS)) yield;
  }
  return accepted;
}

/** Approximate cost of testing a value, in units of rows. */
const TEST_ROWS = 8;

/** With more values, rows are tested individually. */
const VALUES_MAX = 100_000;
