// JSON as release 2.8.0 decodes it: names of members count in any case of letters, and null is as absent, as deep as a schema
// goes. What a schema leaves open stays as it is.
import type { TSchema } from "@sinclair/typebox";

type Members = Readonly<Record<string, unknown>>;

/** By the properties of a schema: its names in small letters. A body may have hundreds of thousands of other names. */
const foldedNames = new WeakMap<object, ReadonlyMap<string, string>>();

/** The value with the names of the schema and without nulls that the schema does not want. An item of a list that is null is empty.
 *  @param given the schema @param nulls what null means, for members of the outermost object */
export function decoded(given: TSchema, value: unknown, nulls: Members = {}): unknown {
  const schema = alternativeOf(given, value);
  if (Array.isArray(value)) {
    const { items } = schema as { readonly items?: TSchema };
    if (items === undefined) return value;
    return value.map((item: unknown) => (item === null ? emptyOf(items) : decoded(items, item)));
  }
  if (!isMembers(value)) return value;
  const { properties, patternProperties } = schema as {
    readonly properties?: Readonly<Record<string, TSchema>>;
    readonly patternProperties?: Readonly<Record<string, TSchema>>;
  };
  const [pattern] = Object.values(patternProperties ?? {});
  if (properties === undefined) return pattern === undefined ? value : withEmpty(pattern, value);
  const entries = Object.entries(value).flatMap(([given, member]): [string, unknown][] => {
    const name = nameIn(properties, given);
    const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (wanted === undefined) return [[name, member]];
    if (member !== null || takesNull(wanted)) return [[name, decoded(wanted, member)]];
    return Object.hasOwn(nulls, name) ? [[name, nulls[name]]] : [];
  });
  return Object.fromEntries(entries);
}

/** Of a union, its one schema of lists or of objects, whichever the value is. */
function alternativeOf(schema: TSchema, value: unknown): TSchema {
  const { anyOf } = schema as { readonly anyOf?: readonly TSchema[] };
  const type = Array.isArray(value) ? "array" : "object";
  const fitting = anyOf?.filter((each) => (each as { readonly type?: string }).type === type) ?? [];
  return fitting.length === 1 ? fitting[0]! : schema;
}

function withEmpty(pattern: TSchema, value: Members): Members {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      member === null && !takesNull(pattern) ? emptyOf(pattern) : decoded(pattern, member),
    ]),
  );
}

/** The name of the schema that is meant by a name; the same if there is none. */
function nameIn(properties: Readonly<Record<string, TSchema>>, given: string): string {
  if (Object.hasOwn(properties, given)) return given;
  let names = foldedNames.get(properties);
  if (names === undefined) {
    names = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
    foldedNames.set(properties, names);
  }
  return names.get(given.toLowerCase()) ?? given;
}

function takesNull(schema: TSchema): boolean {
  const { type, anyOf } = schema as { readonly type?: string; readonly anyOf?: readonly TSchema[] };
  if (anyOf !== undefined) return anyOf.some(takesNull);
  return type === undefined || type === "null";
}

function emptyOf(schema: TSchema): unknown {
  switch ((schema as { readonly type?: string }).type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    case "object":
      return {};
    default:
      return null;
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
