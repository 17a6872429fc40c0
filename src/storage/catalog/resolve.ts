// The bind step of a write, as pure planning: column ids of a parsed body, rows that cannot be stored, and the operations that create what
// is missing. Nothing changes until the caller applies the operations, in the same synchronous step.
//
//     const plan = new SchemaPlan(catalog, "db", tables);
//     for each row, in body order, of a table with plan.needsRows(table): plan.acceptRow(…) -> why not, or null
//     const { operations, targets } = plan.finish();
//
// A table whose columns all fit needs no check of its rows. Otherwise the first accepted row with a new name determines its type, and
// columns of rejected rows only are not created.
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { hasControl, NO_CONTROL, RESERVED_COLUMNS } from "../../model/names.ts";
import { COLUMN_TYPE_LABEL, type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Catalog } from "./catalog.ts";
import { type CatalogOperation, type ColumnOperation, columnTypeName } from "./operations.ts";
import {
  checkDatabaseLimit,
  checkSchemaMemory,
  type SchemaLimits,
  tooManyColumns,
  tooManyNewTables,
  tooManyTables,
} from "./schema-limits.ts";
import type { TableSchema } from "./state.ts";

/** A field column of a parsed table: one per name and type, in order of appearance. */
export interface ParsedField {
  readonly name: string;
  readonly type: ColumnType;
}

/** The columns of a parsed table; each is used by at least one valid row. */
export interface ParsedTable {
  readonly name: string;
  /** Tag names in order of appearance. */
  readonly tags: readonly string[];
  readonly fields: readonly ParsedField[];
}

/** Where the rows of a parsed table are stored. Column ids by index into ParsedTable.tags and .fields; -1 = used by rejected rows only. */
export interface TableTarget {
  readonly tableId: number;
  readonly tagColumnIds: readonly number[];
  readonly fieldColumnIds: readonly number[];
}

export interface FinishedPlan {
  readonly databaseId: number;
  /** To be applied immediately; empty if everything exists. */
  readonly operations: readonly CatalogOperation[];
  /** By parsed table; null if none of its rows was accepted. */
  readonly targets: readonly (TableTarget | null)[];
}

/** The part of a Catalog that planning reads. */
export type CatalogView = Pick<
  Catalog,
  | "findDatabase"
  | "databaseById"
  | "findDeletedDatabase"
  | "findSchema"
  | "findDeletedTable"
  | "nextIds"
  | "databaseCount"
  | "tableCount"
  | "definitionBytes"
  | "limits"
>;

/** The error for a field of another type than its column. */
export function typeConflict(name: string, want: ColumnType, got: ColumnType): string {
  return `invalid column type for column '${name}', expected ${COLUMN_TYPE_LABEL[want]}, got ${COLUMN_TYPE_LABEL[got]}`;
}

/** A table of the body: the existing schema and what accepted rows have added to it. */
interface TableWork {
  readonly parsed: ParsedTable;
  readonly schema: TableSchema | undefined;
  readonly added: Map<string, ColumnType>;
  /** Number of columns including `added`, without time. */
  columnCount: number;
  needsRows: boolean;
  /** The table exists or is created by this plan. */
  accepted: boolean;
  /** The name is that of a soft-deleted table: no row is stored. */
  readonly isDeleted: boolean;
}

/** The schema changes of one body. Used once. */
export class SchemaPlan {
  private readonly database: { readonly id: number } | undefined;
  private readonly databaseName: string;
  private readonly work: TableWork[];
  private newTableCount = 0;
  private readonly limits: SchemaLimits;
  /** Number of tables that may be created. */
  private readonly newTablesMax: number;

  /** `database`: by name in the default namespace, or by id. `madeTables`: tables already created for the same body. @throws TsdbError
   *  limit_exceeded if the database does not exist and the limit is reached, bad_request if it is soft-deleted, unknown_database for an
   *  id that does not exist */
  constructor(
    private readonly catalog: CatalogView,
    database: string | number,
    tables: readonly ParsedTable[],
    { madeTables = 0, limits = catalog.limits }: { madeTables?: number; limits?: SchemaLimits } = {},
  ) {
    this.limits = limits;
    this.newTablesMax = Math.max(0, limits.newTablesPerBodyMax - madeTables);
    const existing = typeof database === "number" ? catalog.databaseById(database) : undefined;
    if (typeof database === "number" && existing === undefined) throw new TsdbError("unknown_database", `database not found: ${database}`);
    const databaseName = existing?.name ?? String(database);
    this.databaseName = databaseName;
    this.database = existing ?? catalog.findDatabase(databaseName);
    if (catalog.findDeletedDatabase(databaseName, existing?.namespace) !== undefined) {
      const message = `cannot write to soft-deleted database '${databaseName}' - it is marked for deletion`;
      throw new TsdbError("bad_request", message, { database: databaseName });
    }
    if (this.database === undefined) checkDatabaseLimit(catalog, limits);
    this.work = tables.map((parsed) => this.begin(parsed));
    const newTables = this.work.filter(({ schema, isDeleted }) => schema === undefined && !isDeleted);
    const tooMany = newTables.length > Math.min(this.newTablesMax, Math.max(0, limits.tablesMax - catalog.tableCount));
    for (const table of this.work) {
      if (table.isDeleted || (tooMany && table.schema === undefined) || !this.fits(table)) this.restart(table);
      else if (table.schema === undefined) this.newTableCount += 1;
    }
  }

  private begin(parsed: ParsedTable): TableWork {
    const schema = this.database && this.catalog.findSchema(this.database.id, parsed.name);
    const columnCount = schema === undefined ? 0 : schema.def.columns.length - 1;
    const isDeleted = this.database !== undefined && this.catalog.findDeletedTable(this.database.id, parsed.name) !== undefined;
    return { parsed, schema, added: new Map(), columnCount, needsRows: false, accepted: true, isDeleted };
  }

  /** The fast path: true if every column of the table exists with its type or can be added. */
  private fits(table: TableWork): boolean {
    const { tags, fields } = table.parsed;
    for (const name of tags) if (this.place(table, name, ColumnType.tag) !== null) return false;
    for (const { name, type } of fields) if (this.place(table, name, type) !== null) return false;
    return true;
  }

  private restart(table: TableWork): void {
    table.added.clear();
    table.columnCount = table.schema === undefined ? 0 : table.schema.def.columns.length - 1;
    table.needsRows = true;
    table.accepted = false;
  }

  /** Adds the column unless it exists. Returns the reason if it cannot be added, else null. */
  private place(table: TableWork, name: string, type: ColumnType): string | null {
    const existing = typeOf(table, name);
    if (existing === type) return null;
    if (RESERVED_COLUMNS.has(name)) return `'${name}' is a reserved column`;
    if (existing !== undefined) return typeConflict(name, existing, type);
    if (hasControl(name)) return `invalid configuration provided: ${type === ColumnType.tag ? "tag" : "field"} key ${NO_CONTROL}`;
    const { columnsPerTableMax } = this.limits;
    if (table.columnCount >= columnsPerTableMax) return tooManyColumns(columnsPerTableMax);
    table.added.set(name, type);
    table.columnCount += 1;
    return null;
  }

  /** True if rows of some table must be checked individually. */
  get anyNeedsRows(): boolean {
    return this.work.some((table) => table.needsRows);
  }

  /** True if `acceptRow` must be called for each row of this table. */
  needsRows(tableIndex: number): boolean {
    return this.work[tableIndex]!.needsRows;
  }

  /** True if the tag column exists or can be created given the rows accepted so far: no row is rejected because of it. */
  tagFits(tableIndex: number, tagIndex: number): boolean {
    const table = this.work[tableIndex]!;
    return typeOf(table, table.parsed.tags[tagIndex]!) === ColumnType.tag;
  }

  /** The same for a field column. */
  fieldFits(tableIndex: number, fieldIndex: number): boolean {
    const table = this.work[tableIndex]!;
    const { name, type } = table.parsed.fields[fieldIndex]!;
    return typeOf(table, name) === type;
  }

  /** Accepts or rejects the next row of the body: indexes into the table's `tags` and `fields`, in the row's order. Returns the reason
   *  of a rejection, or null. A rejected row has no effect. */
  acceptRow(tableIndex: number, tagIndexes: ArrayLike<number>, fieldIndexes: ArrayLike<number>): string | null {
    const table = this.work[tableIndex]!;
    assert(table.needsRows, `table ${tableIndex} needs no look at its rows`);
    if (table.isDeleted) return `cannot write to soft-deleted table '${table.parsed.name}' - it is marked for deletion`;
    if (!table.accepted && table.schema === undefined) {
      const tableCount = this.catalog.tableCount + this.newTableCount;
      if (tableCount >= this.limits.tablesMax) return tooManyTables(tableCount, this.limits.tablesMax);
      if (this.newTableCount >= this.newTablesMax) return tooManyNewTables(this.limits.newTablesPerBodyMax);
    }
    const names: string[] = [];
    const before = table.columnCount;
    const reason = this.placeRow(table, tagIndexes, fieldIndexes, names);
    if (reason !== null) {
      for (const name of names) table.added.delete(name);
      table.columnCount = before;
      return reason;
    }
    if (!table.accepted && table.schema === undefined) this.newTableCount += 1;
    table.accepted = true;
    return null;
  }

  /** `names` receives the columns that the row added, so that they can be removed again. */
  private placeRow(table: TableWork, tagIndexes: ArrayLike<number>, fieldIndexes: ArrayLike<number>, names: string[]): string | null {
    const { tags, fields } = table.parsed;
    for (let i = 0; i < tagIndexes.length; i++) {
      const reason = this.placeNoting(table, tags[tagIndexes[i]!]!, ColumnType.tag, names);
      if (reason !== null) return reason;
    }
    for (let i = 0; i < fieldIndexes.length; i++) {
      const { name, type } = fields[fieldIndexes[i]!]!;
      const reason = this.placeNoting(table, name, type, names);
      if (reason !== null) return reason;
    }
    return null;
  }

  private placeNoting(table: TableWork, name: string, type: ColumnType, names: string[]): string | null {
    const before = table.added.size;
    const reason = this.place(table, name, type);
    if (table.added.size > before) names.push(name);
    return reason;
  }

  /** The operations and ids; new columns in the order tags, fields, each by appearance. Call it once and apply in the same step. @throws
   *  TsdbError overloaded if there is no memory for the definitions */
  finish(): FinishedPlan {
    const accepted = this.work.filter((table) => table.accepted);
    const tables = accepted.filter(({ schema }) => schema === undefined).length;
    const columns = accepted.reduce((sum, { added }) => sum + added.size, 0);
    checkSchemaMemory(this.catalog, { tables, columns }, this.limits);
    const operations: CatalogOperation[] = [];
    const nextIds = this.catalog.nextIds;
    const databaseId = this.database?.id ?? nextIds.databaseId;
    let nextTableId = nextIds.tableId;
    const targets = this.work.map((table) => {
      if (!table.accepted) return null;
      if (this.database === undefined && operations.length === 0) {
        operations.push({ kind: "create_database", id: databaseId, namespace: 0, name: this.databaseName });
      }
      let tableId = table.schema?.def.id;
      if (tableId === undefined) {
        tableId = nextTableId++;
        operations.push({ kind: "create_table", id: tableId, databaseId, name: table.parsed.name });
      }
      return finishTable(table, tableId, operations);
    });
    return { databaseId, operations, targets };
  }
}

/** Type of an existing or added column. */
function typeOf({ schema, added }: TableWork, name: string): ColumnType | undefined {
  return schema?.columnsByName.get(name)?.type ?? added.get(name);
}

function finishTable(table: TableWork, tableId: number, operations: CatalogOperation[]): TableTarget {
  const { parsed, schema, added } = table;
  if (added.size === 0 && !table.needsRows && schema !== undefined) return existingTarget(parsed, schema, tableId);
  let nextColumnId = schema?.nextColumnId ?? 1;
  const columns: ColumnOperation[] = [];
  const made = new Map<string, ColumnDef>();
  const idOf = (name: string, type: ColumnType): number => {
    const existing = schema?.columnsByName.get(name) ?? made.get(name);
    if (existing !== undefined) return existing.type === type ? existing.id : -1;
    if (added.get(name) !== type) return -1;
    const id = nextColumnId++;
    made.set(name, { id, name, type });
    columns.push({ id, name, type: columnTypeName(type) });
    return id;
  };
  const tagColumnIds = parsed.tags.map((name) => idOf(name, ColumnType.tag));
  const fieldColumnIds = parsed.fields.map(({ name, type }) => idOf(name, type));
  assert(columns.length === added.size, `${columns.length} of ${added.size} new columns have an id`);
  if (columns.length > 0) operations.push({ kind: "add_columns", tableId, columns });
  return { tableId, tagColumnIds, fieldColumnIds };
}

/** The common case, nothing new: plain lookups. */
function existingTarget(parsed: ParsedTable, schema: TableSchema, tableId: number): TableTarget {
  const id = (name: string) => schema.columnsByName.get(name)!.id;
  return { tableId, tagColumnIds: parsed.tags.map(id), fieldColumnIds: parsed.fields.map(({ name }) => id(name)) };
}
