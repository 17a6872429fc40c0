// Rows in order of series and time as the series of a script: one for each field with values.
import type { SourceRows, SourceSeries } from "../../flux/interpret/flux-source.ts";
import { type ColumnCells, FluxColumn } from "../../flux/tables/column.ts";
import type { FluxColumnType } from "../../flux/values/column-type.ts";
import { compareTexts, comparisonFor } from "../../model/rows/text-order.ts";
import { isPause, type Steps } from "../../model/steps.ts";
import type { Cells } from "../../tsdbql/functions/operator.ts";
import { isValid } from "../../tsdbql/functions/validity.ts";
import type { FieldType } from "../../tsdbql/parse/ast.ts";

const TYPES: Readonly<Record<FieldType, FluxColumnType>> = {
  float: "float",
  integer: "int",
  unsigned: "uint",
  string: "string",
  boolean: "bool",
};

export interface FieldCells {
  readonly cells: Cells;
  readonly times: BigInt64Array;
  /** Of partial means. */
  readonly counts: BigInt64Array | null;
}

export interface GroupedFields {
  /** Of each series: the values of its tags, "" for absent. Series may have no rows. */
  readonly groups: readonly (readonly string[])[];
  /** Series i has the rows starts[i] .. ends[i] - 1; without `ends` up to the next one's. */
  readonly starts: Uint32Array;
  readonly ends?: Uint32Array;
  /** In the order of the fields; null: no row has a value. */
  readonly columns: readonly (FieldCells | null)[];
}

/** All rows of a measurement, in order of series and time. */
export interface GroupedRows extends GroupedFields {
  /** Ordered by name. */
  readonly tags: readonly string[];
  readonly fields: readonly (readonly [string, FieldType])[];
  readonly times: BigInt64Array;
}

interface GroupTags {
  readonly group: number;
  readonly tags: readonly (readonly [string, string])[];
}

/** In the order of their keys. */
function groupsInOrder(tagNames: readonly string[], { groups }: GroupedFields): GroupTags[] {
  const found = groups.map((values, group) => {
    const tags: (readonly [string, string])[] = [];
    let key = "";
    for (const [i, name] of tagNames.entries()) {
      const value = values[i]!;
      if (value === "") continue;
      key += `${key === "" ? "" : ","}${name}=${value}`;
      tags.push([name, value]);
    }
    return { group, tags, key };
  });
  const compare = comparisonFor(found.map(({ key }) => key));
  return found.sort((a, b) => compare(a.key, b.key));
}

function fieldOrder(fields: readonly (readonly [string, FieldType])[]): number[] {
  return [...fields.keys()].sort((a, b) => compareTexts(fields[a]![0], fields[b]![0]));
}

/** Series with their fields side by side, in the order of their keys. */
export function* rowsOf(
  measurement: string,
  tagNames: readonly string[],
  fields: readonly (readonly [string, FieldType])[],
  set: GroupedRows,
): Steps<SourceRows[]> {
  const order = fieldOrder(fields);
  const found: SourceRows[] = [];
  for (const { group, tags } of groupsInOrder(tagNames, set)) {
    const from = set.starts[group]!;
    const to = set.starts[group + 1]!;
    const present: { readonly field: number; readonly cells: Cells; readonly rows: Uint32Array | null }[] = [];
    for (const field of order) {
      const column = set.columns[field] ?? null;
      const rows = column === null ? null : yield* presentRows(column.cells, from, to);
      if (column !== null && rows?.length !== 0) present.push({ field, cells: column.cells, rows });
    }
    if (present.length === 0) continue;
    const rows = yield* firstPresent(present, from, to);
    const own = (all: ColumnCells) => (rows === null ? part(all, from, to) : taken(all, rows));
    const made: SourceRows["fields"][number][] = [];
    for (const { field, cells, rows: some } of present) {
      const [name, type] = fields[field]!;
      const valid = some === null ? null : yield* validOf(cells, rows, from, to);
      made.push({ name, type: TYPES[type], values: yield* valuesOf(cells, rows, from, to), valid });
    }
    found.push({ measurement, tags, timesNs: own(set.times) as BigInt64Array, fields: made });
  }
  return found;
}

/** Numbers of the rows by their first field with a value; null: all have the first. */
function* firstPresent(fields: readonly { readonly rows: Uint32Array | null }[], from: number, to: number): Steps<Uint32Array | null> {
  if (fields[0]!.rows === null) return null;
  const ordered = new Uint32Array(to - from);
  const isTaken = new Uint8Array(to - from);
  let count = 0;
  for (const { rows } of fields) {
    for (let i = 0; i < (rows?.length ?? to - from) && count < ordered.length; i++) {
      if (isPause(i)) yield;
      const row = rows === null ? from + i : rows[i]!;
      if (isTaken[row - from] === 1) continue;
      isTaken[row - from] = 1;
      ordered[count++] = row;
    }
  }
  return ordered.subarray(0, count);
}

function* validOf({ validity }: Cells, rows: Uint32Array | null, from: number, to: number): Steps<Uint8Array> {
  const valid = new Uint8Array(rows?.length ?? to - from);
  for (let i = 0; i < valid.length; i++) {
    if (isPause(i)) yield;
    valid[i] = isValid(validity, rows === null ? from + i : rows[i]!) ? 1 : 0;
  }
  return valid;
}

/** In the order of their keys. */
export function* seriesOf(
  measurement: string,
  tagNames: readonly string[],
  fields: readonly (readonly [string, FieldType])[],
  set: GroupedFields,
): Steps<SourceSeries[]> {
  const order = fieldOrder(fields);
  const series: SourceSeries[] = [];
  for (const { group, tags } of groupsInOrder(tagNames, set)) {
    const from = set.starts[group]!;
    const to = set.ends?.[group] ?? set.starts[group + 1]!;
    if (from === to) continue;
    for (const i of order) {
      const column = set.columns[i] ?? null;
      if (column === null) continue;
      const { cells, times, counts } = column;
      const present = yield* presentRows(cells, from, to);
      if (present !== null && present.length === 0) continue;
      const [field, type] = fields[i]!;
      const own = (all: ColumnCells) => (present === null ? part(all, from, to) : taken(all, present));
      const timesNs = own(times) as BigInt64Array;
      const values = yield* valuesOf(cells, present, from, to);
      const withCounts = counts === null ? {} : { counts: own(counts) as BigInt64Array };
      series.push({ measurement, field, tags, type: TYPES[type], timesNs, values, ...withCounts });
    }
  }
  return series;
}

/** Numbers of the rows with a value; null: all. */
function* presentRows({ validity }: Cells, from: number, to: number): Steps<Uint32Array | null> {
  if (validity === null) return null;
  const rows = new Uint32Array(to - from);
  let count = 0;
  for (let row = from; row < to; row++) {
    if (isPause(row)) yield;
    if (isValid(validity, row)) rows[count++] = row;
  }
  return count === rows.length ? null : rows.subarray(0, count);
}

/** Texts are written out: scripts have them as strings. */
function* valuesOf(cells: Cells, rows: Uint32Array | null, from: number, to: number): Steps<ColumnCells> {
  if (cells.type !== "string") return rows === null ? part(cells.values, from, to) : taken(cells.values, rows);
  if (rows === null) return yield* cells.values.subarray(from, to).toArray();
  return yield* (yield* cells.values.take(new Int32Array(rows.buffer, rows.byteOffset, rows.length))).toArray();
}

function part(cells: ColumnCells, from: number, to: number): ColumnCells {
  return Array.isArray(cells) ? cells.slice(from, to) : cells.subarray(from, to);
}

function taken(cells: ColumnCells, rows: Uint32Array): ColumnCells {
  return new FluxColumn("", "int", cells, null, cells.length).take(rows).cells;
}
