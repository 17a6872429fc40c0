// Tables of schema `system` whose rows are stored in tables of the server's own: their columns, and the rows of one database.

import { AUDIT_COLUMN, AUDIT_SYSTEM_TABLE, LOG_COLUMN, LOG_SYSTEM_TABLE } from "../ingest/definitions/server-tables.ts";
import { withColumns } from "../model/query/field-expression.ts";
import type { FieldPredicate, ScanRequest, TagPredicate } from "../model/query/scan.ts";
import type { ScanCursor, ScanTable } from "../model/query/scan-table.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import type { DatabaseSnapshot } from "../scan/snapshot.ts";
import type { TableScan } from "../scan/table-scan.ts";
import { rowTableDefs } from "../sql/tables/row-table.ts";
import { SYSTEM_TABLES } from "../sql/tables/system-schema.ts";

/** Stored columns in the order of the system table's. */
const STORED = {
  [LOG_SYSTEM_TABLE]: [LOG_COLUMN.time, LOG_COLUMN.trigger, LOG_COLUMN.level, LOG_COLUMN.text],
  [AUDIT_SYSTEM_TABLE]: [
    ...([AUDIT_COLUMN.time, AUDIT_COLUMN.actor, AUDIT_COLUMN.action, AUDIT_COLUMN.target] as const),
    ...([AUDIT_COLUMN.outcome, AUDIT_COLUMN.address, AUDIT_COLUMN.details] as const),
  ],
} as const satisfies Record<string, readonly number[]>;

/** A stored table as a table of schema `system`. */
class StoredSystemTable implements ScanTable {
  /** Their ids are their places. */
  readonly columns: ScanTable["columns"];
  private readonly storedIds: readonly number[];

  constructor(
    readonly name: keyof typeof STORED,
    private readonly stored: ScanTable,
    private readonly tags: readonly TagPredicate[],
  ) {
    this.columns = rowTableDefs(SYSTEM_TABLES[name]!.columns);
    this.storedIds = STORED[name];
  }

  /** Rows of all databases: an upper bound. */
  get rowCountMax(): number {
    return this.stored.rowCountMax;
  }

  open({ columns, range, fields = [] }: ScanRequest): ScanCursor {
    return this.stored.open({
      range,
      columns: columns.map(({ id }) => this.storedColumn(id)),
      fields: fields.map((field): FieldPredicate => {
        if (field.operator !== "true") return { ...field, columnId: this.storedId(field.columnId) };
        return { ...field, expression: withColumns(field.expression, (id) => this.storedId(id)) };
      }),
      tags: this.tags,
    });
  }

  private storedId(id: number): number {
    return this.storedIds[id]!;
  }

  private storedColumn(id: number): ColumnDef {
    return this.stored.columns.find((column) => column.id === this.storedId(id))!;
  }
}

/** The stored tables of schema `system` in a snapshot, by name. */
export function storedSystemTables(
  { triggerLog, auditTableId }: DatabaseSnapshot,
  scans: readonly TableScan[],
): ReadonlyMap<string, ScanTable> {
  const tables = new Map<string, ScanTable>();
  const add = (name: keyof typeof STORED, id: number | undefined, tags: readonly TagPredicate[]) => {
    const stored = scans.find(({ tableId }) => tableId === id);
    if (stored !== undefined) tables.set(name, new StoredSystemTable(name, stored, tags));
  };
  add(LOG_SYSTEM_TABLE, triggerLog?.tableId, [{ columnId: LOG_COLUMN.database, values: [String(triggerLog?.databaseId)] }]);
  add(AUDIT_SYSTEM_TABLE, auditTableId, []);
  return tables;
}
