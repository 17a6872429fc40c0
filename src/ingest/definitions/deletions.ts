// Deletions by predicate. A deletion has a position in the order of writes: it applies to the rows that the log contained when it was
// requested. It is visible synchronously and acknowledged once it is durable in the catalog; compaction later removes the rows from files.

import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME, type TagPredicate, type TimeRange } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { canHide, hidesAll, hidesWhole, type Tombstone } from "../../model/rows/tombstone.ts";
import type { LiveTables } from "../../storage/buffer/live-tables.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { type CatalogOperation, deleteRowsOperation } from "../../storage/catalog/operations.ts";
import type { Manifest } from "../../storage/manifest/manifest.ts";
import type { Wal } from "../../storage/wal/wal.ts";

/** Rows of a table to delete: those in `range` that satisfy all of `tags`, exactly. */
export interface Deletion {
  readonly tableId: number;
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
}

/** A request that deletions belong to: it can be taken back. */
export interface DeletionRequest {
  /** The operation that keeps it; `tombstoneIds` is empty if there is nothing to hide. */
  readonly operation: (tombstoneIds: readonly number[]) => CatalogOperation;
}

export interface DeletionParts {
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly wal: Pick<Wal, "lastSequence" | "flushed">;
  readonly manifest: Pick<Manifest, "blocksOf" | "changesOf" | "flushedSequence">;
}

const NONE: readonly Tombstone[] = [];

/** The effective tombstones by table id: those of the catalog, and those being written to it. */
export class Deletions {
  /** By table, ascending ids: effective, but not written to the catalog before the rows they hide are durable in the log. */
  private readonly waiting = new Map<number, Tombstone[]>();
  private waitingPartial = 0;
  private nextId = 1;
  /** The last one of each table, even if it is otherwise forgotten. */
  private readonly last = new Map<number, number>();
  /** State of each table when `retireApplied` last found nothing to forget. */
  private readonly lookedAt = new Map<number, { tombstones: readonly Tombstone[]; changes: number; flushedSequence: number }>();
  /** Deletions are written to the catalog in order; those waiting become durable together. */
  private tail: Promise<unknown> = Promise.resolve();

  /** Create it when the log is replayed and before anything is written: replayed rows end at the sequence of the last deletion. */
  constructor(private readonly parts: DeletionParts) {
    for (const { id, tableId, sequence } of parts.catalog.tombstones()) {
      this.last.set(tableId, id);
      const buffer = parts.tables.find(tableId)?.buffer;
      if (buffer !== undefined && sequence >= buffer.lastSequence) buffer.cut();
    }
  }

  /** Every deletion that may still hide rows, ascending ids. */
  tombstonesOf(tableId: number): readonly Tombstone[] {
    const known = this.parts.catalog.tombstonesOf(tableId);
    const waiting = this.waiting.get(tableId) ?? NONE;
    return waiting.length === 0 ? known : [...known, ...waiting];
  }

  /** Id of the table's last deletion, 0 = none known to this process. */
  lastOf(tableId: number): number {
    return this.last.get(tableId) ?? 0;
  }

  /** Sets aside ids for deletions of a backup, which come to the catalog with their tables. Returns the first. */
  reserveIds(count: number): number {
    const first = Math.max(this.nextId, this.parts.catalog.nextIds.tombstoneId);
    this.nextId = first + count;
    return first;
  }

  /** Takes effect synchronously for all or none of `deletions`; resolves once they are durable, atomically and with `request`. @throws
   *  TsdbError unknown_table, bad_request, limit_exceeded, unavailable */
  deleteRows(deletions: readonly Deletion[], request: DeletionRequest | null = null): Promise<void> {
    try {
      return this.begin(deletions, request);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Deletes all rows of these tables; their schemas stay. @throws as deleteRows */
  deleteData(tableIds: readonly number[]): Promise<void> {
    return this.deleteRows(tableIds.map((tableId) => ({ tableId, range: ALL_TIME, tags: [] })));
  }

  /** Deletions of the table were taken back: what was computed without their rows is not what it was. */
  retracted(tableId: number): void {
    this.last.set(tableId, this.reserveIds(1));
  }

  /** True if deletions hide all rows of the table, as far as the times of runs and blocks tell. */
  isEmptied(tableId: number): boolean {
    const tombstones = this.tombstonesOf(tableId).filter(({ isHeld }) => isHeld !== true);
    const isHidden = (rows: Parameters<typeof hidesWhole>[1]) => tombstones.some((tombstone) => hidesWhole(tombstone, rows));
    const { tables, manifest } = this.parts;
    return tables.runs(tableId).every(isHidden) && manifest.blocksOf(tableId).every(({ block }) => isHidden(block));
  }

  /** Resolves once every deletion so far is durable: files written with them may then replace the rows they hide. @throws TsdbError
   *  unavailable */
  async durable(): Promise<void> {
    await this.tail;
    await this.parts.catalog.durable(this.parts.catalog.version);
  }

  /** Forgets deletions that can no longer hide anything: all affected rows are in files, and no file contains rows they would hide.
   *  Returns their number. */
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
    // a failure of the catalog stops the server
    if (ids.length > 0) catalog.apply([{ kind: "retire_tombstones", ids }]).durable.catch(() => {});
    return ids.length;
  }

  private begin(deletions: readonly Deletion[], request: DeletionRequest | null): Promise<void> {
    const { catalog, tables, wal } = this.parts;
    if (catalog.refusal !== null) throw catalog.refusal;
    for (const deletion of deletions) this.check(deletion);
    const sequence = wal.lastSequence;
    let id = Math.max(this.nextId, catalog.nextIds.tombstoneId);
    const tombstones: Tombstone[] = [];
    for (const { tableId, range, tags } of deletions) {
      const held = request === null ? {} : { isHeld: true as const };
      const tombstone: Tombstone = { id, tableId, sequence, range, tags: tags.map(withoutRepeats), ...held };
      if (!this.isInBuffer(tombstone) && !this.isInFiles(tombstone)) continue;
      tombstones.push(tombstone);
      id += 1;
    }
    if (tombstones.length === 0 && request === null) return Promise.resolve();
    const partial = tombstones.filter((tombstone) => !hidesAll(tombstone)).length;
    const pending = catalog.partialTombstoneCount + this.waitingPartial;
    if (pending + partial > LIMITS.tombstonesMax) {
      const message = `too many deletions wait to be applied to files: ${pending} of at most ${LIMITS.tombstonesMax}, try again later`;
      throw new TsdbError("limit_exceeded", message, { got: pending + partial, max: LIMITS.tombstonesMax });
    }
    this.nextId = id;
    for (const tombstone of tombstones) {
      // rows written from now on must not share a run with affected rows
      tables.find(tombstone.tableId)?.buffer.cut();
      this.last.set(tombstone.tableId, tombstone.id);
      this.waiting.set(tombstone.tableId, [...(this.waiting.get(tombstone.tableId) ?? NONE), tombstone]);
    }
    this.waitingPartial += partial;
    const applied = this.apply(tombstones, request, this.tail);
    applied.catch(() => {}); // the caller receives the error; later calls fail with it
    this.tail = applied;
    return applied.then((version) => this.parts.catalog.durable(version));
  }

  /** Returns the catalog version that contains them. The log is made durable first: the next start continues at its end, and a deletion
   *  with a higher sequence would hide rows written then. */
  private async apply(tombstones: readonly Tombstone[], request: DeletionRequest | null, before: Promise<unknown>): Promise<number> {
    const { catalog, wal } = this.parts;
    await wal.flushed();
    await before;
    const ofTables = tombstones.filter(({ tableId }) => catalog.tableById(tableId) !== undefined);
    const kept = request === null ? [] : [request.operation(ofTables.map(({ id }) => id))];
    const { version } = catalog.apply([...ofTables.map(deleteRowsOperation), ...kept]);
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
