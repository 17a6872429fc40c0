// Values of the language. Floats are numbers and integers bigints, so that the two differ at run time; what JavaScript has no type for is a
// class of its own. Nulls know the type that they are missing from.
import type { FluxColumnType } from "./column-type.ts";

/** A missing value of a type. */
export class Null {
  private constructor(
    readonly type: FluxColumnType | "invalid",
    /** Made by an operator or a conversion: a column has its type, and functions of the library see none. */
    readonly isComputed: boolean,
  ) {}

  private static readonly made = new Map<string, Null>();
  private static readonly madeByOperators = new Map<string, Null>();

  static of(type: FluxColumnType | "invalid"): Null {
    return Null.found(Null.made, type, false);
  }

  static computed(type: FluxColumnType | "invalid"): Null {
    return type === "invalid" ? NULL : Null.found(Null.madeByOperators, type, true);
  }

  private static found(made: Map<string, Null>, type: FluxColumnType | "invalid", isComputed: boolean): Null {
    let found = made.get(type);
    if (found === undefined) {
      found = new Null(type, isComputed);
      made.set(type, found);
    }
    return found;
  }
}
export const NULL = Null.of("invalid");

/** An unsigned 64-bit integer. */
export class UInt {
  constructor(readonly value: bigint) {}
}
/** A time in nanoseconds since 1970. */
export class Time {
  /** Nanoseconds since 1970, signed 64 bits. */
  constructor(readonly ns: bigint) {}
}
/** Months and nanoseconds keep apart: a month has no fixed length. Both parts have the sign. */
export class Duration {
  constructor(
    readonly months: bigint,
    readonly ns: bigint,
  ) {}
}
/** A regular expression. */
export class Regexp {
  constructor(
    readonly source: string,
    readonly matcher: RegexpMatcher,
  ) {}
}
/** What the language does with a regular expression; offsets are UTF-16. */
export interface RegexpMatcher {
  test(text: string): boolean;
  /** Start and end of the first match at or after `from` and of its groups, -1 for a group that took no part; null without a match. */
  find(text: string, from: number): readonly number[] | null;
  readonly groupNames: ReadonlyMap<string, number>;
}
/** A byte string. */
export class Bytes {
  constructor(readonly bytes: Uint8Array) {}
}
/** A list of values of one type. */
export class FluxArray {
  /** @param sample of the type of its items, for a list without any */
  constructor(
    readonly items: readonly Value[],
    private readonly sample: Value | null = null,
  ) {}

  /** A value of the type of the items; null: it is not known. */
  get like(): Value | null {
    return this.items[0] ?? this.sample;
  }
}
/** Values by their keys; keys of one type, values of another. */
export class Dictionary {
  /** @param items by text keys that differ for different values (`dictionaryKey`)
   *  @param sample of the types of its items, for a dictionary without any */
  constructor(
    readonly items: ReadonlyMap<string, DictionaryItem>,
    private readonly sample: DictionaryItem | null = null,
  ) {}

  /** An item of the types of the items; null: they are not known. */
  get like(): DictionaryItem | null {
    const [first] = this.items.values();
    return first ?? this.sample;
  }
}
export interface DictionaryItem {
  readonly key: Value;
  readonly value: Value;
}
/** A value whose type is known only when the script runs. */
export class Dynamic {
  constructor(readonly value: Value | null) {}
}
/** A record; rows of tables are records that read their columns when asked. */
export class FluxRecord {
  /** The labels that many records share, or null. */
  readonly shape: RecordShape | null = null;

  constructor(protected readonly fields: ReadonlyMap<string, Value>) {}

  static of(fields: Readonly<Record<string, Value>>): FluxRecord {
    return new FluxRecord(new Map(Object.entries(fields)));
  }

  get(label: string): Value | undefined {
    return this.fields.get(label);
  }

  /** The value at a place of the record's shape. */
  at(_: number): Value {
    throw new Error("BUG: the record has no shape");
  }

  entries(): Iterable<readonly [string, Value]> {
    return this.fields;
  }

  labels(): Iterable<string> {
    return this.fields.keys();
  }

  /** The values in the order of the labels, to keep. */
  values(): Value[] {
    return [...this.fields.values()];
  }
}
/** Labels of records, each once, with their places. */
export class RecordShape {
  readonly places: ReadonlyMap<string, number>;

  constructor(readonly labels: readonly string[]) {
    this.places = new Map(labels.map((label, i) => [label, i]));
  }
}
const NO_FIELDS: ReadonlyMap<string, Value> = new Map();

/** A record of a known shape: what a function makes for each row. */
export class ShapedRecord extends FluxRecord {
  constructor(
    override readonly shape: RecordShape,
    private readonly cells: readonly Value[],
  ) {
    super(NO_FIELDS);
  }

  override get(label: string): Value | undefined {
    const place = this.shape.places.get(label);
    return place === undefined ? undefined : this.cells[place];
  }

  override at(place: number): Value {
    return this.cells[place]!;
  }

  override *entries(): Iterable<readonly [string, Value]> {
    for (const [label, place] of this.shape.places) yield [label, this.cells[place]!];
  }

  override labels(): Iterable<string> {
    return this.shape.labels;
  }

  override values(): Value[] {
    return this.cells.slice();
  }
}
/** Arguments of a call by name. */
export type Arguments = ReadonlyMap<string, Value>;

export interface Parameter {
  readonly name: string;
  readonly isOptional: boolean;
  readonly isPipe: boolean;
}
/** What a function is called for: rows, rows that the reference computes column by column, or other values. */
export type Items = "rows" | "columns" | "values";

/** A callable value. */
export abstract class FluxFunction {
  constructor(
    /** For messages; empty for an expression without a name. */
    readonly name: string,
    readonly parameters: readonly Parameter[],
  ) {}

  /** Answered by the server itself. */
  readonly isNative: boolean = false;
  /** Of a function whose answer depends on its arguments alone, which has no effects, and answers with this type: the type. */
  readonly pureType: FluxColumnType | null = null;

  abstract call(args: Arguments): Value;

  /** As the language writes it. @throws FluxError: it is too large */
  abstract get typeText(): string;

  /** A caller that gives the same arguments many times: the values come in the order of `names`.
   *  @param of rows have types, and so have their nulls; what is computed of a null among other values has none */
  prepare(names: readonly string[], _of: Items = "rows"): (...values: Value[]) => Value {
    return (...values) => this.call(new Map(names.map((name, i) => [name, values[i]!])));
  }
}
/** A stream of tables that is not computed yet; `plan/` has its kinds. */
export abstract class TableStream {
  abstract readonly isStream: true;
}
/** A package that was imported. */
export class PackageValue extends FluxRecord {}

export type Value =
  | boolean
  | number
  | bigint
  | string
  | Null
  | UInt
  | Time
  | Duration
  | Regexp
  | Bytes
  | FluxArray
  | Dictionary
  | Dynamic
  | FluxRecord
  | FluxFunction
  | TableStream;

export type ValueKind =
  | FluxColumnType
  | "duration"
  | "regexp"
  | "bytes"
  | "array"
  | "dictionary"
  | "dynamic"
  | "object"
  | "function"
  | "stream"
  | "invalid";

/** The type of a value. */
export function kindOf(value: Value): ValueKind {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return "float";
    case "bigint":
      return "int";
    case "string":
      return "string";
  }
  if (value instanceof Null) return value.type;
  if (value instanceof Time) return "time";
  if (value instanceof UInt) return "uint";
  if (value instanceof FluxRecord) return "object";
  if (value instanceof Duration) return "duration";
  if (value instanceof FluxArray) return "array";
  if (value instanceof FluxFunction) return "function";
  if (value instanceof TableStream) return "stream";
  if (value instanceof Regexp) return "regexp";
  if (value instanceof Bytes) return "bytes";
  return value instanceof Dictionary ? "dictionary" : "dynamic";
}

/** True for a null of any type. */
export function isNull(value: Value): value is Null {
  return value instanceof Null;
}

/** Texts that are equal for equal values. */
export function dictionaryKey(value: Value): string {
  if (value instanceof Time) return `t${value.ns}`;
  if (value instanceof UInt) return `u${value.value}`;
  if (value instanceof Duration) return `d${value.months},${value.ns}`;
  if (value instanceof Null) return "n";
  return `${typeof value}${String(value)}`;
}
