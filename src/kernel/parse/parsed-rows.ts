// Rows of a parsed table that brings nothing new: its columns have ids of the catalog, its series are of the table's dictionary. The kernel
// frames and buffers them as they lie; who wants the columns as objects gets them made.
import * as abi from "../../../assembly/abi.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun, RowFacts } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { ParsedTables } from "./parsed-tables.ts";

/** Borrowed until the parser's next body. */
export class ParsedRows implements RowFacts {
  /** What `lineParse` says of the table. */
  readonly tablePtr: number;
  readonly rowCount: number;
  readonly seriesPtr: number;
  readonly timePtr: number;
  readonly unique: boolean;
  readonly ascending: boolean;
  readonly overlaps: readonly TimeRange[] | undefined;
  private made: readonly ColumnRun[] | undefined;

  /** `columnIdsPtr`: u32 by the parser's column index. */
  constructor(
    private readonly kernel: Kernel,
    table: ParsedTables,
    readonly columnIdsPtr: number,
    facts: RowFacts,
  ) {
    this.tablePtr = table.tablePtr;
    this.rowCount = table.rowCount;
    this.seriesPtr = table.seriesPtr;
    this.timePtr = table.timePtr;
    this.unique = facts.unique;
    this.ascending = facts.ascending === true;
    this.overlaps = facts.overlaps;
  }

  get columns(): readonly ColumnRun[] {
    this.made ??= this.make();
    return this.made;
  }

  /** Copies the rows behind the first `rowCount` of those that `targetsPtr` (abi.ts) describes, which has room for them. False, and nothing
   *  is done, unless they have a value in every row for exactly its columns. */
  appendTo(targetsPtr: number, rowCount: number): boolean {
    return this.kernel.call.appendRows(this.tablePtr, this.columnIdsPtr, targetsPtr, rowCount) !== 0;
  }

  private make(): ColumnRun[] {
    const words = this.kernel.u32;
    const columns: ColumnRun[] = [];
    let at = (this.tablePtr >>> 2) + abi.PARSED_TABLE_WORDS;
    for (let left = words[(this.tablePtr >>> 2) + abi.PARSED_TABLE_COLUMN_COUNT]!; left > 0; left--) {
      const columnId = words[(this.columnIdsPtr >>> 2) + words[at + abi.PARSED_COLUMN_INDEX]!]!;
      const type = words[at + abi.PARSED_COLUMN_TYPE]! as ColumnType;
      const dataPtr = words[at + abi.PARSED_COLUMN_DATA_PTR]!;
      const validityPtr = words[at + abi.PARSED_COLUMN_VALIDITY_PTR]!;
      // what has a bitmap is packed
      columns.push(validityPtr === 0 ? { columnId, type, dataPtr, validityPtr } : { columnId, type, dataPtr, validityPtr, isPacked: true });
      at += abi.PARSED_COLUMN_WORDS;
    }
    return columns;
  }
}
