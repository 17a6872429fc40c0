// Builds result batches from plain JavaScript values, in the buffer layouts of model/query/result-batch.ts.
import type {
  ResultBatch,
  ResultColumn,
  ResultField,
  ResultSchema,
  ResultType,
  ResultValues,
} from "../../../src/model/query/result-batch.ts";

/** A value of a column: bigint for 64 bits and more, [months, days, micros] for intervals, an array for lists, an object
 *  for structs, [key, value] pairs for maps. null is NULL. */
export type Plain = null | boolean | number | bigint | string | Uint8Array | readonly Plain[] | { readonly [name: string]: Plain };

/** A schema of these fields. */
export function schemaOf(tableName: string, fields: readonly ResultField[]): ResultSchema {
  return { tableName, fields };
}

/** A batch of `rows`, each an array in the order of `fields`. `dictionaries` keeps codes stable over several batches. */
export function batchOf(
  fields: readonly ResultField[],
  rows: readonly (readonly Plain[])[],
  dictionaries = new Dictionaries(),
): ResultBatch {
  return {
    rowCount: rows.length,
    columns: fields.map((field, index) =>
      columnOf(
        field,
        rows.map((row) => row[index]!),
        dictionaries,
      ),
    ),
  };
}

/** The growing dictionary of each field name; a new array object whenever it changes. */
export class Dictionaries {
  private readonly byName = new Map<string, readonly string[]>();

  of(name: string, strings: readonly string[]): readonly string[] {
    const known = this.byName.get(name) ?? [];
    const added = [...new Set(strings)].filter((text) => !known.includes(text));
    const next = added.length === 0 && this.byName.has(name) ? known : [...known, ...added];
    this.byName.set(name, next);
    return next;
  }
}

function columnOf(field: ResultField, values: readonly Plain[], dictionaries: Dictionaries): ResultColumn {
  const validity = values.includes(null) ? validityOf(values) : null;
  return { validity, ...buffersOf(field, values, dictionaries) };
}

function validityOf(values: readonly Plain[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 64) * 8);
  for (const [row, value] of values.entries()) if (value !== null) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

type Buffers = Omit<ResultColumn, "validity">;

function buffersOf(field: ResultField, values: readonly Plain[], dictionaries: Dictionaries): Buffers {
  const { type } = field;
  switch (type.kind) {
    case "null":
      return { values: new Uint8Array(0) };
    case "bool":
      return { values: Uint8Array.from(values, (value) => (value === true ? 1 : 0)) };
    case "int":
      return { values: intsOf(type, values) };
    case "float":
      return { values: floatsOf(type.bits, values) };
    case "hugeint":
    case "decimal":
      return { values: int128sOf(values) };
    case "timestamp":
    case "duration":
    case "time":
      return { values: BigInt64Array.from(values, (value) => (value === null ? -1n : BigInt(value as bigint))) };
    case "date":
      return { values: Int32Array.from(values, (value) => (value === null ? -1 : Number(value))) };
    case "interval":
      return { values: intervalsOf(values) };
    case "utf8":
      return bytesOf(values.map((value) => (value === null ? null : new TextEncoder().encode(value as string))));
    case "binary":
      return bytesOf(values as readonly (Uint8Array | null)[]);
    case "dictionary": {
      const dictionary = dictionaries.of(field.name, values.filter((value) => value !== null) as string[]);
      return { values: Uint32Array.from(values, (value) => (value === null ? 0 : dictionary.indexOf(value as string))), dictionary };
    }
    default:
      return nestedOf(type, values, dictionaries);
  }
}

function nestedOf(type: ResultType, values: readonly Plain[], dictionaries: Dictionaries): Buffers {
  const none = new Uint8Array(0);
  if (type.kind === "struct") {
    const columns = type.children.map((child) =>
      columnOf(
        child,
        values.map((value) => (value === null ? null : (value as Record<string, Plain>)[child.name]!)),
        dictionaries,
      ),
    );
    return { values: none, children: columns };
  }
  const lists = values.map((value) => (value ?? []) as readonly Plain[]);
  const offsets = new Int32Array(lists.length + 1);
  for (const [row, list] of lists.entries()) offsets[row + 1] = offsets[row]! + list.length;
  const items = lists.flat();
  if (type.kind === "list") return { values: none, offsets, children: [columnOf(type.child, items, dictionaries)] };
  if (type.kind !== "map") throw new Error(`no builder for ${type.kind}`);
  const pairs = lists.flatMap((list) => list as readonly (readonly [Plain, Plain])[]);
  const keys = pairs.map(([key]) => key);
  const mapped = pairs.map(([, value]) => value);
  return { values: none, offsets, children: [columnOf(type.key, keys, dictionaries), columnOf(type.value, mapped, dictionaries)] };
}

function floatsOf(bits: 32 | 64, values: readonly Plain[]): ResultValues {
  const plain = values.map((value) => (value === null ? 77 : Number(value)));
  return bits === 64 ? Float64Array.from(plain) : Float32Array.from(plain);
}

function intsOf(type: Extract<ResultType, { kind: "int" }>, values: readonly Plain[]): ResultValues {
  if (type.bits === 64) {
    const wide = values.map((value) => (value === null ? 77n : BigInt(value as bigint)));
    return type.signed ? BigInt64Array.from(wide) : BigUint64Array.from(wide);
  }
  const narrow = values.map((value) => (value === null ? 77 : Number(value)));
  const arrays = { 8: [Uint8Array, Int8Array], 16: [Uint16Array, Int16Array], 32: [Uint32Array, Int32Array] } as const;
  return arrays[type.bits][type.signed ? 1 : 0].from(narrow);
}

function int128sOf(values: readonly Plain[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 16));
  for (const [row, value] of values.entries()) {
    const wide = BigInt.asUintN(128, BigInt((value ?? 0n) as bigint));
    view.setBigUint64(row * 16, wide & 0xffffffffffffffffn, true);
    view.setBigUint64(row * 16 + 8, wide >> 64n, true);
  }
  return new Uint8Array(view.buffer);
}

function intervalsOf(values: readonly Plain[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 16));
  for (const [row, value] of values.entries()) {
    const [months, days, micros] = (value ?? [0, 0, 0n]) as [number, number, bigint];
    view.setInt32(row * 16, months, true);
    view.setInt32(row * 16 + 4, days, true);
    view.setBigInt64(row * 16 + 8, BigInt(micros), true);
  }
  return new Uint8Array(view.buffer);
}

function bytesOf(values: readonly (Uint8Array | null)[]): Buffers {
  const offsets = new Int32Array(values.length + 1);
  for (const [row, value] of values.entries()) offsets[row + 1] = offsets[row]! + (value?.length ?? 0);
  const data = new Uint8Array(offsets[values.length]!);
  for (const [row, value] of values.entries()) if (value !== null) data.set(value, offsets[row]);
  return { values: new Uint8Array(0), offsets, data };
}
