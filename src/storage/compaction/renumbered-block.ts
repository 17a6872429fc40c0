// A block whose columns have other ids in the table that takes its rows.
import type { BlockPage, BlockSeries, DataBlock, DecodeMemory, PageRowParts } from "../block/data-block.ts";

/** `ids`: new id by old one, for every column but time; ascending for tags, whose order is that of the series. */
export class RenumberedBlock implements DataBlock {
  readonly tableId: number;
  readonly rowCount: number;
  readonly seriesCount: number;
  readonly pages: readonly BlockPage[];
  readonly columns: DataBlock["columns"];
  private readonly oldIds: ReadonlyMap<number, number>;

  constructor(
    private readonly block: DataBlock,
    private readonly ids: ReadonlyMap<number, number>,
  ) {
    this.tableId = block.tableId;
    this.rowCount = block.rowCount;
    this.seriesCount = block.seriesCount;
    this.pages = block.pages;
    this.columns = block.columns.map((column) => ({ ...column, columnId: this.newId(column.columnId) }));
    this.oldIds = new Map([...ids].map(([old, id]) => [id, old]));
  }

  readSeries(memory: DecodeMemory): BlockSeries {
    const series = this.block.readSeries(memory);
    const { dictionary } = series;
    const tags = dictionary.tags.map((tag) => ({ ...tag, columnId: this.newId(tag.columnId) }));
    return { ...series, dictionary: { ...dictionary, tags } };
  }

  readColumn(page: number, columnId: number, memory: DecodeMemory): ReturnType<DataBlock["readColumn"]> {
    const column = this.block.readColumn(page, this.oldIds.get(columnId) ?? columnId, memory);
    return column === null ? null : { ...column, columnId };
  }

  readRows(page: number, columnId: number, rows: PageRowParts, memory: DecodeMemory): ReturnType<DataBlock["readRows"]> {
    const column = this.block.readRows(page, this.oldIds.get(columnId) ?? columnId, rows, memory);
    return column === null ? null : { ...column, columnId };
  }

  private newId(columnId: number): number {
    return this.ids.get(columnId) ?? columnId;
  }
}
