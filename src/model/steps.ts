// Long work cut into steps, so that whoever drives it may give others their turn in between, and stop it.

/** Work that pauses wherever it yields: after some tenths of a millisecond, as a rule. */
export type Steps<T> = Generator<void, T, void>;

/** Rows, or other small things, that a step looks at. */
export const STEP_ROWS = 8192;

/** All of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Calls `body` with [from, to) until all of `count` are done. */
export function* inSteps(count: number, body: (from: number, to: number) => void): Steps<void> {
  for (let from = 0; from < count; from += STEP_ROWS) {
    body(from, Math.min(count, from + STEP_ROWS));
    yield;
  }
}

/** Sorts numbers of rows in place; equal ones stay as they lie. */
export function* sortInSteps(rows: Uint32Array, compare: (a: number, b: number) => number): Steps<void> {
  const RUN = 512;
  for (let from = 0; from < rows.length; from += RUN) {
    rows.subarray(from, from + RUN).sort((a, b) => compare(a, b));
    yield;
  }
  let source = rows;
  let target = rows.length > RUN ? new Uint32Array(rows.length) : rows;
  for (let width = RUN; width < rows.length; width *= 2) {
    for (let from = 0; from < rows.length; from += 2 * width) {
      yield* merge(
        source,
        target,
        { from, middle: Math.min(rows.length, from + width), end: Math.min(rows.length, from + 2 * width) },
        compare,
      );
    }
    [source, target] = [target, source];
  }
  if (source !== rows) rows.set(source);
}

interface Halves {
  readonly from: number;
  readonly middle: number;
  readonly end: number;
}

/** Two sorted halves of `source` as one of `target`. */
export function* merge(
  source: Uint32Array,
  target: Uint32Array,
  { from, middle, end }: Halves,
  compare: (a: number, b: number) => number,
): Steps<void> {
  let [left, right] = [from, middle];
  for (let at = from; at < end; ) {
    const stop = Math.min(end, at + STEP_ROWS);
    for (; at < stop; at++) {
      const isLeft = right >= end || (left < middle && compare(source[left]!, source[right]!) <= 0);
      target[at] = isLeft ? source[left++]! : source[right++]!;
    }
    yield;
  }
}
