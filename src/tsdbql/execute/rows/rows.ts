// Reads the rows of one measurement for a SELECT, grouped and ordered by time: the needed columns by name and type.

import type { FieldPredicate, TimeRange } from "../../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { isPause, StepCounter, type Steps } from "../../../model/steps.ts";
import type { Turns } from "../../../model/turns.ts";
import { cellsOf } from "../../functions/columns.ts";
import { Texts, TextsBuilder } from "../../functions/texts.ts";
import type { Expression } from "../../parse/ast.ts";
import { refsOf } from "../../parse/refs.ts";
import type { PlannedColumn } from "../../plan/select.ts";
import { type ColumnKind, kindOf } from "../../plan/types.ts";
import type { TagTest } from "../../plan/where.ts";
import type { StatementMemory } from "../memory.ts";
import { castCells, emptyCells, tagsOf, takeCells, takeTimes } from "./cells.ts";
import { type AnyCells, type GrowingColumn, growingColumn, type NumberColumn, type TagCells } from "./columns.ts";
import { type ConditionColumn, type FindColumn, refKey, rowsOfTag, rowsWhere } from "./condition.ts";
import { keysOfField } from "./field-keys.ts";
import { groupRows, orderRows } from "./order.ts";
import { RowSeries } from "./row-series.ts";
import { placesOfSeries } from "./series-order.ts";
import type { MeasurementTable, ScanPredicates } from "./table.ts";

export interface RowsRequest {
  readonly columns: readonly PlannedColumn[];
  /** Ordered by name. */
  readonly groupBy: readonly string[];
  readonly range: TimeRange;
  readonly descending: boolean;
  /** True: rows of equal time and group are ordered by series; false: in any order. */
  readonly bySeries: boolean;
  /** True: series are ordered by the tags among `columns` first, then by the others; absent: by all tags in name order. */
  readonly byColumnsFirst?: boolean;
  /** Only the newest row of every series is wanted; older ones may be returned too. */
  readonly newestOnly?: boolean;
  /** Conditions on wanted rows in addition to the statement's. */
  readonly also?: readonly FieldPredicate[];
}

export interface RowSet {
  /** Values of the grouping tags; groups are sorted by them. */
  readonly groups: readonly (readonly string[])[];
  /** Group i has the rows starts[i] .. starts[i + 1] - 1. */
  readonly starts: Uint32Array;
  readonly times: BigInt64Array;
  /** One per wanted column; null: no row has a value. */
  readonly columns: readonly (AnyCells | null)[];
  readonly bytes: number;
  /** Row numbers of the wanted rows; null: all. */
  readonly shown: readonly number[] | null;
}

/** Rows in their original order, before sorting. */
export interface LooseRows {
  readonly times: BigInt64Array;
  readonly tags: readonly TagCells[];
  /** Position of each row's series among all series; null if each group has one series, or the order does not matter. */
  readonly series: Uint32Array | null;
  readonly columns: readonly (AnyCells | null)[];
  readonly bytes: number;
  /** Rows must keep their order. */
  readonly keepsOrder?: boolean;
}

/** There were more rows than the limit. */
export const TOO_MANY = Symbol("too many rows");

export interface RowReader {
  readonly turns: Turns;
  readonly memory: StatementMemory;
  /** In v3 a field groups rows by its values; in 1.x it is a tag that no row has. Default: false. */
  readonly groupsByFields?: boolean;
  /** Maximum rows; beyond it the result is TOO_MANY. */
  readonly rowsMax?: number;
}

/** Reads the rows of a table that satisfy a condition. @throws TsdbError query_limit, cancelled */
export async function readRows(
  table: MeasurementTable,
  request: RowsRequest,
  predicates: ScanPredicates,
  condition: readonly Expression[],
  { turns, memory, groupsByFields = false, rowsMax = Number.POSITIVE_INFINITY }: RowReader,
): Promise<LooseRows | typeof TOO_MANY> {
  const reading = new Reading(table, condition);
  const wanted = request.columns.map((column) => reading.place(column.name));
  const keys = request.groupBy.map((name) => reading.place(name));
  const leftTags = predicates.leftTags.map((test) => ({ test, place: reading.place(test.tag)! }));
  const others = request.bySeries ? seriesTags(table, request) : [];
  const times = reading.time();
  using series = others.length === 0 ? null : new RowSeries(table.kernel, others);
  if (!predicates.isEmpty && request.range.minNs <= request.range.maxNs) {
    const { range, newestOnly = false, also = [] } = request;
    const fields = [...predicates.fields, ...also];
    const cursor = table.scan.open({
      columns: reading.defs,
      range,
      tags: predicates.tags,
      fields,
      newestOnly,
      withSeries: series !== null,
    });
    try {
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
        reading.append(chunk.columns, chunk.rowCount);
        if (chunk.series !== undefined) series?.append(chunk.series, chunk.rowCount);
        if (reading.rowCount > rowsMax) return TOO_MANY;
        memory.check((reading.bytes + (series?.bytes ?? 0)) * 2);
        const pause = turns.pause();
        if (pause !== null) await pause;
      }
    } finally {
      cursor.close();
    }
  }
  const rows = await turns.run(reading.rowsOf(leftTags, condition));
  return await turns.run(
    (function* (): Steps<LooseRows> {
      const rowCount = rows?.length ?? reading.rowCount;
      const tags: TagCells[] = [];
      for (const place of keys) {
        const cells = place === null ? null : yield* reading.columns[place]!.take(rows, rowCount);
        const isKey = groupsByFields && cells !== null && cells.type !== "tag";
        tags.push(isKey ? yield* keysOfField(cells) : tagCells(cells, rowCount));
      }
      const columns: (AnyCells | null)[] = [];
      for (const [i, { kind }] of request.columns.entries()) columns.push(yield* reading.taken(wanted[i]!, rows, kind));
      return {
        times: yield* takeTimes((reading.columns[times] as NumberColumn).view() as BigInt64Array, rows),
        tags,
        series: series === null ? null : yield* placesOfSeries(series, rows),
        columns,
        bytes: reading.bytes + (series?.bytes ?? 0),
      };
    })(),
  );
}

/** Tags that distinguish series of one group: by name, displayed ones first if requested. */
function seriesTags({ tagColumns }: MeasurementTable, { columns, groupBy, byColumnsFirst = false }: RowsRequest): ColumnDef[] {
  const isFirst = ({ name }: ColumnDef) => byColumnsFirst && columns.some((column) => column.name === name);
  const sorted = tagColumns.filter(({ name }) => !groupBy.includes(name)).sort((a, b) => compareTexts(a.name, b.name));
  return [...sorted.filter(isFirst), ...sorted.filter((tag) => !isFirst(tag))];
}

/** A column that is no tag counts as absent. */
function tagCells(cells: AnyCells | null, rowCount: number): TagCells {
  return cells?.type === "tag" ? cells : { type: "tag", codes: new Uint32Array(rowCount), dictionary: [""] };
}

class Reading {
  readonly defs: ColumnDef[] = [];
  readonly columns: GrowingColumn[] = [];
  rowCount = 0;

  constructor(
    private readonly table: MeasurementTable,
    condition: readonly Expression[],
  ) {
    for (const ref of condition.flatMap(refsOf)) this.place(ref.name);
  }

  get bytes(): number {
    return this.columns.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  time(): number {
    return this.placeOf(this.table.timeColumn);
  }

  /** Null: the measurement has no such column. */
  place(name: string): number | null {
    const column = this.table.column(name);
    return column === undefined || column.type === ColumnType.time ? null : this.placeOf(column);
  }

  append(columns: readonly Parameters<GrowingColumn["append"]>[0][], rowCount: number): void {
    for (let i = 0; i < this.columns.length; i++) this.columns[i]!.append(columns[i]!, rowCount);
    this.rowCount += rowCount;
  }

  /** A column as a type; null: no row has a value. */
  *taken(place: number | null, rows: Uint32Array | null, kind: ColumnKind): Steps<AnyCells | null> {
    if (place === null) return null;
    const cells = yield* this.columns[place]!.take(rows, rows?.length ?? this.rowCount);
    return kind === "tag" && cells.type !== "tag" ? null : yield* castCells(cells, kind);
  }

  /** Rows that satisfy the conditions that the scan could not evaluate; null: all. */
  *rowsOf(
    leftTags: readonly { readonly test: TagTest; readonly place: number }[],
    condition: readonly Expression[],
  ): Steps<Uint32Array | null> {
    if (leftTags.length === 0 && condition.length === 0) return null;
    const { rowCount } = this;
    const found = new Map<string, ConditionColumn>();
    for (const ref of condition.flatMap(refsOf)) {
      const key = refKey(ref);
      if (found.has(key)) continue;
      const kind = kindOf(ref, [this.table.schema]);
      const place = this.place(ref.name);
      const all = place === null ? null : yield* this.columns[place]!.take(null, rowCount);
      found.set(key, { kind, cells: all === null ? null : yield* castCells(all, kind) });
    }
    const find: FindColumn = (ref) => found.get(refKey(ref))!;
    let rows: Uint32Array = Uint32Array.from({ length: rowCount }, (_, row) => row);
    for (const { test, place } of leftTags)
      rows = yield* rowsOfTag((yield* this.columns[place]!.take(null, rowCount)) as TagCells, test, rows);
    for (const each of condition) rows = yield* rowsWhere(each, find, rows);
    return rows;
  }

  private placeOf(column: ColumnDef): number {
    const known = this.defs.indexOf(column);
    if (known >= 0) return known;
    this.columns.push(growingColumn(this.table.kernel, column.type));
    return this.defs.push(column) - 1;
  }
}

/** Concatenates the rows of several sources with one name. */
export function* concatRows(parts: readonly LooseRows[]): Steps<LooseRows> {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const counts = parts.map(({ times }) => times.length);
  const times = new BigInt64Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const part of parts) {
    times.set(part.times, at);
    at += part.times.length;
  }
  const tags: TagCells[] = [];
  for (const i of (first?.tags ?? []).keys()) {
    const own = parts.map((part) => part.tags[i]!);
    tags.push((yield* concatCells(own, counts)) as TagCells);
  }
  const columns: (AnyCells | null)[] = [];
  for (const i of (first?.columns ?? []).keys()) {
    const own = parts.map((part) => part.columns[i]!);
    columns.push(yield* concatCells(own, counts));
  }
  return { times, tags, series: yield* concatSeries(parts, counts), columns, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Rows of the first source come first. */
function* concatSeries(parts: readonly LooseRows[], counts: readonly number[]): Steps<Uint32Array | null> {
  if (parts.every(({ series }) => series === null)) return null;
  const joined = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
  let [at, least] = [0, 0];
  for (const [i, { series }] of parts.entries()) {
    const count = counts[i]!;
    let most = least;
    for (let row = 0; row < count; row++) {
      if (isPause(row)) yield;
      const place = least + (series?.[row] ?? 0);
      joined[at + row] = place;
      if (place > most) most = place;
    }
    at += count;
    least = most + 1;
  }
  return joined;
}

/** Concatenates columns of one type, some of which may be without values. */
export function* concatCells(parts: readonly (AnyCells | null)[], counts: readonly number[]): Steps<AnyCells | null> {
  const present = parts.find((cells) => cells !== null);
  if (present === undefined) return null;
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (present.type === "tag") {
    const joined = new TextsBuilder(total);
    let at = 0;
    for (const [i, cells] of parts.entries()) {
      if (cells?.type === "tag") yield* joined.set(new Texts(cells.codes, cells.dictionary), at);
      at += counts[i]!;
    }
    return yield* tagsOf({ type: "string", values: joined.finish(), validity: null });
  }
  const target = emptyCells(present.type, total);
  const validity = target.validity!;
  const texts = new TextsBuilder(present.type === "string" ? total : 0);
  const values = present.type === "string" ? null : (target.values as Float64Array);
  let at = 0;
  for (const [i, cells] of parts.entries()) {
    const count = counts[i]!;
    const counter = new StepCounter();
    if (cells !== null && cells.type !== "tag") {
      if (cells.type === "string") yield* texts.set(cells.values, at);
      for (let row = 0; row < count; row++) {
        if (counter.isDue(1)) yield;
        if (cells.validity !== null && ((cells.validity[row >> 3]! >> (row & 7)) & 1) === 0) continue;
        if (values !== null) values[at + row] = (cells.values as Float64Array)[row]!;
        validity[(at + row) >> 3] = validity[(at + row) >> 3]! | (1 << ((at + row) & 7));
      }
    }
    at += count;
  }
  return present.type === "string" ? cellsOf("string", texts.finish(), validity) : target;
}

/** Sorts rows. */
export function* orderedRows(loose: LooseRows, descending: boolean): Steps<RowSet> {
  const rowCount = loose.times.length;
  const groups = yield* groupRows(loose.tags, rowCount);
  const { rows, starts } = loose.keepsOrder
    ? yield* orderRows(groups, new BigInt64Array(rowCount), false, null)
    : yield* orderRows(groups, loose.times, descending, loose.series);
  if (rows === null) return { groups: groups.tags, starts, times: loose.times, columns: loose.columns, bytes: loose.bytes, shown: null };
  const taken = new Int32Array(rows.buffer, rows.byteOffset, rows.length);
  const columns: (AnyCells | null)[] = [];
  for (const cells of loose.columns) columns.push(cells === null ? null : yield* takeCells(cells, taken));
  return { groups: groups.tags, starts, times: yield* takeTimes(loose.times, rows), columns, bytes: loose.bytes, shown: null };
}
