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
  /** What the type has to be able to do, each kind once, in the order in which they were asked for. The list is shared by copies. */
  kinds: readonly Kind[];
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
/** Types by their names, sorted, each name once. */
export type NamedTypes = readonly (readonly [name: string, type: Type])[];
export interface FunctionType {
  readonly kind: "function";
  readonly required: NamedTypes;
  readonly optional: NamedTypes;
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

const NO_KINDS: readonly Kind[] = [];

/** A new type variable. */
export function variable(level: number, kinds: readonly Kind[] = NO_KINDS): TypeVariable {
  return { kind: "variable", bound: null, kinds, level };
}

/** The unknown type has to be of the kind, too. */
export function addKind(unknown: TypeVariable, kind: Kind): void {
  if (!unknown.kinds.includes(kind)) unknown.kinds = [...unknown.kinds, kind];
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

/** The types in the order of their names; of equal names the last one. */
export function sortedByName(types: NamedTypes): NamedTypes {
  let isSorted = true;
  for (let i = 1; i < types.length && isSorted; i++) isSorted = types[i - 1]![0] < types[i]![0];
  if (isSorted) return types;
  return [...new Map(types)].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Calls `visit` with the types within a type, one level down. */
export function eachPart(type: Type, visit: (part: Type) => void): void {
  switch (type.kind) {
    case "array":
    case "stream":
    case "vector":
      visit(type.element);
      break;
    case "dictionary":
      visit(type.key);
      visit(type.value);
      break;
    case "field":
      visit(type.type);
      visit(type.rest);
      break;
    case "function":
      for (const [, each] of type.required) visit(each);
      for (const [, each] of type.optional) visit(each);
      if (type.pipe !== null) visit(type.pipe.type);
      visit(type.result);
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
      const [required, optional] = [mapTypes(type.required, map), mapTypes(type.optional, map)];
      const pipe = type.pipe === null ? null : { name: type.pipe.name, type: map(type.pipe.type) };
      return { kind: "function", required, optional, pipe, result: map(type.result) };
    }
    default:
      return type;
  }
}

function mapTypes(types: NamedTypes, map: (part: Type) => Type): NamedTypes {
  let isSame = true;
  const mapped = types.map((each): readonly [string, Type] => {
    const made = map(each[1]);
    if (made === each[1]) return each;
    isSame = false;
    return [each[0], made];
  });
  return isSame ? types : mapped;
}
