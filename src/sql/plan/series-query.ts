// The statement that decides the conditions of a scan on tags: it reads the combinations of the tags as a small table, so that DuckDB
// evaluates them as it does on rows.

import { SCAN_FUNCTION } from "../../duckdb/table-function.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { EncodedColumns, SeriesCondition } from "../bind/kind.ts";
import { encodeName, internalName } from "../parse/names.ts";
import type { Expression, SelectNode } from "../parse/tree.ts";
import { call, integerConstant } from "../parse/tree.ts";
import { COMBINATIONS } from "../rewrite/pushdown/series-conditions.ts";
import { conjunction } from "../rewrite/walk.ts";

const NUMBER = internalName("number", 0);

export interface SeriesQuery {
  readonly tags: readonly ColumnDef[];
  /** The columns of the combinations: their number, and `tags`. */
  readonly columns: EncodedColumns;
  /** Returns the numbers of the combinations that pass. Reads the scan at place 0. */
  readonly query: SelectNode;
}

/** Null if there are no conditions. */
export function seriesQuery(conditions: readonly SeriesCondition[]): SeriesQuery | null {
  if (conditions.length === 0) return null;
  const tags = [...new Map(conditions.flatMap((condition) => condition.tags.map((tag) => [tag.id, tag] as const))).values()];
  const columns = [
    { name: NUMBER, type: ColumnType.integer },
    ...tags.map(({ name }) => ({ name: encodeName(name), type: ColumnType.tag })),
  ];
  return { tags, columns, query: selectNumbers(conditions.map(({ node }) => node)) };
}

function selectNumbers(conditions: readonly Expression[]): SelectNode {
  return {
    type: "SELECT_NODE",
    modifiers: [],
    cte_map: { map: [] },
    select_list: [{ class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [COMBINATIONS, NUMBER] }],
    from_table: {
      type: "TABLE_FUNCTION",
      alias: COMBINATIONS,
      sample: null,
      function: call(SCAN_FUNCTION, [integerConstant(0)]),
      column_name_alias: [],
      with_ordinality: "WITHOUT_ORDINALITY",
    },
    where_clause: conjunction(conditions),
    group_expressions: [],
    group_sets: [],
    aggregate_handling: "STANDARD_HANDLING",
    having: null,
    sample: null,
    qualify: null,
  };
}
