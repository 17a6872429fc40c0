// Servers answer for a while before they are measured: code that is compiled as it runs is not measured before it is.
import { prng } from "../../test/support/prng.ts";
import type { TsbsExtent, TsbsQuery, TsbsStatement } from "../data/tsbs-queries.ts";
import type { Size } from "./bench.ts";

const MS_PER_QUESTION = 400;

/** Asks with other parameters than those that are measured. */
export async function warmUp(
  { statement }: TsbsQuery,
  extent: TsbsExtent,
  size: Size,
  ask: (statement: TsbsStatement) => Promise<unknown>,
): Promise<void> {
  const endMs = performance.now() + (size === "real" ? MS_PER_QUESTION : 0);
  for (let execution = 0; performance.now() < endMs; execution++) await ask(statement(extent, prng(1000 + execution)));
}
