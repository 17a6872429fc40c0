// Lists of what the series of a stream are: values of a tag, columns of their keys.
import type { SeriesQuestion } from "../../interpret/flux-source.ts";
import type { StreamNode, Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { asInput, type TableBody } from "../operator.ts";
import { PushedNode } from "../universe/pushed.ts";
import { ordered } from "./label-list.ts";
import { reducedOr } from "./reduced.ts";

interface Listing {
  readonly textsOf: (table: FluxTable) => Iterable<string>;
  /** They come before the others. */
  readonly first: readonly string[];
}

/** What `textsOf` gives for the tables, each once and in order. */
function* listing(input: Tables, { textsOf, first }: Listing): Tables {
  const found = new Set<string>();
  for (const table of input) {
    yield null;
    if (table !== null) for (const text of textsOf(table)) found.add(text);
  }
  yield ordered(found, first);
}

/** A list from what the source knows of its series, or from one row of each, or from all rows. */
export function described(input: StreamNode, question: SeriesQuestion, list: Listing): TableBody {
  return function* (tables, run): Tables {
    const { describe, reduce } = input instanceof PushedNode ? input : { describe: null, reduce: null };
    const answer = describe === null || !run.pushesDown ? null : yield* asInput(describe(run, question, []));
    if (answer !== null) yield ordered(answer.texts, list.first);
    else if (reduce === null) yield* listing(tables, list);
    else {
      const one = { fn: "count", runs: null, ownTimes: false } as const;
      yield* reducedOr(
        run,
        reduce,
        one,
        (reduced) => listing(reduced, list),
        () => listing(tables, list),
      );
    }
  };
}

/** The values of a tag. As recorded: where a filter tests fields, the storage looks at the series themselves instead of the index of tags,
 *  and an empty text stands for those without the tag. */
export function tagList(input: StreamNode, tag: string): TableBody {
  const withAbsent = input instanceof PushedNode && input.testsFields;
  const textsOf = (table: FluxTable) => textsOfColumn(table, tag, withAbsent);
  return described(input, { kind: "values", tag, withAbsent }, { textsOf, first: [] });
}

function* textsOfColumn(table: FluxTable, label: string, withAbsent: boolean): Generator<string> {
  const column = table.column(label);
  // one value stands for all rows
  const rows = column === undefined || column.mask === 0 ? Math.min(1, table.rowCount) : table.rowCount;
  for (let row = 0; row < rows; row++) {
    const value = column?.get(row);
    if (typeof value === "string") yield value;
    else if (withAbsent) yield "";
  }
}
