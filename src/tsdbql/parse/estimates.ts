// Which cardinalities are estimates in version 1.x.
import type { Statement } from "./ast.ts";

/** True for a single number over the whole database; only series and measurements support it. */
export function isEstimate(statement: Statement): boolean {
  if (statement.kind !== "show series cardinality" && statement.kind !== "show measurement cardinality") return false;
  const { exact, sources, where, dimensions, limit, offset } = statement;
  return !exact && sources.length === 0 && where === null && dimensions.length === 0 && limit === 0 && offset === 0;
}
