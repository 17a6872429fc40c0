// The columns of a table of a backup, in the table that takes its rows: it may be new, or clients may have written to it meanwhile.
import { TsdbError } from "../model/errors.ts";
import { type ColumnDef, ColumnType } from "../model/rows/column.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { type CatalogOperation, COLUMN_TYPE_NAME, type ColumnOperation } from "../storage/catalog/operations.ts";
import { checkSchemaMemory, checkTableLimit, limitsOfBuckets, tooManyColumns } from "../storage/catalog/schema-limits.ts";
import { createTable } from "./metadata-restore.ts";
import type { ShardTable } from "./shard-archive.ts";

export interface TablePlan {
  readonly tableId: number;
  /** Id there by id in the backup. */
  readonly columnIds: ReadonlyMap<number, number>;
}

export interface TablePlans {
  readonly operations: readonly CatalogOperation[];
  /** By id in the backup. */
  readonly byId: ReadonlyMap<number, TablePlan>;
}

/** Makes what is missing. @throws TsdbError unprocessable for a column that is of another type there; limit_exceeded, overloaded */
export function planTables(catalog: Catalog, databaseId: number, tables: readonly ShardTable[]): TablePlans {
  const operations: CatalogOperation[] = [];
  const byId = new Map<number, TablePlan>();
  let { tableId: nextTableId } = catalog.nextIds;
  const { columnsPerTableMax } = limitsOfBuckets(catalog.limits);
  const added = { tables: 0, columns: 0 };
  for (const table of tables) {
    const schema = catalog.findSchema(databaseId, table.name);
    if (table.columns.length > columnsPerTableMax) throw new TsdbError("limit_exceeded", tooManyColumns(columnsPerTableMax));
    if (schema === undefined) {
      const tableId = nextTableId++;
      operations.push(...createTable({ ...table, id: tableId, databaseId }));
      byId.set(table.id, { tableId, columnIds: new Map(table.columns.map(({ id }) => [id, id])) });
      added.tables += 1;
      added.columns += table.columns.length;
      continue;
    }
    const { columns, columnIds } = planColumns(table, schema);
    if (columns.length > 0) operations.push({ kind: "add_columns", tableId: schema.def.id, columns });
    byId.set(table.id, { tableId: schema.def.id, columnIds });
    added.columns += columns.length;
  }
  checkTableLimit(catalog, added.tables, catalog.limits);
  checkSchemaMemory(catalog, added, catalog.limits);
  return { operations, byId };
}

function planColumns(
  table: ShardTable,
  schema: { readonly columnsByName: ReadonlyMap<string, ColumnDef>; readonly nextColumnId: number },
): { readonly columns: readonly ColumnOperation[]; readonly columnIds: ReadonlyMap<number, number> } {
  const columns: ColumnOperation[] = [];
  const columnIds = new Map<number, number>();
  let { nextColumnId } = schema;
  let lastTag = 0;
  for (const column of table.columns) {
    const there = schema.columnsByName.get(column.name);
    const type = COLUMN_TYPE_NAME[column.type];
    if (there !== undefined && there.type !== type) refuse(table, `its column ${JSON.stringify(column.name)} is of another type there`);
    const id = there?.id ?? nextColumnId++;
    if (there === undefined) columns.push({ ...column, id });
    columnIds.set(column.id, id);
    if (type !== ColumnType.tag) continue;
    if (id < lastTag) refuse(table, "its tags stand in another order there");
    lastTag = id;
  }
  return { columns, columnIds };
}

function refuse({ name }: ShardTable, reason: string): never {
  const message =
    `cannot restore rows of ${JSON.stringify(name)}: ${reason}, because the bucket was written to before; nothing was restored. ` +
    "Restore into a new bucket, or stop its writers and delete it first";
  throw new TsdbError("unprocessable", message, { table: name });
}
