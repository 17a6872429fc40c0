// How much of a range has the first or the latest rows of each of some groups, whose rows are counted in equal windows of it.

/** Windows of a range. */
export const END_WINDOWS = 64;

/** Rows of a group in each window. */
export interface WindowedRows {
  /** At most so many: where it is not 0 there may be rows. */
  readonly most: Float64Array;
  /** At least so many. */
  readonly least: Float64Array;
}

/** So many windows at that end have `count` rows of each group, or all that a group has. */
export function endWindows(
  groups: readonly WindowedRows[],
  { count, isLatest }: { readonly count: number; readonly isLatest: boolean },
): number {
  let reach = 1;
  for (const { most, least } of groups) {
    let left = count;
    for (let step = 0; step < END_WINDOWS && left > 0; step++) {
      const window = isLatest ? END_WINDOWS - 1 - step : step;
      left -= least[window]!;
      if (most[window]! > 0 && step >= reach) reach = step + 1;
    }
  }
  return reach;
}
