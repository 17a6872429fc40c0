// The deletions that compaction has not applied to all files yet, by table. Part of the catalog's state: no clock, no I/O.
import { ColumnType, type TableDef } from "../../../model/rows/column.ts";
import { coverOf, hidesAll, type Tombstone } from "../../../model/rows/tombstone.ts";
import { violated } from "../contradiction.ts";

/** Tombstones by table and id. Those that are held may be taken back: they cover no others. */
export class TombstoneSet {
  /** Ids are never reused, even after their owner is gone; those of a restored backup are set aside before others that come first. */
  nextId = 1;
  /** Ascending ids; a table's list is replaced, never modified. Tables without tombstones have no entry. */
  private readonly byTable = new Map<number, readonly Tombstone[]>();
  private readonly tableOf = new Map<number, number>();
  private partial = 0;

  /** Number of tombstones that leave some rows of their table; of the others a table has at most one. */
  get partialCount(): number {
    return this.partial;
  }

  ofTable(tableId: number): readonly Tombstone[] {
    return this.byTable.get(tableId) ?? [];
  }

  /** Tables with tombstones. */
  tableIds(): Iterable<number> {
    return this.byTable.keys();
  }

  has(id: number): boolean {
    return this.tableOf.has(id);
  }

  /** Ascending ids. */
  all(): Tombstone[] {
    return [...this.byTable.values()].flat().sort((a, b) => a.id - b.id);
  }

  /** Adds a tombstone and removes those of its table that it covers, unless it is held. @throws TsdbError corrupt_file if it does not fit
   *  the table; nothing has changed then */
  add(tombstone: Tombstone, table: TableDef | undefined): void {
    const { id, tableId, range, tags } = tombstone;
    if (table === undefined) violated(`a deletion in table ${tableId}, which does not exist`);
    if (this.has(id) || id <= (this.ofTable(tableId).at(-1)?.id ?? 0)) violated(`deletion id ${id} was used before`);
    if (range.minNs > range.maxNs) violated(`deletion ${id} ends before it begins`);
    const isTag = (columnId: number) => table.columns.some((column) => column.id === columnId && column.type === ColumnType.tag);
    const other = tags.find(({ columnId }) => !isTag(columnId));
    if (other !== undefined) violated(`deletion ${id} asks for tag ${other.columnId}, which table ${tableId} does not have`);
    const covers = tombstone.isHeld === true ? () => false : coverOf(tombstone);
    const kept = this.ofTable(tombstone.tableId).filter((earlier) => {
      if (!covers(earlier)) return true;
      this.forget(earlier);
      return false;
    });
    this.byTable.set(tombstone.tableId, [...kept, tombstone]);
    this.tableOf.set(tombstone.id, tombstone.tableId);
    if (!hidesAll(tombstone)) this.partial += 1;
    this.nextId = Math.max(this.nextId, id + 1);
  }

  /** Removes all of them or, if it throws, none. @throws TsdbError corrupt_file */
  retire(ids: readonly number[]): void {
    for (const id of ids) if (!this.has(id)) violated(`deletion ${id} is retired and was not there`);
    if (new Set(ids).size < ids.length) violated("a deletion is retired twice");
    for (const id of ids) this.remove(id);
  }

  /** Those that are still there can no longer be taken back. */
  release(ids: readonly number[]): void {
    const released = new Set(ids);
    for (const tableId of this.tablesOf(ids)) {
      const tombstones = this.ofTable(tableId).map((tombstone): Tombstone => {
        const { isHeld: _, ...final } = tombstone;
        return released.has(tombstone.id) ? final : tombstone;
      });
      this.byTable.set(tableId, tombstones);
    }
  }

  /** Takes those back that are still there. */
  retract(ids: readonly number[]): void {
    for (const id of ids) if (this.has(id)) this.remove(id);
  }

  private tablesOf(ids: readonly number[]): Set<number> {
    return new Set(ids.flatMap((id) => this.tableOf.get(id) ?? []));
  }

  private remove(id: number): void {
    const tableId = this.tableOf.get(id)!;
    const tombstones = this.ofTable(tableId);
    for (const tombstone of tombstones) if (tombstone.id === id) this.forget(tombstone);
    const kept = tombstones.filter((tombstone) => tombstone.id !== id);
    if (kept.length === 0) this.byTable.delete(tableId);
    else this.byTable.set(tableId, kept);
  }

  /** Removes the tombstones of a dropped table. */
  removeTable(tableId: number): void {
    for (const tombstone of this.ofTable(tableId)) this.forget(tombstone);
    this.byTable.delete(tableId);
  }

  private forget(tombstone: Tombstone): void {
    this.tableOf.delete(tombstone.id);
    if (!hidesAll(tombstone)) this.partial -= 1;
  }
}
