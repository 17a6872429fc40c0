// Encodes a database's table list for a worker. Both sides remember the definitions sent: a list is sent as table ids plus the definitions
// that the worker does not have. Many definitions are sent ahead of the list in parts, each in a message of its own: serializing them in
// one message would block the main thread.
import { assert } from "../../model/assert.ts";
import type { TableDef } from "../../model/rows/column.ts";

export interface WireCatalog {
  readonly ids: Int32Array;
  /** Definitions that are new to the worker, or have changed. */
  readonly added: readonly TableDef[];
  /** Tables that the sender forgets after this list. */
  readonly forgotten: readonly number[];
}

export interface CatalogPart {
  readonly tables: readonly TableDef[];
  readonly end: number;
}

/** Tables and columns per part: one to two milliseconds of serialization. */
const PART_SIZE = 4096;
/** Tables remembered in addition to those of the latest list. */
const OTHERS_MAX = 10_000;

/** One per worker, on the main thread. */
export class CatalogSender {
  private readonly known = new Map<number, TableDef>();

  constructor(
    private readonly partSize = PART_SIZE,
    private readonly othersMax = OTHERS_MAX,
  ) {}

  /** A part of the definitions that the worker lacks, from position `from` of the list, to be sent ahead of the list, and the next
   *  position; null: the rest is sent with the list. Every result must be sent, in order. Lists of different moments may be interleaved:
   *  each is traversed once, however often the others change a definition. */
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

  /** Every result must be sent, in order. */
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

  /** Stores definitions that were sent ahead of a list. */
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
