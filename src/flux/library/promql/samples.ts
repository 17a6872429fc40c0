// Rates, trends and counts of the samples of one series; null where there are too few of them.

/** Samples in their order, nulls left out. */
export type Rows = readonly { readonly value: number; readonly ns: bigint }[];

/** How often the value differs from the one before; NaN is equal to NaN. */
export function changes(rows: Rows): number | null {
  return rows.length === 0 ? null : countPairs(rows, (before, value) => value !== before && !(Number.isNaN(value) && Number.isNaN(before)));
}

/** How often a counter begins again. */
export function resets(rows: Rows): number | null {
  return rows.length === 0 ? null : countPairs(rows, (before, value) => value < before);
}

function countPairs(rows: Rows, test: (before: number, value: number) => boolean): number {
  let count = 0;
  for (let i = 1; i < rows.length; i++) if (test(rows[i - 1]!.value, rows[i]!.value)) count++;
  return count;
}

export interface ExtrapolatedRange {
  readonly start: bigint;
  readonly stop: bigint;
  readonly isCounter: boolean;
  /** Per second. */
  readonly isRate: boolean;
}

/** The growth within the range, extrapolated to bounds that are within 1.1 of the samples' distance, else by half of it. */
export function extrapolated(rows: Rows, { start, stop, isCounter, isRate }: ExtrapolatedRange): number | null {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined || rows.length < 2) return null;
  let growth = last.value - first.value;
  if (isCounter) for (let i = 1; i < rows.length; i++) if (rows[i]!.value < rows[i - 1]!.value) growth += rows[i - 1]!.value;
  const sampled = Number(last.ns - first.ns);
  const distance = sampled / (rows.length - 1);
  let before = Number(first.ns - start);
  // a counter does not begin below zero
  if (isCounter && growth > 0 && first.value >= 0) before = Math.min(before, sampled * (first.value / growth));
  const after = Number(stop - last.ns);
  const share = (gap: number) => (gap < distance * 1.1 ? gap : distance / 2);
  const whole = growth * ((sampled + share(before) + share(after)) / sampled);
  return isRate ? whole / (Number(stop - start) / 1e9) : whole;
}

/** The growth between the last two samples; a counter that begins again grows from zero. */
export function instant(rows: Rows, isRate: boolean): number | null {
  const [before, last] = [rows.at(-2), rows.at(-1)];
  if (before === undefined || last === undefined || last.ns === before.ns) return null;
  const growth = isRate && last.value < before.value ? last.value : last.value - before.value;
  return isRate ? growth / (Number(last.ns - before.ns) / 1e9) : growth;
}

/** Slope per second by least squares, or the value `fromNow` seconds after the stop. */
export function regression(rows: Rows, prediction: { readonly stop: bigint; readonly fromNow: number } | null): number | null {
  const [first] = rows;
  if (first === undefined || rows.length < 2) return null;
  const origin = prediction?.stop ?? first.ns;
  let [sumX, sumY, sumXY, sumXX] = [0, 0, 0, 0];
  for (const { value, ns } of rows) {
    const x = Number(ns - origin) / 1e9;
    sumX += x;
    sumY += value;
    sumXY += x * value;
    sumXX += x * x;
  }
  const n = rows.length;
  const slope = (sumXY - (sumX * sumY) / n) / (sumXX - (sumX * sumX) / n);
  if (prediction === null) return slope;
  return slope * prediction.fromNow + sumY / n - (slope * sumX) / n;
}

/** Double exponential smoothing: the last smoothed value. */
export function smoothed(rows: Rows, smoothing: number, trend: number): number | null {
  if (rows.length < 2) return null;
  let [before, level, slope] = [0, rows[0]!.value, rows[1]!.value - rows[0]!.value];
  for (let i = 1; i < rows.length; i++) {
    if (i > 1) slope = trend * (level - before) + (1 - trend) * slope;
    [before, level] = [level, smoothing * rows[i]!.value + (1 - smoothing) * (level + slope)];
  }
  return level;
}
