// The list of a database's tables on its way to a worker. Both sides remember the definitions that were sent: a list goes as table ids
// beside the definitions that the worker does not have. Many of those go ahead of it, part by part, each in a message of its own: to write
// them all into one would keep the main thread from others.
import { assert } from "../../model/assert.ts";
import type { TableDef } from "../../model/rows/column.ts";

export interface WireCatalog {
  readonly ids: Int32Array;
  /** Those that the worker does not have, or not as they are now. */
  readonly added: readonly TableDef[];
  /** Tables that the sender has forgotten, once the list is complete. */
  readonly forgotten: readonly number[];
}

export interface CatalogPart {
  readonly tables: readonly TableDef[];
  readonly end: number;
}

/** Tables and columns of a part: a millisecond or two to write. */
const PART_SIZE = 4096;
/** Tables that are remembered beside those of the latest list. */
const OTHERS_MAX = 10_000;

/** One per worker, on the main thread. */
export class CatalogSender {
  private readonly known = new Map<number, TableDef>();

  constructor(
    private readonly partSize = PART_SIZE,
    private readonly othersMax = OTHERS_MAX,
  ) {}

  /** From place `from` of the list on, a part of the definitions that the worker does not have, to be sent ahead of the list, and the place
   *  behind it; null: what is left goes with the list. What is made must be sent, in order. Lists of different moments may be sent in turn:
   *  each goes through its places once, however often the other one changes a definition. */
  ahead(catalog: readonly TableDef[], from: number): CatalogPart | null {
    const part: TableDef[] = [];
    let size = 0;
    for (let place = from; place < catalog.length; place++) {
      const table = catalog[place]!;
      if (this.known.get(table.id) === table) continue;
      if (size >= this.partSize) return { tables: this.sent(part), end: place };
      part.push(table);
      size += 1 + table.columns.length;
    }
    return null;
  }

  /** What is made must be sent, in order. */
  encode(catalog: readonly TableDef[]): WireCatalog {
    const added = this.sent(catalog.filter((table) => this.known.get(table.id) !== table));
    return { ids: Int32Array.from(catalog, ({ id }) => id), added, forgotten: this.forget(catalog) };
  }

  private sent(tables: readonly TableDef[]): readonly TableDef[] {
    for (const table of tables) this.known.set(table.id, table);
    return tables;
  }

  private forget(catalog: readonly TableDef[]): number[] {
    if (this.known.size <= catalog.length + this.othersMax) return [];
    const kept = new Set(catalog.map(({ id }) => id));
    const forgotten = [...this.known.keys()].filter((id) => !kept.has(id));
    for (const id of forgotten) this.known.delete(id);
    return forgotten;
  }
}

/** The worker's side. */
export class CatalogReceiver {
  private readonly known = new Map<number, TableDef>();

  /** Definitions that were sent ahead of a list. */
  add(tables: readonly TableDef[]): void {
    for (const table of tables) this.known.set(table.id, table);
  }

  decode({ ids, added, forgotten }: WireCatalog): readonly TableDef[] {
    this.add(added);
    const catalog = Array.from(ids, (id) => {
      const table = this.known.get(id);
      assert(table !== undefined, `table ${id} was sent before the list that names it`);
      return table;
    });
    for (const id of forgotten) this.known.delete(id);
    return catalog;
  }
}
