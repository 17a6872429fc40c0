// What may differ between statements of one shape, and is computed again for each of them (plan/trace.ts).

/** What a step found, of the latest statement. */
export interface Late<T> {
  /** For what is made anew for each statement, or taken in another step. */
  readonly current: T;
  /** For good. */
  look(): T;
}

/** What is the same in all statements. */
export function settled<T>(value: T): Late<T> {
  return { current: value, look: () => value };
}
