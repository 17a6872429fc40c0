// The scans and caches opened for a statement.
import type { CacheTable } from "../model/cache-table.ts";
import type { ScanRecord } from "../model/query/scan-record.ts";
import type { TableScan } from "../scan/table-scan.ts";

/** Open scans and caches of one statement. They pin nothing themselves: the snapshot must outlive them. */
export class StatementTables {
  constructor(
    readonly scans: readonly TableScan[],
    /** By `cacheKey`; absent if the statement names none. */
    readonly caches?: ReadonlyMap<string, CacheTable>,
  ) {}

  /** Statistics of the scans so far. */
  records(): ScanRecord[] {
    return [...this.scans, ...(this.caches?.values() ?? [])].flatMap((scan) => scan.records?.() ?? []);
  }

  /** Call it when nothing is read any more. */
  close(): void {
    for (const scan of this.scans) scan.close();
    for (const table of this.caches?.values() ?? []) table.close();
  }
}
