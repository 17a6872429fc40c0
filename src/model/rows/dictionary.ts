// The series of rows, by their tags, in the kernel's shared memory.

/** A tag column of a dictionary: u32 code per series at codesPtr (0 = absent); string views at valuesPtr, one per
 *  code (view 0 is unused). */
export interface TagColumnView {
  readonly columnId: number;
  readonly codesPtr: number;
  readonly valuesPtr: number;
  readonly valueCount: number;
  /** Values ascend by code (unsigned byte order). */
  readonly isSorted?: true;
  /** Codes never descend from a series to the next one, so that all series with a value follow each other. */
  readonly inOrder?: boolean;
}

/** The series of a run: ids 0 .. seriesCount-1. Runs with equal `id` share series ids; otherwise series are matched by their tags. */
export interface DictionaryView {
  readonly id: number;
  readonly seriesCount: number;
  readonly tags: readonly TagColumnView[];
}
