// Groups as the storage of the reference makes them.
import { compareTexts } from "../../model/rows/text-order.ts";
import type { FluxColumn } from "../tables/column.ts";
import type { Tables } from "../tables/stream.ts";
import { type FluxTable, GroupKey, type KeyColumn } from "../tables/table.ts";
import { SourceError } from "../values/flux-error.ts";
import { CollisionError, TableMerge } from "./merge-tables.ts";
import { sortSeries } from "./series-sort.ts";

const STORED_TYPES: Readonly<Record<string, string>> = { bool: "boolean", int: "integer", uint: "unsigned" };

function storedCollision(_: string, first: string, second: string): CollisionError {
  const [known, other] = [first, second].map((type) => STORED_TYPES[type] ?? type);
  return new CollisionError(`schema collision: cannot group ${known} and ${other} types together`);
}

const BOUNDS: readonly string[] = ["_start", "_stop"];

/** The groups of the storage: all named columns are in the key, in their order, and the tags of all series of a group in theirs. */
export function* storedGroups(tables: Tables, names: readonly string[]): Tables {
  const named = names.filter((label) => !BOUNDS.includes(label));
  const merge = new TableMerge(storedCollision);
  const failed = new Map<string, CollisionError>();
  const series: { readonly key: GroupKey; readonly table: FluxTable }[] = [];
  for (const table of tables) {
    yield null;
    if (table === null) continue;
    const bounds = BOUNDS.flatMap((label) => table.key.get(label) ?? []);
    // an absent tag is the empty text, and no column
    const absent = (label: string): KeyColumn => ({ label, type: "string", value: "" });
    series.push({ key: new GroupKey([...bounds, ...named.map((label) => table.key.get(label) ?? absent(label))]), table });
  }
  sortSeries(series, (a, b) => compareStored(a.key, b.key, named) < 0);
  series.reverse();
  // merged rows are copies: what they were copied from is let go
  for (let each = series.pop(); each !== undefined; each = series.pop()) {
    const { key, table } = each;
    yield null;
    try {
      if (!failed.has(key.text)) {
        merge.append(key, table);
        continue;
      }
    } catch (error) {
      if (!(error instanceof CollisionError)) throw error;
      failed.set(key.text, error);
    }
    // the tags of all series are known when rows are read
    const builder = merge.builder(key);
    for (const column of table.columns) if (isTag(column)) builder.column(column.label, column.type);
    builder.fill();
  }
  for (const table of [...merge.tables()].sort((a, b) => compareStored(a!.key, b!.key, named))) {
    yield withSortedTags(table!);
    const error = failed.get(table!.key.text);
    // what came before stays, and the reader gets the error
    if (error !== undefined) throw new SourceError(error.message);
  }
}

/** Absent tags come last. */
function compareStored(a: GroupKey, b: GroupKey, named: readonly string[]): number {
  for (const label of named) {
    const [left, right] = [a, b].map((key) => key.get(label)!.value as string);
    if (left === right) continue;
    return left === "" ? 1 : right === "" ? -1 : compareTexts(left!, right!);
  }
  return 0;
}

function withSortedTags(table: FluxTable): FluxTable {
  const tags = table.columns.filter(isTag);
  if (tags.every(({ label }, i) => i === 0 || tags[i - 1]!.label <= label)) return table;
  const others = table.columns.filter((column) => !isTag(column));
  return table.with([...others, ...tags.sort((a, b) => (a.label < b.label ? -1 : 1))]);
}

function isTag({ label, type }: FluxColumn): boolean {
  return type === "string" && !OF_EACH_ROW.includes(label) && !BOUNDS.includes(label);
}

/** Columns of rows that are no tags. */
const OF_EACH_ROW: readonly string[] = ["_time", "_value"];
