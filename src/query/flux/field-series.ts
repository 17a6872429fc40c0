// Rows in order of series and time as the series of a script: one for each field with values.
import type { SourceSeries } from "../../flux/interpret/flux-source.ts";
import { type ColumnCells, FluxColumn } from "../../flux/tables/column.ts";
import type { FluxColumnType } from "../../flux/values/column-type.ts";
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
  /** Of each series: the values of its tags, "" for absent. */
  readonly groups: readonly (readonly string[])[];
  /** Series i has the rows starts[i] .. ends[i] - 1; without `ends` up to the next one's. */
  readonly starts: Uint32Array;
  readonly ends?: Uint32Array;
  /** In the order of the fields; null: no row has a value. */
  readonly columns: readonly (FieldCells | null)[];
}

/** In the order of their keys. */
export function* seriesOf(
  measurement: string,
  tagNames: readonly string[],
  fields: readonly (readonly [string, FieldType])[],
  set: GroupedFields,
): Steps<SourceSeries[]> {
  const groups = set.groups.map((values, group) => {
    const tags = tagNames.flatMap((name, i) => (values[i] === "" ? [] : [[name, values[i]!] as const]));
    return { group, tags, key: Buffer.from(tags.map(([name, value]) => `${name}=${value}`).join()) };
  });
  groups.sort((a, b) => Buffer.compare(a.key, b.key));
  const order = [...fields.keys()].sort((a, b) => compareBytes(fields[a]![0], fields[b]![0]));
  const series: SourceSeries[] = [];
  for (const { group, tags } of groups) {
    const [from, to] = [set.starts[group]!, set.ends?.[group] ?? set.starts[group + 1]!];
    for (const i of order) {
      const column = set.columns[i] ?? null;
      if (column === null) continue;
      const { cells, times, counts } = column;
      const present = yield* presentRows(cells, from, to);
      if (present !== null && present.length === 0) continue;
      const [field, type] = fields[i]!;
      const own = (all: ColumnCells) => (present === null ? part(all, from, to) : taken(all, present));
      const timesNs = own(times) as BigInt64Array;
      const values = own(cells.values as unknown as ColumnCells);
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

function part(cells: ColumnCells, from: number, to: number): ColumnCells {
  return Array.isArray(cells) ? cells.slice(from, to) : cells.subarray(from, to);
}

function taken(cells: ColumnCells, rows: Uint32Array): ColumnCells {
  return new FluxColumn("", "int", cells, null, cells.length).take(rows).cells;
}

/** By UTF-8. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
