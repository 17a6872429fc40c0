// Functions and their parameters, for editors that complete scripts.
import { fluxLibrary } from "../../flux/library/packages.ts";
import { type FunctionType, resolve, type Type } from "../../flux/types/type.ts";

export interface Suggestion {
  readonly name: string;
  /** By name: array, bool, dictionary, duration, float, function, int, object, regexp, stream, string, time, uint, or invalid for any. */
  readonly params: Readonly<Record<string, string>>;
}

/** All functions that scripts have without an import. Names with an underscore in front are the library's own. */
export function allSuggestions(): { readonly funcs: readonly Suggestion[] } {
  const { prelude } = fluxLibrary();
  return { funcs: [...prelude.names()].flatMap((name) => suggestionFor(name) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Null: there is no such function. */
export function suggestionFor(name: string): Suggestion | null {
  if (name.startsWith("_")) return null;
  const scheme = fluxLibrary().prelude.get(name);
  const type = scheme === undefined ? null : resolve(scheme.type);
  return type?.kind === "function" ? { name, params: paramsOf(type) } : null;
}

function paramsOf({ required, optional, pipe }: FunctionType): Record<string, string> {
  const all = [...required, ...optional];
  // as recorded: one table that is piped is not told
  if (pipe !== null && pipe.name !== "table") all.push([pipe.name === "<-" ? "tables" : pipe.name, pipe.type]);
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, type]) => [name, wordFor(type)]));
}

function wordFor(given: Type): string {
  const type = resolve(given);
  switch (type.kind) {
    case "basic":
      return type.name;
    case "array":
    case "stream":
    case "function":
    case "dictionary":
      return type.kind;
    case "field":
    case "empty":
      return "object";
    default:
      return "invalid";
  }
}
