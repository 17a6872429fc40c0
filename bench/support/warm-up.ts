// Runs queries before the measurement, so that compilation at run time is not measured.
import { prng } from "../../test/support/prng.ts";
import type { TsbsExtent, TsbsQuery, TsbsStatement } from "../data/tsbs-queries.ts";
import type { Size } from "./bench.ts";

const MS_PER_QUESTION = 400;

/** Queries with other parameters than those measured. */
export async function warmUp(
  { statement }: TsbsQuery,
  extent: TsbsExtent,
  size: Size,
  ask: (statement: TsbsStatement) => Promise<unknown>,
): Promise<void> {
  const endMs = performance.now() + (size === "real" ? MS_PER_QUESTION : 0);
  for (let execution = 0; performance.now() < endMs; execution++) await ask(statement(extent, prng(1000 + execution)));
}
