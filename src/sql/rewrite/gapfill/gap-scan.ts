// A gap-filling query over groups that the scan computes: the scan inserts the missing bins too, and DuckDB has no part in it.
import { aggregateColumns } from "../../../model/query/aggregate.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { type GapColumn, type GapContent, type GapFill, kindOfColumn } from "../../bind/kind.ts";
import type { CteMap, OutputColumn } from "../../bind/scope.ts";
import type { Expression, SelectNode, TableRef } from "../../parse/tree.ts";
import type { RewriteContext } from "../context.ts";
import { scanOf } from "../from.ts";
import { OneTable } from "../one-table.ts";
import { groupedSelect } from "../pushdown/push-aggregate.ts";

/** A column to read; `item`: index in the select list of the groups. */
export interface WantedColumn extends Omit<GapColumn, "index"> {
  readonly item: number;
}

export interface GapRequest {
  /** One row per group; the first item is the bin. */
  readonly grouped: SelectNode;
  readonly alias: string;
  readonly bins: Omit<GapFill, "columns">;
  /** Of the bin's type. */
  readonly zone: string | undefined;
  readonly columns: readonly WantedColumn[];
}

/** Registers a scan and returns the reference to it; null if the scan cannot compute the groups, or their values need DuckDB. */
export function gapScan(request: GapRequest, context: RewriteContext, ctes: CteMap): TableRef | null {
  const { grouped, alias, bins, zone } = request;
  const table = OneTable.of(grouped, context, null, ctes);
  const groups = table === null ? null : groupedSelect(table);
  if (table === null || groups === null) return null;
  const { source, clauses } = groups;
  const { bins: found, values } = source.request;
  const isUniform = found !== null && found.widthNs === bins.widthNs && (bins.firstNs - found.originNs) % found.widthNs === 0n;
  if (!isUniform || clauses.where_clause !== null || source.keys !== null || values !== undefined) return null;
  const places = clauses.select_list.map((item) => source.columnNames.indexOf(columnOf(item)));
  const columns = request.columns.map(({ name, item, content }): GapColumn => ({ name, index: places[item] ?? -1, content }));
  const types = aggregateColumns(source.request);
  if (!columns.every(({ index, content }) => canShow(types[index], content))) return null;
  const scan = context.tables.groups(table.name, { ...source, gaps: { ...bins, columns } });
  if (scan === null) return null;
  const ref = scanOf(scan, alias, table.from);
  const outputs = columns.map(({ name, index, content }, place): OutputColumn => {
    const type = types[index]!;
    const ofZone = content === "bin" && zone !== undefined ? { zone } : {};
    const ofType = type === ColumnType.unsigned ? { arrow: "UInt64" } : {};
    return { name, kind: kindOfColumn(type), ...(content === "key" ? { source: { scan, index: place } } : {}), ...ofZone, ...ofType };
  });
  context.sources.set(ref, { ref, relations: [{ alias, columns: outputs }], narrowable: new Map() });
  return ref;
}

/** The name of a plain column, or of a bin whose type has a zone. */
function columnOf(item: Expression): string {
  if (item.class === "FUNCTION" && item.function_name === "tz" && !item.is_operator) return columnOf(item.children[0]!);
  return item.class === "COLUMN_REF" ? item.column_names.at(-1)! : "";
}

const NUMBERS: ReadonlySet<ColumnType> = new Set([ColumnType.float, ColumnType.integer, ColumnType.unsigned]);
const FIXED: ReadonlySet<ColumnType> = new Set([...NUMBERS, ColumnType.time, ColumnType.boolean]);

/** Whether the scan can show a column; `type` undefined: there is none. Errors about types are the engine's. */
function canShow(type: ColumnType | undefined, content: GapContent): boolean {
  if (type === undefined) return false;
  if (content === "key") return type === ColumnType.tag;
  return content === "interpolate" ? NUMBERS.has(type) : FIXED.has(type);
}
