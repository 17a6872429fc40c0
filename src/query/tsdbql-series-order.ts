// Which of several series' rows of one time comes first: that of the series whose tags are less, compared one after the other in the order
// of their names, an absent one before all others. Storage gives such rows in the order of writing or of files, so without this an answer
// would depend on where its rows lie.
import { compareText } from "../tsdbql/plan-fields.ts";
import type { TagCells } from "./tsdbql-columns.ts";

/** A tag of all rows. */
export interface SeriesTag {
  readonly name: string;
  readonly cells: TagCells;
}

export class SeriesOrder {
  /** In the order of the tags' names: places of values among all of a dictionary, made when two rows differ in the tag. */
  private readonly tags: { readonly cells: TagCells; ranks: Uint32Array | null }[];
  private readonly sign: 1 | -1;

  /** @param descending the last series comes first */
  constructor(tags: readonly SeriesTag[], descending: boolean) {
    this.tags = tags.toSorted((a, b) => compareText(a.name, b.name)).map(({ cells }) => ({ cells, ranks: null }));
    this.sign = descending ? -1 : 1;
  }

  /** Below 0: row `a` comes before row `b`. */
  compare(a: number, b: number): number {
    for (const tag of this.tags) {
      const { codes, dictionary } = tag.cells;
      const [x, y] = [codes[a]!, codes[b]!];
      if (x === y) continue;
      tag.ranks ??= ranksOf(dictionary);
      // a dictionary that was put together of several may have a value twice
      const order = tag.ranks[x]! - tag.ranks[y]!;
      if (order !== 0) return order * this.sign;
    }
    return 0;
  }
}

/** Places of values among all of them; equal ones have the same. */
function ranksOf(dictionary: readonly string[]): Uint32Array {
  const order = Uint32Array.from(dictionary.keys()).sort((a, b) => compareText(dictionary[a]!, dictionary[b]!));
  const ranks = new Uint32Array(dictionary.length);
  for (let i = 1; i < order.length; i++) {
    const [previous, own] = [order[i - 1]!, order[i]!];
    ranks[own] = dictionary[own] === dictionary[previous] ? ranks[previous]! : i;
  }
  return ranks;
}
