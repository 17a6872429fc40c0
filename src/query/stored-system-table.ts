// A table of schema `system` whose rows are stored in a table of the server's own: its columns, and the rows of one database.

import { LOG_COLUMN, LOG_SYSTEM_TABLE } from "../ingest/definitions/server-tables.ts";
import type { FieldPredicate, ScanRequest } from "../model/query/scan.ts";
import type { ScanCursor, ScanTable } from "../model/query/scan-table.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import type { DatabaseSnapshot } from "../scan/snapshot.ts";
import type { TableScan } from "../scan/table-scan.ts";
import { rowTableDefs } from "../sql/tables/row-table.ts";
import { SYSTEM_TABLES } from "../sql/tables/system-schema.ts";

/** Stored columns in the order of system.processing_engine_logs. */
const STORED = [LOG_COLUMN.time, LOG_COLUMN.trigger, LOG_COLUMN.level, LOG_COLUMN.text];

/** What triggers of one database have logged. */
class DatabaseLogTable implements ScanTable {
  readonly name = LOG_SYSTEM_TABLE;
  /** Their ids are their places. */
  readonly columns = rowTableDefs(SYSTEM_TABLES[LOG_SYSTEM_TABLE]!.columns);

  constructor(
    private readonly stored: ScanTable,
    private readonly databaseId: number,
  ) {}

  /** Rows of all databases: an upper bound. */
  get rowCountMax(): number {
    return this.stored.rowCountMax;
  }

  open({ columns, range, fields = [] }: ScanRequest): ScanCursor {
    return this.stored.open({
      range,
      columns: columns.map(({ id }) => this.storedColumn(id)),
      fields: fields.map((field): FieldPredicate => ({ ...field, columnId: STORED[field.columnId]! })),
      tags: [{ columnId: LOG_COLUMN.database, values: [String(this.databaseId)] }],
    });
  }

  private storedColumn(id: number): ColumnDef {
    return this.stored.columns.find((column) => column.id === STORED[id])!;
  }
}

/** The stored tables of schema `system` in a snapshot, by name. */
export function storedSystemTables({ triggerLog }: DatabaseSnapshot, scans: readonly TableScan[]): ReadonlyMap<string, ScanTable> {
  const stored = scans.find(({ tableId }) => tableId === triggerLog?.tableId);
  if (triggerLog === undefined || stored === undefined) return new Map();
  return new Map([[LOG_SYSTEM_TABLE, new DatabaseLogTable(stored, triggerLog.databaseId)]]);
}
