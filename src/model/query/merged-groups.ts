// Groups of an aggregation that are fewer than the combinations of their tags.
import type { DictionaryView } from "../rows/dictionary.ts";

/** Groups by combinations of which some are one group. */
export interface MergedGroups {
  readonly count: number;
  /** Address of the group (u32) of each series, 0xffffffff = none. Borrowed until the next call. @throws TsdbError overloaded */
  of(dictionary: DictionaryView): number;
  /** The tag at `index`: a code (u32) per group, 0 = absent, and a string view per code. */
  tag(index: number): { readonly codesPtr: number; readonly valuesPtr: number };
}
