// What a file's columns are in its table: ids of those that are there, and the operation that makes the others.
import { TsdbError } from "../../model/errors.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { CatalogOperation } from "../../storage/catalog/operations.ts";
import { SchemaPlan } from "../../storage/catalog/resolve.ts";
import { limitsOfBuckets } from "../../storage/catalog/schema-limits.ts";
import type { TableSchema } from "../../storage/catalog/state.ts";
import type { ColumnPlan } from "../column-plan.ts";
import type { ImportTarget } from "../rows/imported-rows.ts";

export interface PlannedTarget {
  readonly target: ImportTarget;
  /** To be applied in the same step; empty if all columns are there. */
  readonly operations: readonly CatalogOperation[];
}

/** The table, unless it is gone. @throws TsdbError unknown_table */
export function tableOf(catalog: Catalog, databaseId: number, tableId: number): TableSchema {
  const def = catalog.tableById(tableId);
  const schema = def === undefined ? undefined : catalog.findSchema(databaseId, def.name);
  if (schema?.def.id !== tableId) throw new TsdbError("unknown_table", "the table was deleted");
  return schema;
}

/** @throws TsdbError bad_request for columns that the table cannot have; overloaded */
export function planTarget(catalog: Catalog, databaseId: number, { def }: TableSchema, { columns }: ColumnPlan): PlannedTarget {
  const named = columns.map(({ source, type }) => ({ name: source.name, type }));
  const isTag = ({ type }: { readonly type: ColumnType }) => type === ColumnType.tag;
  const tags = named.filter(isTag).map(({ name }) => name);
  const fields = named.filter((column) => !isTag(column));
  const plan = new SchemaPlan(catalog, databaseId, [{ name: def.name, tags, fields }], { limits: limitsOfBuckets(catalog.limits) });
  if (plan.needsRows(0)) {
    const reason = plan.acceptRow(0, [...tags.keys()], [...fields.keys()]);
    throw new TsdbError("bad_request", reason ?? "the table cannot have the columns of the file");
  }
  const { operations, targets } = plan.finish();
  const { tagColumnIds, fieldColumnIds } = targets[0]!;
  const ids = new Map([
    ...tags.map((name, i) => [name, tagColumnIds[i]!] as const),
    ...fields.map(({ name }, i) => [name, fieldColumnIds[i]!] as const),
  ]);
  const defs = named.map(({ name, type }): ColumnDef => ({ id: ids.get(name)!, name, type }));
  return { target: { databaseId, tableId: def.id, tableName: def.name, columns: defs }, operations };
}

/** True if rows for one are rows for the other. */
export function areSame(a: ImportTarget, b: ImportTarget): boolean {
  return (
    a.columns.length === b.columns.length && a.columns.every(({ id, type }, i) => b.columns[i]!.id === id && b.columns[i]!.type === type)
  );
}
