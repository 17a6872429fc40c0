// v3 counts 0 values where the other calls of a statement have points; 1.x says nothing of such windows, or fills them.
import { inSteps, type Steps } from "../../../model/steps.ts";
import { pointsOf } from "../../functions/columns.ts";
import { joinByTime } from "../../functions/rows.ts";
import { isValid } from "../../functions/validity.ts";
import type { CallChain } from "./call-chain.ts";
import type { BasePoints } from "./points.ts";

export interface CountedChain extends CallChain {
  /** True if the series has no such column: nothing is counted then. */
  readonly isAbsent: boolean;
}

/** @param bases in the order of `chains`; null: no points */
export function* withZeroCounts(
  chains: readonly CountedChain[],
  bases: readonly (BasePoints | null)[],
  descending: boolean,
): Steps<readonly (BasePoints | null)[]> {
  const isCount = ({ base, isAbsent }: CountedChain) => base.call?.name === "count" && !isAbsent;
  const present = bases.filter((base) => base !== null);
  if (chains.length < 2 || present.length === 0 || !chains.some(isCount) || !chains.every(({ base }) => base.call !== null)) return bases;
  const columns = present.map(({ points }) => ({ points, validity: null }));
  const rows = yield* joinByTime(columns, descending);
  if (present.length === bases.length && present.every(({ points }) => points.times.length === rows.times.length)) return bases;
  const filled: (BasePoints | null)[] = [];
  for (const [i, chain] of chains.entries()) {
    const base = bases[i] ?? null;
    if (!isCount(chain)) {
      filled.push(base);
      continue;
    }
    const counts = new BigInt64Array(rows.times.length);
    if (base !== null) {
      const { values, validity } = rows.columns[present.indexOf(base)]!;
      yield* inSteps(counts.length, (from, to) => {
        for (let row = from; row < to; row++) if (isValid(validity, row)) counts[row] = (values as BigInt64Array)[row]!;
      });
    }
    filled.push({ points: pointsOf("integer", rows.times, counts), rows: null });
  }
  return filled;
}
