// The names of a statement's parameters, as clients number them.
import type { Token } from "./tokens.ts";

/** Without dollar signs: numbers ascending, names in order of first appearance. `tokens`: those of the statement. */
export function parameterNames(tokens: readonly Token[]): string[] {
  const parameters = tokens.filter(({ kind }) => kind === "parameter");
  const names = [...new Set(parameters.map(({ text }) => text.slice(1)))];
  return names.every((name) => /^\d+$/.test(name)) ? names.sort((a, b) => Number(a) - Number(b)) : names;
}
