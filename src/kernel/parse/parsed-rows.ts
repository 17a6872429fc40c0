// Rows of a parsed table that adds neither columns nor series: its columns have catalog ids, its series ids are those of the table's
// dictionary. The kernel frames and buffers them in place; `columns` creates objects on demand.
import * as abi from "../../../assembly/abi.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun, RowFacts } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { ParsedTables } from "./parsed-tables.ts";

/** The rows of one table. Borrowed until the parser's next body. */
export class ParsedRows implements RowFacts {
  /** Address of the table in the result of `lineParse`. */
  readonly tablePtr: number;
  readonly rowCount: number;
  readonly seriesPtr: number;
  readonly timePtr: number;
  readonly unique: boolean;
  readonly ascending: boolean;
  readonly overlaps: readonly TimeRange[] | undefined;
  private made: readonly ColumnRun[] | undefined;

  /** @param columnIdsPtr u32 catalog column id per column index of the parser */
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

  /** Appends the rows to `rowCount` existing ones in the arrays that `targetsPtr` (abi.ts) describes, which must have room. Returns
   *  false, and changes nothing, unless the rows have a value in every row for exactly these columns. */
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
      // columns with a bitmap are packed
      columns.push(validityPtr === 0 ? { columnId, type, dataPtr, validityPtr } : { columnId, type, dataPtr, validityPtr, isPacked: true });
      at += abi.PARSED_COLUMN_WORDS;
    }
    return columns;
  }
}
