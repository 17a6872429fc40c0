// Deletions by predicate. A deletion has its place in the order of writes: it means the rows that the log had when it was asked for. It is
// visible in that very step, and acknowledged once it is durable in the catalog; files lose the rows when compaction comes to them.

import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME, type TagPredicate, type TimeRange } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { canHide, hidesAll, type Tombstone } from "../../model/rows/tombstone.ts";
import type { LiveTables } from "../../storage/buffer/live-tables.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { deleteRowsOperation } from "../../storage/catalog/operations.ts";
import type { Manifest } from "../../storage/manifest/manifest.ts";
import type { Wal } from "../../storage/wal/wal.ts";

/** Rows of a table to delete: those in `range` that satisfy all of `tags`, exactly. */
export interface Deletion {
  readonly tableId: number;
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
}

export interface DeletionParts {
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly wal: Pick<Wal, "lastSequence" | "flushed">;
  readonly manifest: Pick<Manifest, "blocksOf" | "changesOf" | "flushedSequence">;
}

const NONE: readonly Tombstone[] = [];

/** Tombstones in force, by table id: those of the catalog, and those on their way there. */
export class Deletions {
  /** By table, ascending ids: in force, and not in the catalog before the rows they hide are durable in the log. */
  private readonly waiting = new Map<number, Tombstone[]>();
  private waitingPartial = 0;
  private nextId = 1;
  /** The last one of each table, also when it is forgotten otherwise. */
  private readonly last = new Map<number, number>();
  /** What `retireApplied` found nothing more to forget in, by table. */
  private readonly lookedAt = new Map<number, { tombstones: readonly Tombstone[]; changes: number; flushedSequence: number }>();
  /** Deletions go to the catalog in their order; it makes those that wait durable together. */
  private tail: Promise<unknown> = Promise.resolve();

  /** To be made when the log is replayed and before anything is written: the rows put back end where the last deletion is. */
  constructor(private readonly parts: DeletionParts) {
    for (const { id, tableId, sequence } of parts.catalog.tombstones()) {
      this.last.set(tableId, id);
      const buffer = parts.tables.find(tableId)?.buffer;
      if (buffer !== undefined && sequence >= buffer.lastSequence) buffer.cut();
    }
  }

  /** Every deletion that may still hide something, ascending ids. */
  tombstonesOf(tableId: number): readonly Tombstone[] {
    const known = this.parts.catalog.tombstonesOf(tableId);
    const waiting = this.waiting.get(tableId) ?? NONE;
    return waiting.length === 0 ? known : [...known, ...waiting];
  }

  /** The id of the table's last deletion, 0 = none that this process knows of. */
  lastOf(tableId: number): number {
    return this.last.get(tableId) ?? 0;
  }

  /** Takes effect in this step, for all or none of `deletions`; resolves when it is durable, as one whole.
   *  @throws TsdbError unknown_table, bad_request, limit_exceeded, unavailable */
  deleteRows(deletions: readonly Deletion[]): Promise<void> {
    try {
      return this.begin(deletions);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Deletes all rows of these tables; their schema stays. @throws as deleteRows */
  deleteData(tableIds: readonly number[]): Promise<void> {
    return this.deleteRows(tableIds.map((tableId) => ({ tableId, range: ALL_TIME, tags: [] })));
  }

  /** Resolves when every deletion so far is durable: what is made with it may replace the rows it hides.
   *  @throws TsdbError unavailable */
  async durable(): Promise<void> {
    await this.tail;
    await this.parts.catalog.durable(this.parts.catalog.version);
  }

  /** Forgets the deletions that can hide nothing any more: every row they mean is in files, and no file has any that they would hide.
   *  Returns how many there were. */
  retireApplied(): number {
    const { catalog, manifest } = this.parts;
    const { flushedSequence } = manifest;
    const ids: number[] = [];
    for (const tableId of catalog.tablesWithTombstones()) {
      const tombstones = catalog.tombstonesOf(tableId);
      const changes = manifest.changesOf(tableId);
      const last = this.lookedAt.get(tableId);
      if (last?.tombstones === tombstones && last.changes === changes && last.flushedSequence === flushedSequence) continue;
      this.lookedAt.set(tableId, { tombstones, changes, flushedSequence });
      const blocks = manifest.blocksOf(tableId);
      for (const tombstone of tombstones) {
        if (tombstone.sequence <= flushedSequence && !blocks.some(({ block }) => canHide(tombstone, block))) ids.push(tombstone.id);
      }
    }
    for (const tableId of this.lookedAt.keys()) if (catalog.tombstonesOf(tableId).length === 0) this.lookedAt.delete(tableId);
    if (ids.length > 0) catalog.apply([{ kind: "retire_tombstones", ids }]).durable.catch(() => {}); // the catalog's failure stops the server
    return ids.length;
  }

  private begin(deletions: readonly Deletion[]): Promise<void> {
    const { catalog, tables, wal } = this.parts;
    if (catalog.refusal !== null) throw catalog.refusal;
    for (const deletion of deletions) this.check(deletion);
    const sequence = wal.lastSequence;
    let id = Math.max(this.nextId, catalog.nextIds.tombstoneId);
    const tombstones: Tombstone[] = [];
    for (const { tableId, range, tags } of deletions) {
      const tombstone: Tombstone = { id, tableId, sequence, range, tags: tags.map(withoutRepeats) };
      if (!this.isInBuffer(tombstone) && !this.isInFiles(tombstone)) continue;
      tombstones.push(tombstone);
      id += 1;
    }
    if (tombstones.length === 0) return Promise.resolve();
    const partial = tombstones.filter((tombstone) => !hidesAll(tombstone)).length;
    const pending = catalog.partialTombstoneCount + this.waitingPartial;
    if (pending + partial > LIMITS.tombstonesMax) {
      const message = `too many deletions wait to be applied to files: ${pending} of at most ${LIMITS.tombstonesMax}, try again later`;
      throw new TsdbError("limit_exceeded", message, { got: pending + partial, max: LIMITS.tombstonesMax });
    }
    this.nextId = id;
    for (const tombstone of tombstones) {
      // what is written from now on shares no run with the rows that are meant
      tables.find(tombstone.tableId)?.buffer.cut();
      this.last.set(tombstone.tableId, tombstone.id);
      this.waiting.set(tombstone.tableId, [...(this.waiting.get(tombstone.tableId) ?? NONE), tombstone]);
    }
    this.waitingPartial += partial;
    const applied = this.apply(tombstones, this.tail);
    applied.catch(() => {}); // the caller is told; those that follow fail with it
    this.tail = applied;
    return applied.then((version) => this.parts.catalog.durable(version));
  }

  /** Returns the catalog's version with them. The log comes first: its end is what the next start finds, and a deletion beyond it would
   *  hide rows that are written then. */
  private async apply(tombstones: readonly Tombstone[], before: Promise<unknown>): Promise<number> {
    const { catalog, wal } = this.parts;
    await wal.flushed();
    await before;
    const { version } = catalog.apply(
      tombstones.filter(({ tableId }) => catalog.tableById(tableId) !== undefined).map(deleteRowsOperation),
    );
    for (const { tableId, id } of tombstones) {
      const left = (this.waiting.get(tableId) ?? NONE).filter((tombstone) => tombstone.id !== id);
      if (left.length === 0) this.waiting.delete(tableId);
      else this.waiting.set(tableId, left);
    }
    this.waitingPartial -= tombstones.filter((tombstone) => !hidesAll(tombstone)).length;
    return version;
  }

  private isInBuffer(tombstone: Tombstone): boolean {
    return this.parts.tables.runs(tombstone.tableId).some((run) => canHide(tombstone, run));
  }

  private isInFiles(tombstone: Tombstone): boolean {
    return this.parts.manifest.blocksOf(tombstone.tableId).some(({ block }) => canHide(tombstone, block));
  }

  private check({ tableId, range, tags }: Deletion): void {
    const table = this.parts.catalog.tableById(tableId);
    if (table === undefined) throw new TsdbError("unknown_table", `no table has the id ${tableId}`, { tableId });
    assert(range.minNs >= ALL_TIME.minNs && range.maxNs <= ALL_TIME.maxNs, `a range of 64 bits: ${range.minNs} to ${range.maxNs}`);
    if (range.minNs > range.maxNs) {
      throw new TsdbError("bad_request", `a deletion's range of time ends (${range.maxNs}) before it begins (${range.minNs})`, {});
    }
    let [valueCount, textBytes] = [0, 0];
    for (const { columnId, values } of tags) {
      const column = table.columns.find(({ id }) => id === columnId);
      if (column?.type !== ColumnType.tag) {
        const what = column === undefined ? `no column has the id ${columnId}` : `${column.name} is not a tag`;
        throw new TsdbError("bad_request", `rows of ${table.name} cannot be deleted by it: ${what}`, { columnId });
      }
      valueCount += values.length;
      for (const value of values) textBytes += value === null ? 0 : Buffer.byteLength(value);
    }
    if (valueCount > LIMITS.tombstoneValuesMax || textBytes > LIMITS.tombstoneTextBytesMax) {
      const { tombstoneValuesMax, tombstoneTextBytesMax } = LIMITS;
      const message =
        `a deletion names ${valueCount} tag values of ${textBytes} bytes, ` +
        `at most ${tombstoneValuesMax} of ${tombstoneTextBytesMax} bytes are possible`;
      throw new TsdbError("limit_exceeded", message, { valueCount, textBytes });
    }
  }
}

function withoutRepeats({ columnId, values }: TagPredicate): TagPredicate {
  return { columnId, values: [...new Set(values)] };
}
