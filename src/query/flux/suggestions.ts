// Functions and their parameters, for editors that complete scripts.
import { fluxLibrary } from "../../flux/library/packages.ts";
import { type FunctionType, resolve, type Type } from "../../flux/types/type.ts";

export interface Suggestion {
  readonly name: string;
  /** By name: array, bool, dictionary, duration, float, function, int, object, regexp, stream, string, time, uint, or invalid for any. */
  readonly params: Readonly<Record<string, string>>;
}

/** Of the library's own functions those that the reference tells, with what it tells of them. */
const OWN: Readonly<Record<string, Suggestion["params"]>> = {
  _fillEmpty: { createEmpty: "bool", tables: "stream" },
  _highestOrLowest: {
    ...{ _sortLimit: "function", column: "invalid", groupColumns: "array", n: "invalid", reducer: "function", tables: "stream" },
  },
  _hourSelection: { location: "object", start: "int", stop: "int", tables: "stream", timeColumn: "string" },
  _sortLimit: { columns: "array", desc: "bool", n: "int", tables: "stream" },
  _vectorizedFloat: { v: "vector" },
  _window: {
    ...{ createEmpty: "bool", every: "duration", location: "object", offset: "duration", period: "duration" },
    ...{ startColumn: "string", stopColumn: "string", tables: "stream", timeColumn: "string" },
  },
};

/** All functions that scripts have without an import. */
export function allSuggestions(): { readonly funcs: readonly Suggestion[] } {
  const { prelude } = fluxLibrary();
  const names = new Set([...Object.keys(OWN), ...prelude.names()]);
  return { funcs: [...names].flatMap((name) => suggestionFor(name) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Null: there is no such function. */
export function suggestionFor(name: string): Suggestion | null {
  if (name.startsWith("_")) return Object.hasOwn(OWN, name) ? { name, params: OWN[name]! } : null;
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
