// Statements that read the combinations of tags as a small table, before rows are read: which of them satisfy conditions, and which are
// one group. So DuckDB evaluates expressions over tags as it does on rows.

import { SCAN_FUNCTION } from "../../duckdb/table-function.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { EncodedColumns, GroupSource, SeriesCondition } from "../bind/kind.ts";
import { encodeName, internalName } from "../parse/names.ts";
import type { Expression, SelectNode } from "../parse/tree.ts";
import { call, integerConstant } from "../parse/tree.ts";
import { windowCall } from "../print/build-query.ts";
import { COMBINATIONS } from "../rewrite/pushdown/series-conditions.ts";
import { conjunction } from "../rewrite/walk.ts";

const NUMBER = internalName("number", 0);

export interface SeriesQuery {
  readonly tags: readonly ColumnDef[];
  /** The columns of the combinations: their number, and `tags`. */
  readonly columns: EncodedColumns;
  /** Reads the scan at place 0. */
  readonly query: SelectNode;
}

/** Null if there are no conditions. */
export function seriesQuery(conditions: readonly SeriesCondition[]): SeriesQuery | null {
  if (conditions.length === 0) return null;
  const tags = [...new Map(conditions.flatMap((condition) => condition.tags.map((tag) => [tag.id, tag] as const))).values()];
  return queryOver(tags, [NUMBER_REF], conjunction(conditions.map(({ node }) => node)));
}

/** Returns the number of each combination, and the lowest number of those with equal keys. */
export function keysQuery({ request, keys }: GroupSource): SeriesQuery | null {
  if (keys === null) return null;
  const first = windowCall("first_value", NUMBER_REF, { partitionBy: keys, orderBy: [NUMBER_REF] });
  return queryOver(request.groupBy, [NUMBER_REF, first], null);
}

const NUMBER_REF: Expression = { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [COMBINATIONS, NUMBER] };

function queryOver(tags: readonly ColumnDef[], select_list: Expression[], where_clause: Expression | null): SeriesQuery {
  const columns = [
    { name: NUMBER, type: ColumnType.integer },
    ...tags.map(({ name }) => ({ name: encodeName(name), type: ColumnType.tag })),
  ];
  const query: SelectNode = {
    type: "SELECT_NODE",
    modifiers: [],
    cte_map: { map: [] },
    select_list,
    from_table: {
      type: "TABLE_FUNCTION",
      alias: COMBINATIONS,
      sample: null,
      function: call(SCAN_FUNCTION, [integerConstant(0)]),
      column_name_alias: [],
      with_ordinality: "WITHOUT_ORDINALITY",
    },
    where_clause,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: "STANDARD_HANDLING",
    having: null,
    sample: null,
    qualify: null,
  };
  return { tags, columns, query };
}
