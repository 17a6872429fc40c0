// Types of the language. Variables are cells that unification fills; a record is a chain of labels that ends empty or in a variable (row
// polymorphism), so `{r with x: 1}` hides an earlier `x` of `r` without naming the rest.

export const KINDS = [
  ...(["Addable", "Basic", "Comparable", "Divisible", "Equatable", "Label", "Negatable", "Nullable", "Numeric", "Record"] as const),
  ...(["Stringable", "Subtractable", "Timeable"] as const),
] as const;
export type Kind = (typeof KINDS)[number];

export const BASIC_NAMES = ["bool", "int", "uint", "float", "string", "duration", "time", "regexp", "bytes"] as const;
export type BasicName = (typeof BASIC_NAMES)[number];

/** An unknown type, or what it turned out to be. */
export interface TypeVariable {
  readonly kind: "variable";
  bound: Type | null;
  /** What the type has to be able to do. */
  readonly kinds: Set<Kind>;
  /** How deep the binding is whose type mentions it; those of a deeper level become parameters of that binding's type. */
  level: number;
}
export interface BasicType {
  readonly kind: "basic";
  readonly name: BasicName;
}
export interface CollectionType {
  readonly kind: "array" | "stream" | "vector";
  readonly element: Type;
}
export interface DictionaryType {
  readonly kind: "dictionary";
  readonly key: Type;
  readonly value: Type;
}
export interface RecordField {
  readonly kind: "field";
  readonly label: string;
  readonly type: Type;
  /** A field, the empty record, or a variable. */
  readonly rest: Type;
}
export interface FunctionType {
  readonly kind: "function";
  /** Both sorted by name. */
  readonly required: ReadonlyMap<string, Type>;
  readonly optional: ReadonlyMap<string, Type>;
  /** `<-` is the name of an argument that was piped. */
  readonly pipe: { readonly name: string; readonly type: Type } | null;
  readonly result: Type;
}
export type Type =
  | TypeVariable
  | BasicType
  | CollectionType
  | DictionaryType
  | RecordField
  | FunctionType
  | { readonly kind: "empty" }
  | { readonly kind: "dynamic" }
  /** Something was wrong here already: fits everything. */
  | { readonly kind: "error" };

/** A type with parameters: the variables of level GENERIC. */
export interface TypeScheme {
  readonly type: Type;
  /** Set when the type is known to have no parameters. */
  readonly isPlain?: boolean;
}
export const GENERIC = Number.MAX_SAFE_INTEGER;
/** The pipe argument of a call. */
export const PIPED = "<-";

export const BOOL: Type = { kind: "basic", name: "bool" };
export const INT: Type = { kind: "basic", name: "int" };
export const UINT: Type = { kind: "basic", name: "uint" };
export const FLOAT: Type = { kind: "basic", name: "float" };
export const STRING: Type = { kind: "basic", name: "string" };
export const TIME: Type = { kind: "basic", name: "time" };
export const DURATION: Type = { kind: "basic", name: "duration" };
export const REGEXP: Type = { kind: "basic", name: "regexp" };
export const EMPTY: Type = { kind: "empty" };
export const DYNAMIC: Type = { kind: "dynamic" };
export const ERROR: Type = { kind: "error" };

/** A new type variable. */
export function variable(level: number, kinds: Iterable<Kind> = []): TypeVariable {
  return { kind: "variable", bound: null, kinds: new Set(kinds), level };
}

/** The type without bound variables at its head; shortens chains on the way. */
export function resolve(type: Type): Type {
  if (type.kind !== "variable" || type.bound === null) return type;
  const target = resolve(type.bound);
  type.bound = target;
  return target;
}

/** The fields of a record from the outermost on, and what they extend: a variable or the empty record. */
export function fieldsOf(type: Type): { readonly fields: RecordField[]; readonly rest: Type } {
  const fields: RecordField[] = [];
  let rest = resolve(type);
  while (rest.kind === "field") {
    fields.push(rest);
    rest = resolve(rest.rest);
  }
  return { fields, rest };
}

/** The entries in the order of their names. */
export function sortedByName<T>(entries: Iterable<readonly [string, T]>): Map<string, T> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** The types within a type, one level down. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "array":
    case "stream":
    case "vector":
      return [type.element];
    case "dictionary":
      return [type.key, type.value];
    case "field":
      return [type.type, type.rest];
    case "function":
      return [...type.required.values(), ...type.optional.values(), ...(type.pipe === null ? [] : [type.pipe.type]), type.result];
    default:
      return [];
  }
}

/** The type with its parts replaced; the type itself when none is another. */
export function mapParts(type: Type, map: (part: Type) => Type): Type {
  switch (type.kind) {
    case "array":
    case "stream":
    case "vector": {
      const element = map(type.element);
      return element === type.element ? type : { kind: type.kind, element };
    }
    case "dictionary":
      return { kind: "dictionary", key: map(type.key), value: map(type.value) };
    case "field": {
      const [mapped, rest] = [map(type.type), map(type.rest)];
      return mapped === type.type && rest === type.rest ? type : { kind: "field", label: type.label, type: mapped, rest };
    }
    case "function": {
      const [required, optional] = [mapValues(type.required, map), mapValues(type.optional, map)];
      const pipe = type.pipe === null ? null : { name: type.pipe.name, type: map(type.pipe.type) };
      return { kind: "function", required, optional, pipe, result: map(type.result) };
    }
    default:
      return type;
  }
}

function mapValues(types: ReadonlyMap<string, Type>, map: (part: Type) => Type): ReadonlyMap<string, Type> {
  let isSame = true;
  const mapped = new Map<string, Type>();
  for (const [name, type] of types) {
    const made = map(type);
    if (made !== type) isSame = false;
    mapped.set(name, made);
  }
  return isSame ? types : mapped;
}
