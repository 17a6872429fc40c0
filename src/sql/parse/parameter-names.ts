// The names of a statement's parameters, as clients count them.
import type { Token } from "./tokens.ts";

/** Without their dollars: numbers ascending, names in the order of their first appearance. `tokens`: of the statement. */
export function parameterNames(tokens: readonly Token[]): string[] {
  const parameters = tokens.filter(({ kind }) => kind === "parameter");
  const names = [...new Set(parameters.map(({ text }) => text.slice(1)))];
  return names.every((name) => /^\d+$/.test(name)) ? names.sort((a, b) => Number(a) - Number(b)) : names;
}
