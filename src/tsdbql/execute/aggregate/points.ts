// Computes calls from grouped rows, where the scan cannot aggregate.

import { inSteps, type Steps } from "../../../model/steps.ts";
import type { TimeZone } from "../../../model/time/time-zone.ts";
import type { ReduceContext, Windows } from "../../functions/operator.ts";
import type { Points } from "../../functions/points.ts";
import { REDUCERS } from "../../functions/reducers.ts";
import { TEXT_BYTES } from "../../functions/texts.ts";
import { cutWindows, oneWindow } from "../../functions/windows.ts";
import type { Interval } from "../../plan/check-select.ts";
import type { PlannedCall, PlannedColumn } from "../../plan/select.ts";
import { type PresentPoints, presentPoints, takeTags } from "../rows/cells.ts";
import type { AnyCells, TagCells } from "../rows/columns.ts";
import { keysOfField } from "../rows/field-keys.ts";
import { groupRows } from "../rows/order.ts";
import type { RowSet } from "../rows/rows.ts";

/** What is computed from a column before any transform: its points, or one aggregate per window. */
export interface BaseCall {
  /** Null: the column's points, unaggregated. */
  readonly call: PlannedCall | null;
  readonly column: PlannedColumn;
}

export interface BaseRequest {
  readonly bases: readonly BaseCall[];
  readonly interval: Interval | null;
  readonly zone: TimeZone | null;
  /** Time of results without windows. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly ownTimes: boolean;
  readonly descending: boolean;
  /** By the rules of v3. */
  readonly isTable: boolean;
}

/** The points of one base for one group, and their source rows, where they are rows. */
export interface BasePoints {
  readonly points: Points;
  readonly rows: Int32Array | null;
}

/** Time and value of a point. */
export const POINT_BYTES = 16;

/** Approximate memory of points; texts that several columns share count once. */
export function pointsBytes(all: readonly (Points | null)[]): number {
  const dictionaries = new Set<readonly string[]>();
  let bytes = 0;
  for (const points of all) {
    if (points === null) continue;
    bytes += points.times.length * POINT_BYTES;
    if (points.type === "string") dictionaries.add(points.values.dictionary);
  }
  for (const { length } of dictionaries) bytes += length * TEXT_BYTES;
  return bytes;
}

/** Finds columns of a row set. */
export type ColumnAt = (name: string, kind: PlannedColumn["kind"]) => AnyCells | null;

/** The results of one group, one per base; null: no points. */
export function* basePoints(set: RowSet, group: number, columnAt: ColumnAt, request: BaseRequest): Steps<(BasePoints | null)[]> {
  const [from, to] = [set.starts[group]!, set.starts[group + 1]!];
  const known = new Map<string, { readonly present: PresentPoints; windows: Windows | null } | null>();
  const found: (BasePoints | null)[] = [];
  for (const { call, column } of request.bases) {
    const key = `${column.kind} ${column.name}`;
    let own = known.get(key);
    if (own === undefined) {
      const cells = columnAt(column.name, column.kind);
      own = cells === null ? null : { present: yield* presentPoints(cells, set.times, from, to), windows: null };
      known.set(key, own);
    }
    if (own === null || own.present.points.times.length === 0) found.push(null);
    else if (call === null) found.push(own.present);
    else {
      own.windows ??= yield* windowsOf(own.present.points, request);
      found.push(yield* reduceCall(call, own.present, own.windows, { columnAt, request }));
    }
  }
  return found;
}

function* windowsOf({ times }: Points, { interval, zone, descending, startNs, endNs }: BaseRequest): Steps<Windows> {
  if (interval === null) return oneWindow(times.length, { startNs, endNs });
  return yield* cutWindows(times, { intervalNs: interval.durationNs, offsetNs: interval.offsetNs, zone }, descending);
}

interface ReduceRequest {
  readonly columnAt: ColumnAt;
  readonly request: BaseRequest;
}

function* reduceCall(
  call: PlannedCall,
  present: PresentPoints,
  windows: Windows,
  { columnAt, request }: ReduceRequest,
): Steps<BasePoints | null> {
  const context: ReduceContext = {
    descending: request.descending,
    isTable: request.isTable,
    intervalNs: request.interval?.durationNs ?? null,
    keys: call.tags.length === 0 ? null : yield* tagKeys(call.tags, present.rows, { columnAt, request }),
    ownTimes: request.ownTimes,
    seed: SEED,
  };
  const inner = call.of;
  if ("args" in inner) {
    // count(distinct(x)): the number of distinct values per window
    const distinct = yield* REDUCERS.get(inner.name)!.reduce(present.points, windows, inner.args, context);
    const offsets = new Int32Array(windows.startsNs.length + 1);
    yield* inSteps(distinct.windows.length, (from, to) => {
      for (let i = from; i < to; i++) offsets[distinct.windows[i]! + 1]!++;
    });
    yield* inSteps(windows.startsNs.length, (from, to) => {
      for (let i = from; i < to; i++) offsets[i + 1]! += offsets[i]!;
    });
    const counted = yield* REDUCERS.get(call.name)!.reduce(distinct.points, { ...windows, offsets }, call.args, context);
    return counted.points.times.length === 0 ? null : { points: counted.points, rows: null };
  }
  const { points, rows } = yield* REDUCERS.get(call.name)!.reduce(present.points, windows, call.args, context);
  if (points.times.length === 0) return null;
  return { points, rows: rows === null ? null : rows.map((row) => present.rows[row]!) };
}

/** Fixed, so that repeated statements select the same rows. */
const SEED = 1;

/** Numbers the tag values of each point; in v3 those of fields too, which all points of 1.x have in common. */
function* tagKeys(tags: readonly string[], rows: Int32Array, { columnAt, request }: ReduceRequest): Steps<Uint32Array> {
  const kinds = request.isTable ? KEY_KINDS : KEY_KINDS.slice(0, 1);
  const columns: TagCells[] = [];
  for (const tag of tags) {
    const cells = kinds.map((kind) => columnAt(tag, kind)).find((found) => found !== null);
    if (cells !== undefined) columns.push(yield* takeTags(cells.type === "tag" ? cells : yield* keysOfField(cells), rows));
  }
  return columns.length === 0 ? new Uint32Array(rows.length) : (yield* groupRows(columns, rows.length)).groupOf;
}

const KEY_KINDS = ["tag", "string", "float", "integer", "unsigned", "boolean"] as const;
