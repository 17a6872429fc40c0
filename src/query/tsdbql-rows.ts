// The rows that a SELECT reads of one measurement, in groups and in order of time: the columns it needs, by name and type.
import { type ColumnDef, ColumnType } from "../model/column.ts";
import type { FieldPredicate, TimeRange } from "../model/scan.ts";
import type { Steps } from "../model/steps.ts";
import type { Expression } from "../tsdbql/ast.ts";
import type { PlannedColumn } from "../tsdbql/plan-select.ts";
import { kindOf } from "../tsdbql/plan-types.ts";
import { castCells, emptyCells, tagsOf, takeCells } from "./tsdbql-cells.ts";
import { type AnyCells, type GrowingColumn, growingColumn, type NumberColumn, type TagCells } from "./tsdbql-columns.ts";
import { compileCondition, type FindColumn } from "./tsdbql-condition.ts";
import { takeTimes } from "./tsdbql-kernel.ts";
import type { StatementMemory } from "./tsdbql-memory.ts";
import { groupRows, orderRows } from "./tsdbql-order.ts";
import { SeriesOfRows } from "./tsdbql-series-order.ts";
import type { MeasurementTable, ScanPredicates } from "./tsdbql-table.ts";
import type { Turns } from "./tsdbql-turns.ts";

export interface RowsRequest {
  readonly columns: readonly PlannedColumn[];
  /** In order of their names. */
  readonly groupBy: readonly string[];
  readonly range: TimeRange;
  readonly descending: boolean;
  /** Rows of one time and group come in the order of their series; false: in any. */
  readonly bySeries: boolean;
  /** Of every series its newest row alone is wanted; older ones may come too. */
  readonly newestOnly?: boolean;
  /** What wanted rows satisfy beside the condition. */
  readonly also?: readonly FieldPredicate[];
}

export interface RowSet {
  /** Values of the tags that are grouped by; groups are in order of them. */
  readonly groups: readonly (readonly string[])[];
  /** The rows of group i are starts[i] to, exclusively, starts[i + 1]. */
  readonly starts: Uint32Array;
  readonly times: BigInt64Array;
  /** One for each wanted column; null: it has no value anywhere. */
  readonly columns: readonly (AnyCells | null)[];
  readonly bytes: number;
  /** Numbers of those that are wanted; null: all, and there are no others. */
  readonly shown: readonly number[] | null;
}

/** Rows as they came, before they are put in order. */
export interface LooseRows {
  readonly times: BigInt64Array;
  readonly tags: readonly TagCells[];
  /** Places of the rows' series among all of them; null where there is one series a group, or their order does not matter. */
  readonly series: Uint32Array | null;
  readonly columns: readonly (AnyCells | null)[];
  readonly bytes: number;
  /** They stay in the order in which they came. */
  readonly keepsOrder?: boolean;
}

/** More rows came than were wanted at a time. */
export const TOO_MANY = Symbol("too many rows");

export interface RowReader {
  readonly turns: Turns;
  readonly memory: StatementMemory;
  /** Rows at most; beyond it the answer is TOO_MANY. */
  readonly rowsMax?: number;
}

/** Rows of a table that satisfy a condition. @throws TsdbError query_limit, cancelled */
export async function readRows(
  table: MeasurementTable,
  request: RowsRequest,
  predicates: ScanPredicates,
  condition: readonly Expression[],
  { turns, memory, rowsMax = Number.POSITIVE_INFINITY }: RowReader,
): Promise<LooseRows | typeof TOO_MANY> {
  const reading = new Reading(table, condition);
  const wanted = request.columns.map((column) => reading.place(column.name));
  const keys = request.groupBy.map((name) => reading.place(name));
  const leftTags = predicates.leftTags.map((test) => ({ test, place: reading.place(test.tag)! }));
  const others = request.bySeries ? table.tagColumns.filter(({ name }) => !request.groupBy.includes(name)) : [];
  const times = reading.time();
  using series = others.length === 0 ? null : new SeriesOfRows(table.kernel, others);
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
  const rows = reading.rowsOf(leftTags, condition);
  const rowCount = rows?.length ?? reading.rowCount;
  const take = (place: number | null) => (place === null ? null : reading.columns[place]!.take(rows, rowCount));
  return {
    times: takeTimes((reading.columns[times] as NumberColumn).view() as BigInt64Array, rows),
    tags: keys.map((place) => tagCells(take(place), rowCount)),
    series: series === null ? null : await turns.run(series.places(rows)),
    columns: request.columns.map(({ kind }, i) => {
      const cells = take(wanted[i]!);
      if (kind === "tag" && cells?.type !== "tag") return null;
      return cells === null ? null : castCells(cells, kind);
    }),
    bytes: reading.bytes + (series?.bytes ?? 0),
  };
}

/** What is no tag is absent everywhere. */
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
    for (const each of condition) this.placeRefs(each);
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

  /** Rows that satisfy what the scan could not judge; null: all do. */
  rowsOf(
    leftTags: readonly { readonly test: { accepts(value: string): boolean }; readonly place: number }[],
    condition: readonly Expression[],
  ): Uint32Array | null {
    if (leftTags.length === 0 && condition.length === 0) return null;
    const { rowCount } = this;
    const known = new Map<number, AnyCells>();
    const cellsAt = (place: number) => {
      let cells = known.get(place);
      if (cells === undefined) {
        cells = this.columns[place]!.take(null, rowCount);
        known.set(place, cells);
      }
      return cells;
    };
    const find: FindColumn = (ref) => {
      const kind = kindOf(ref, [this.table.schema]);
      const place = this.place(ref.name);
      const cells = place === null ? null : castCells(cellsAt(place), kind);
      return { kind, cells };
    };
    const tests = [
      ...leftTags.map(({ test, place }) => {
        const { codes, dictionary } = cellsAt(place) as TagCells;
        const accepted = dictionary.map((value) => test.accepts(value));
        return (row: number) => accepted[codes[row]!]!;
      }),
      ...condition.map((each) => compileCondition(each, find)),
    ];
    const rows = new Uint32Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) if (tests.every((test) => test(row))) rows[count++] = row;
    return rows.subarray(0, count);
  }

  private placeRefs(expression: Expression): void {
    if (expression.kind === "ref") this.place(expression.name);
    else if (expression.kind === "paren") this.placeRefs(expression.inner);
    else if (expression.kind === "call") for (const arg of expression.args) this.placeRefs(arg);
    else if (expression.kind === "binary") {
      this.placeRefs(expression.left);
      this.placeRefs(expression.right);
    }
  }

  private placeOf(column: ColumnDef): number {
    const known = this.defs.indexOf(column);
    if (known >= 0) return known;
    this.columns.push(growingColumn(this.table.kernel, column.type));
    return this.defs.push(column) - 1;
  }
}

/** Rows of several sources of one name, as one. */
export function concatRows(parts: readonly LooseRows[]): LooseRows {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const counts = parts.map(({ times }) => times.length);
  const times = new BigInt64Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const part of parts) {
    times.set(part.times, at);
    at += part.times.length;
  }
  return {
    times,
    tags: (first?.tags ?? []).map(
      (_, i) =>
        concatCells(
          parts.map(({ tags }) => tags[i]!),
          counts,
        ) as TagCells,
    ),
    series: concatSeries(parts, counts),
    columns: (first?.columns ?? []).map((_, i) =>
      concatCells(
        parts.map(({ columns }) => columns[i]!),
        counts,
      ),
    ),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    keepsOrder: parts.length === 1 && parts.every(({ keepsOrder = false }) => keepsOrder),
  };
}

/** Rows of the first source come first. */
function concatSeries(parts: readonly LooseRows[], counts: readonly number[]): Uint32Array | null {
  if (parts.every(({ series }) => series === null)) return null;
  const joined = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
  let [at, least] = [0, 0];
  parts.forEach(({ series }, i) => {
    const count = counts[i]!;
    let most = least;
    for (let row = 0; row < count; row++) {
      const place = least + (series?.[row] ?? 0);
      joined[at + row] = place;
      if (place > most) most = place;
    }
    at += count;
    least = most + 1;
  });
  return joined;
}

/** Columns of one type, some of which have no value at all. */
export function concatCells(parts: readonly (AnyCells | null)[], counts: readonly number[]): AnyCells | null {
  const present = parts.find((cells) => cells !== null);
  if (present === undefined) return null;
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (present.type === "tag") {
    const texts = parts.flatMap((cells, i) =>
      cells === null
        ? new Array<string>(counts[i]!).fill("")
        : Array.from((cells as TagCells).codes, (code) => (cells as TagCells).dictionary[code]!),
    );
    return tagsOf({ type: "string", values: texts, validity: null });
  }
  const target = emptyCells(present.type, total);
  const validity = target.validity!;
  let at = 0;
  parts.forEach((cells, i) => {
    const count = counts[i]!;
    if (cells !== null && cells.type !== "tag") {
      for (let row = 0; row < count; row++) {
        if (cells.validity !== null && ((cells.validity[row >> 3]! >> (row & 7)) & 1) === 0) continue;
        (target.values as (number | bigint | string)[])[at + row] = cells.values[row]!;
        validity[(at + row) >> 3] = validity[(at + row) >> 3]! | (1 << ((at + row) & 7));
      }
    }
    at += count;
  });
  return target;
}

/** Rows put in order. */
export function* orderedRows(loose: LooseRows, descending: boolean): Steps<RowSet> {
  const rowCount = loose.times.length;
  const groups = yield* groupRows(loose.tags, rowCount);
  const { rows, starts } = loose.keepsOrder
    ? yield* orderRows(groups, new BigInt64Array(rowCount), false, null)
    : yield* orderRows(groups, loose.times, descending, loose.series);
  if (rows === null) return { groups: groups.tags, starts, times: loose.times, columns: loose.columns, bytes: loose.bytes, shown: null };
  const taken = new Int32Array(rows.buffer, rows.byteOffset, rows.length);
  return {
    groups: groups.tags,
    starts,
    times: takeTimes(loose.times, rows),
    columns: loose.columns.map((cells) => (cells === null ? null : takeCells(cells, taken))),
    bytes: loose.bytes,
    shown: null,
  };
}
