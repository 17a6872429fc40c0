// The deletions that compaction has not applied everywhere yet, by table. Part of the catalog's state: no clock, no I/O.
import { covers, hidesAll, type Tombstone } from "../model/tombstone.ts";

export class TombstoneSet {
  /** Ids are never used again, also when their owner is gone. */
  nextId = 1;
  /** Ascending ids; a table's list is replaced, never changed. Tables without any have no entry. */
  private readonly byTable = new Map<number, readonly Tombstone[]>();
  private readonly tableOf = new Map<number, number>();
  private partial = 0;

  /** Of those that leave some rows of their table: the others are one a table at most. */
  get partialCount(): number {
    return this.partial;
  }

  ofTable(tableId: number): readonly Tombstone[] {
    return this.byTable.get(tableId) ?? [];
  }

  /** Tables that have any. */
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

  /** The earlier ones that it covers go. `id` is at least `nextId`. */
  add(tombstone: Tombstone): void {
    const kept = this.ofTable(tombstone.tableId).filter((earlier) => {
      if (!covers(tombstone, earlier)) return true;
      this.forget(earlier);
      return false;
    });
    this.byTable.set(tombstone.tableId, [...kept, tombstone]);
    this.tableOf.set(tombstone.id, tombstone.tableId);
    if (!hidesAll(tombstone)) this.partial += 1;
    this.nextId = tombstone.id + 1;
  }

  /** `id` is one of the set. */
  remove(id: number): void {
    const tableId = this.tableOf.get(id)!;
    const tombstones = this.ofTable(tableId);
    for (const tombstone of tombstones) if (tombstone.id === id) this.forget(tombstone);
    const kept = tombstones.filter((tombstone) => tombstone.id !== id);
    if (kept.length === 0) this.byTable.delete(tableId);
    else this.byTable.set(tableId, kept);
  }

  /** Those of a table that is gone. */
  removeTable(tableId: number): void {
    for (const tombstone of this.ofTable(tableId)) this.forget(tombstone);
    this.byTable.delete(tableId);
  }

  private forget(tombstone: Tombstone): void {
    this.tableOf.delete(tombstone.id);
    if (!hidesAll(tombstone)) this.partial -= 1;
  }
}
