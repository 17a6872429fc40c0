// Requests to delete rows, which are kept with their outcome. Their rows vanish at once; until files are written without them a request can
// be taken back. Main thread.
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import {
  dispositionOf,
  type LevelProgress,
  type NewRowDelete,
  type RowDeleteDef,
  type RowDeleteFilter,
  type RowDeleteInfo,
  type RowDeleteProgress,
  type RowDeleteService,
} from "../../model/rows/row-delete.ts";
import { canHide, type Tombstone } from "../../model/rows/tombstone.ts";
import { Turns } from "../../model/turns.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { CatalogOperation } from "../../storage/catalog/operations.ts";
import type { Manifest } from "../../storage/manifest/manifest.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "../../tsdbql/plan/time-range.ts";
import type { Deletion, Deletions } from "../definitions/deletions.ts";
import type { TagValues } from "../definitions/tag-condition.ts";
import { parsePredicate } from "./parse-predicate.ts";
import { matchingLists, type Predicate, type TagSet, type TagValueList, tagsOf, valueLists } from "./predicate.ts";

const ALL: TimeRange = { minNs: TIME_MIN_NS, maxNs: TIME_MAX_NS };
/** Levels of progress: as flushed, merged once, twice, more often. */
const LEVELS = 4;
const REASON_CHARS_MAX = 4096;

export interface RowDeleteParts {
  readonly catalog: Catalog;
  readonly manifest: Pick<Manifest, "blocksOf">;
  readonly deletions: Pick<Deletions, "deleteRows" | "retracted">;
  /** The distinct combinations of tag values in a table's rows. */
  readonly tagValues: (databaseId: number, table: string, tags: readonly string[], signal: AbortSignal) => Promise<readonly TagValues[]>;
  /** How long a request can be taken back. */
  readonly minAgeMs: number;
  readonly nowMs: () => number;
}

/** Keeps requests, and moves them on: `check` is called regularly. */
export class RowDeletes implements RowDeleteService {
  private nextSequence = 1;
  /** Requests that are on their way to the catalog. */
  private waiting = 0;

  constructor(private readonly parts: RowDeleteParts) {}

  async create(request: NewRowDelete, signal: AbortSignal): Promise<RowDeleteInfo> {
    const { catalog, deletions, nowMs } = this.parts;
    const createdMs = nowMs();
    const table = this.table(request);
    const { condition, range } = this.rowsOf(request, createdMs);
    checkTags(table, condition);
    const lists = range.minNs > range.maxNs ? [] : await this.lists(table, condition, signal);
    this.requireRoom();
    const found = lists.map((tags): Deletion => ({ tableId: table.id, range, tags: predicates(table, tags) }));
    const sequence = Math.max(this.nextSequence, catalog.rowDeletes.nextSequence);
    this.nextSequence = sequence + 1;
    const bound = (ns: bigint | null) => (ns === null ? null : String(ns));
    const operation = (tombstoneIds: readonly number[]): CatalogOperation => {
      const isDone = tombstoneIds.length === 0;
      const names = { database: request.database, table: request.table, predicate: request.predicate };
      const ids = { sequence, databaseId: table.databaseId, tableId: table.id, tombstoneIds };
      const bounds = { minTimeNs: bound(request.minNs), endTimeNs: bound(request.endNs) };
      const end = { state: isDone ? ("completed" as const) : ("held" as const), endedMs: isDone ? createdMs : null, abortReason: null };
      return { kind: "request_row_delete", request: { ...ids, ...names, ...bounds, createdMs, ...end } };
    };
    this.waiting += 1;
    try {
      await deletions.deleteRows(found, { operation });
    } finally {
      this.waiting -= 1;
    }
    return this.find(sequence);
  }

  list({ database, table, disposition, minSequence = 0, maxSequence = Number.POSITIVE_INFINITY }: RowDeleteFilter): RowDeleteInfo[] {
    const found: RowDeleteInfo[] = [];
    for (const request of this.parts.catalog.rowDeletes.all()) {
      const isMeant = (wanted: string | undefined, name: string) => wanted === undefined || wanted === name;
      if (!isMeant(database, request.database) || !isMeant(table, request.table)) continue;
      if (disposition !== undefined && dispositionOf(request) !== disposition) continue;
      if (request.sequence < minSequence || request.sequence > maxSequence) continue;
      found.push(this.infoOf(request));
    }
    return found;
  }

  find(sequence: number): RowDeleteInfo {
    const request = this.parts.catalog.rowDeletes.find(sequence);
    if (request === undefined) throw new TsdbError("not_found", `row delete request not found: ${sequence}`, { sequence });
    return this.infoOf(request);
  }

  progress(request: RowDeleteInfo): RowDeleteProgress | null {
    if (request.state === "aborted") return null;
    const { catalog, manifest } = this.parts;
    const own = new Set(request.tombstoneIds);
    const tombstones = catalog.tombstonesOf(request.tableId).filter(({ id }) => own.has(id));
    const range = rangeOf(request);
    const inRange = Array.from({ length: LEVELS }, () => ({ total: 0, processed: 0 }));
    let outside = 0;
    for (const { file, block } of manifest.blocksOf(request.tableId)) {
      const level = inRange[Math.min(file.generation, LEVELS - 1)]!;
      if (block.minTimeNs > range.maxNs || block.maxTimeNs < range.minNs) outside += 1;
      else {
        level.total += 1;
        if (!tombstones.some((tombstone) => canHide(tombstone, block))) level.processed += 1;
      }
    }
    return { inRange: inRange as readonly LevelProgress[], outOfRange: { total: outside, processed: outside } };
  }

  async abort(sequence: number, reason: string): Promise<RowDeleteInfo> {
    const { catalog, deletions, nowMs } = this.parts;
    const { state, tableId } = this.find(sequence);
    if (reason.length > REASON_CHARS_MAX) throw new TsdbError("bad_request", `a reason has at most ${REASON_CHARS_MAX} characters`);
    if (state !== "held") {
      const why = state === "applying" ? "its rows are being removed from files" : `it is ${state}`;
      throw new TsdbError("bad_request", `row delete request ${sequence} cannot be aborted: ${why}`, { sequence, state });
    }
    const { durable } = catalog.apply([{ kind: "abort_row_delete", sequence, endedMs: nowMs(), reason }]);
    deletions.retracted(tableId);
    await durable;
    return this.find(sequence);
  }

  /** Releases requests that are old enough, completes those whose rows are in no file, and forgets the oldest of those that have ended. */
  check(): void {
    const { catalog, minAgeMs, nowMs } = this.parts;
    if (catalog.rowDeletes.count === 0 || catalog.refusal !== null) return;
    const now = nowMs();
    const operations: CatalogOperation[] = [];
    let surplus = catalog.rowDeletes.count - LIMITS.rowDeletesKeptMax;
    for (const { sequence, state, createdMs, tableId, tombstoneIds } of catalog.rowDeletes.all()) {
      if (state === "completed" || state === "aborted") {
        if (surplus-- > 0) operations.push({ kind: "forget_row_delete", sequence });
        continue;
      }
      const left = new Set(catalog.tombstonesOf(tableId).map(({ id }) => id));
      if (!tombstoneIds.some((id) => left.has(id))) operations.push({ kind: "complete_row_delete", sequence, endedMs: now });
      // a request that was made while the clock was ahead would wait for that time
      else if (state === "held" && Math.abs(now - createdMs) >= minAgeMs) operations.push({ kind: "release_row_delete", sequence });
    }
    // a failure of the catalog stops the server
    if (operations.length > 0) catalog.apply(operations).durable.catch(() => {});
  }

  private table({ database, table: name }: NewRowDelete): TableDef {
    const { catalog } = this.parts;
    const table = catalog.findTable(catalog.liveDatabase(database).id, name);
    if (table === undefined) throw new TsdbError("unknown_table", `table not found: ${database}.${name}`, { database, table: name });
    return table;
  }

  private rowsOf({ minNs, endNs, predicate }: NewRowDelete, nowMs: number): { condition: Predicate; range: TimeRange } {
    const { condition, range } = parsePredicate(predicate, ALL, BigInt(nowMs) * 1_000_000n);
    const least = minNs !== null && minNs > range.minNs ? minNs : range.minNs;
    const most = endNs !== null && endNs - 1n < range.maxNs ? endNs - 1n : range.maxNs;
    return { condition, range: { minNs: least, maxNs: most } };
  }

  /** What series to delete: lists of allowed values of tags, of which any may fit. */
  private async lists(table: TableDef, condition: Predicate, signal: AbortSignal): Promise<readonly (readonly TagValueList[])[]> {
    const plain = valueLists(condition);
    // no tag is empty
    const real = plain?.map(({ tag, values }) => ({ tag, values: values.filter((value) => value !== "") })) ?? null;
    if (real !== null) return real.some(({ values }) => values.length === 0) ? [] : [real];
    const names = [...tagsOf(condition)];
    const all = names.length === 0 ? [] : await this.parts.tagValues(table.databaseId, table.name, names, signal);
    return new Turns(signal).run(matchingLists(condition, all.map(presentTags)));
  }

  private requireRoom(): void {
    const got = this.parts.catalog.rowDeletes.pendingCount + this.waiting;
    if (got < LIMITS.rowDeletesPendingMax) return;
    const message = `${got} row delete requests are pending, at most ${LIMITS.rowDeletesPendingMax} may be; try again later`;
    throw new TsdbError("limit_exceeded", message, { got, max: LIMITS.rowDeletesPendingMax });
  }

  private infoOf(request: RowDeleteDef): RowDeleteInfo {
    const { catalog } = this.parts;
    const table = catalog.findTable(request.databaseId, request.table);
    const isDatabaseStale = catalog.findDatabase(request.database)?.id !== request.databaseId;
    return { ...request, isDatabaseStale, isTableStale: table?.id !== request.tableId };
  }
}

function rangeOf({ minTimeNs, endTimeNs }: RowDeleteDef): Tombstone["range"] {
  return {
    minNs: minTimeNs === null ? ALL.minNs : BigInt(minTimeNs),
    maxNs: endTimeNs === null ? ALL.maxNs : BigInt(endTimeNs) - 1n,
  };
}

/** An absent tag is missing, null or "". */
function presentTags(tags: TagValues): TagSet {
  return new Map(Object.entries(tags).filter(([, value]) => value !== "" && value !== null));
}

/** @throws TsdbError bad_request unless every name is a tag of the table */
function checkTags({ name, columns }: TableDef, condition: Predicate): void {
  for (const tag of tagsOf(condition)) {
    const column = columns.find((each) => each.name === tag);
    if (column?.type === ColumnType.tag) continue;
    const what = column === undefined ? `${name} has no column "${tag}"` : `"${tag}" is a field of ${name}`;
    throw new TsdbError("bad_request", `rows can be deleted by tags and time: ${what}`, { table: name, column: tag });
  }
}

function predicates({ columns }: TableDef, lists: readonly TagValueList[]): Deletion["tags"] {
  return lists.map(({ tag, values }) => ({ columnId: columns.find(({ name }) => name === tag)!.id, values }));
}
