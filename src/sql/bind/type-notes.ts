// The dialect's type of a value where DuckDB's type differs (Typed.arrow): tags and values chosen among tags are dictionaries, NULL alone
// has a type of its own. Lists and structs of such values carry the notes of their contents.

import type { ResultField } from "../../model/query/result-batch.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { Expression } from "../parse/tree.ts";
import { memberNames, memberTypes } from "./arrow-type.ts";
import type { Kind, Typed, TypeNote } from "./kind.ts";

export const DICTIONARY = "Dictionary(Int32, Utf8)";
export const NULL_TYPE = "Null";

type Noted = Pick<Typed, "arrow" | "source"> & { readonly kind: Kind; readonly node?: Expression };

/** True for a tag column, or a value chosen among tags. */
export function isDictionary({ arrow, source }: Pick<Typed, "arrow" | "source">): boolean {
  return arrow === DICTIONARY || source?.scan.defs[source.index]?.type === ColumnType.tag;
}

/** True for the constant NULL. */
export function isNullConstant({ node }: Pick<Typed, "node">): boolean {
  return node.class === "CONSTANT" && node.value.is_null;
}

/** True for CAST(NULL AS …). */
export function isNullOfType({ node }: Pick<Typed, "node">): boolean {
  return node.class === "CAST" && isNullConstant({ node: node.child });
}

/** The column type whose mark an answer puts on the value; null: none. */
export function markOf({ mark, source }: Pick<Typed, "mark" | "source">): ColumnType | null {
  return mark !== undefined ? mark : (source?.scan.defs[source.index]?.type ?? null);
}

/** A value computed from another, whose mark it keeps: by casts, signs, lag and lead. */
export function withMarkOf(computed: Typed, value: Typed | undefined): Typed {
  const mark = value === undefined ? null : markOf(value);
  // a copy would read the constant's number
  return mark === null ? computed : { ...computed, mark };
}

const NARROW: Readonly<Record<string, string>> = { TINYINT: "Int8", SMALLINT: "Int16", INTEGER: "Int32", FLOAT: "Float32" };

/** The type of a value that the statement narrowed below 64 bits; null otherwise. */
export function narrowType({ node, arrow }: Typed): string | null {
  if (arrow !== undefined) return Object.values(NARROW).includes(arrow) ? arrow : null;
  return node.class === "CAST" ? (NARROW[node.cast_type.id] ?? null) : null;
}

/** The note of a value that is `value`, or of the same type. */
export function sameType(value: Noted | undefined): TypeNote {
  if (value === undefined) return {};
  if (isDictionary(value)) return { arrow: DICTIONARY };
  if (value.source?.scan.defs[value.source.index]?.type === ColumnType.unsigned) return { arrow: "UInt64" };
  if (value.arrow !== undefined) return { arrow: value.arrow };
  const narrow = value.node === undefined ? null : narrowType({ ...value, node: value.node });
  return narrow === null ? {} : { arrow: narrow };
}

/** The type of a sum of integers, or of one chosen among them, if it has less than 64 bits; null otherwise. */
export function narrowInteger(values: readonly Typed[]): string | null {
  let [signedBits, unsignedBits] = [0, 0];
  for (const value of values) {
    const [, unsigned, bits] = (value.kind === "integer" && NARROW_INTEGER.exec(sameType(value).arrow ?? "")) || [];
    if (bits === undefined) return null;
    if (unsigned === "") signedBits = Math.max(signedBits, Number(bits));
    else unsignedBits = Math.max(unsignedBits, Number(bits));
  }
  if (signedBits === 0) return unsignedBits === 0 ? null : `UInt${unsignedBits}`;
  const bits = Math.max(signedBits, 2 * unsignedBits);
  return bits < 64 ? `Int${bits}` : null;
}

const NARROW_INTEGER = /^(U?)Int(8|16|32)$/;

/** The note of such a value. */
export function narrowNote(values: readonly Typed[]): TypeNote {
  const arrow = narrowInteger(values);
  return arrow === null ? {} : { arrow };
}

/** The note of a text made of others: a view of the text where one of them is a view, a dictionary, or NULL. */
export function viewType(texts: readonly Typed[]): TypeNote {
  return texts.some((text) => text.arrow === VIEW.arrow || isDictionary(text) || isNullConstant(text)) ? VIEW : {};
}

const VIEW: TypeNote = { arrow: "Utf8View" };

/** The note of a value chosen among several. */
export function chosenType(values: readonly Typed[]): TypeNote {
  const present = values.filter((value) => !isNullConstant(value));
  if (present.length === 0) return { arrow: NULL_TYPE };
  if (present.every(({ kind }) => kind === "string") && present.some(isDictionary)) return { arrow: DICTIONARY };
  const [first] = present;
  const { arrow } = sameType(first);
  if (arrow !== undefined && arrow !== DICTIONARY && present.every((value) => sameType(value).arrow === arrow)) return { arrow };
  return narrowNote(present);
}

/** The note of a list of such values. */
export function listType(items: readonly Typed[]): TypeNote {
  const { arrow } = chosenType(items);
  return arrow !== undefined && isNested(arrow) ? { arrow: `List(${arrow})` } : {};
}

/** The note of a list's elements. */
export function itemType({ arrow }: TypeNote): TypeNote {
  const item = /^List\((.*)\)$/s.exec(arrow ?? "")?.[1];
  return item === undefined ? {} : { arrow: item };
}

/** The note of a struct: includes all members if any member needs one. */
export function structType(members: readonly { readonly name: string; readonly value: Typed }[]): TypeNote {
  const notes = members.map(({ value }) => chosenType([value]).arrow);
  if (!notes.some((arrow) => arrow !== undefined && isNested(arrow))) return {};
  const types = members.map(({ value }, i) => notes[i] ?? plainName(value.kind));
  return { arrow: `Struct(${members.map(({ name }, i) => `"${name}": ${types[i]}`).join(", ")})` };
}

/** The note of a struct's member. */
export function memberType({ arrow = "" }: TypeNote, name: string): TypeNote {
  const at = memberNames(arrow).indexOf(name);
  const member = at < 0 ? undefined : memberTypes(arrow)[at];
  return member !== undefined && isNested(member) ? { arrow: member } : {};
}

/** The dialect's name of a value's type, for messages; null if it is not known here. */
export function typeName(value: Typed): string | null {
  if (isNullConstant(value)) return NULL_TYPE;
  if (isDictionary(value)) return DICTIONARY;
  if (value.kind === "time" && value.zone !== undefined) return `Timestamp(ns, "${value.zone}")`;
  return sameType(value).arrow ?? PLAIN_NAMES[value.kind] ?? OTHER_NAMES[value.kind] ?? null;
}

/** True for a truth value, NULL, and what is not known to be another. */
export function isTruth(value: Typed): boolean {
  return value.kind === "boolean" || value.kind === "unknown" || typeName(value) === null;
}

const OTHER_NAMES: Partial<Record<Kind, string>> = {
  binary: "Binary",
  date: "Date32",
  duration: "Duration(ns)",
  interval: "Interval(MonthDayNano)",
};

const PLAIN_NAMES: Partial<Record<Kind, string>> = {
  time: "Timestamp(ns)",
  string: "Utf8",
  integer: "Int64",
  float: "Float64",
  boolean: "Boolean",
};

function plainName(kind: Kind): string {
  return PLAIN_NAMES[kind] ?? "other";
}

/** Only these are noted within lists and structs: all others equal DuckDB's types. */
function isNested(arrow: string): boolean {
  return arrow === DICTIONARY || arrow === NULL_TYPE || /^(List|Struct)\(/.test(arrow);
}

/** A result field with the type of its note. */
export function notedField(field: ResultField, arrow: string): ResultField {
  const { type } = field;
  if (arrow === DICTIONARY) return type.kind === "utf8" ? { ...field, isDictionary: true } : field;
  if (arrow === NULL_TYPE) return { ...field, type: { kind: "null" } };
  if (type.kind === "list") {
    const item = itemType({ arrow }).arrow;
    return item === undefined ? field : { ...field, type: { ...type, child: notedField(type.child, item) } };
  }
  if (type.kind === "struct" && arrow.startsWith("Struct(")) {
    const members = memberTypes(arrow);
    const children = type.children.map((child, i) => (members[i] === undefined ? child : notedField(child, members[i])));
    return { ...field, type: { ...type, children } };
  }
  return field;
}
