// Small packages: `timezone`, `types`, `bitwise`, `dict`, `runtime`, `system`.
import { FluxError } from "../../values/flux-error.ts";
import { locationOf } from "../../values/location.ts";
import {
  Dictionary,
  type DictionaryItem,
  Duration,
  dictionaryKey,
  FluxRecord,
  isNull,
  kindOf,
  UInt,
  type Value,
} from "../../values/value.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";

export const TIMEZONE: LibraryPackage = {
  path: "timezone",
  name: "timezone",
  source: `
builtin utc : {zone: string, offset: duration}
fixed = (offset) => ({zone: "UTC", offset: offset})
builtin location : (name: string) => {zone: string, offset: duration}
`,
  natives: {
    utc: { value: FluxRecord.of({ zone: "UTC", offset: new Duration(0n, 0n) }) },
    location: (call) => {
      const zone = call.string("name");
      const record = FluxRecord.of({ zone, offset: new Duration(0n, 0n) });
      try {
        locationOf(record);
      } catch {
        throw new FluxError(`unknown time zone ${zone}`);
      }
      return record;
    },
  },
};

export const TYPES: LibraryPackage = {
  path: "types",
  name: "types",
  source: `
builtin isType : (v: A, type: string) => bool where A: Basic
isNumeric = (v) => isType(v: v, type: "float") or isType(v: v, type: "int") or isType(v: v, type: "uint")
`,
  natives: {
    isType: (call) => {
      const type = call.string("type");
      const value = call.value("v");
      return (isNull(value) ? value.type : kindOf(value)) === type;
    },
  },
};

const ofUInts =
  (f: (a: bigint, b: bigint) => bigint): NativeBody =>
  (call) =>
    new UInt(BigInt.asUintN(64, f(call.uint("a"), call.uint("b"))));
const ofInts =
  (f: (a: bigint, b: bigint) => bigint): NativeBody =>
  (call) =>
    BigInt.asIntN(64, f(call.bigint("a"), call.bigint("b")));
/** Shifts by 64 and more leave nothing but the sign. */
const left = (a: bigint, b: bigint) => (bitsOf(b) > 63n ? 0n : a << b);
const right = (a: bigint, b: bigint) => a >> (bitsOf(b) > 63n ? 64n : b);

function bitsOf(count: bigint): bigint {
  if (count < 0n) throw new FluxError("negative shift amount");
  return count;
}

const BITWISE_NAMES = ["and", "or", "not", "xor", "clear", "lshift", "rshift"].flatMap((name) => [`u${name}`, `s${name}`]);

/** The same functions under the path that they had first. */
export const EXPERIMENTAL_BITWISE: LibraryPackage = {
  path: "experimental/bitwise",
  name: "bitwise",
  source: `import "bitwise"\n${BITWISE_NAMES.map((name) => `${name} = bitwise.${name}`).join("\n")}`,
  natives: {},
};

export const BITWISE: LibraryPackage = {
  path: "bitwise",
  name: "bitwise",
  source: `
builtin uand : (a: uint, b: uint) => uint
builtin uor : (a: uint, b: uint) => uint
builtin unot : (a: uint) => uint
builtin uxor : (a: uint, b: uint) => uint
builtin uclear : (a: uint, b: uint) => uint
builtin ulshift : (a: uint, b: uint) => uint
builtin urshift : (a: uint, b: uint) => uint
builtin sand : (a: int, b: int) => int
builtin sor : (a: int, b: int) => int
builtin snot : (a: int) => int
builtin sxor : (a: int, b: int) => int
builtin sclear : (a: int, b: int) => int
builtin slshift : (a: int, b: int) => int
builtin srshift : (a: int, b: int) => int
`,
  natives: {
    uand: ofUInts((a, b) => a & b),
    uor: ofUInts((a, b) => a | b),
    unot: (call) => new UInt(BigInt.asUintN(64, ~call.uint("a"))),
    uxor: ofUInts((a, b) => a ^ b),
    uclear: ofUInts((a, b) => a & ~b),
    ulshift: ofUInts(left),
    urshift: ofUInts(right),
    sand: ofInts((a, b) => a & b),
    sor: ofInts((a, b) => a | b),
    snot: (call) => ~call.bigint("a"),
    sxor: ofInts((a, b) => a ^ b),
    sclear: ofInts((a, b) => a & ~b),
    slshift: ofInts(left),
    srshift: ofInts(right),
  },
};

function changed(from: Dictionary, change: (items: Map<string, { readonly key: Value; readonly value: Value }>) => void): Dictionary {
  const items = new Map(from.items);
  change(items);
  return new Dictionary(items, from.like);
}

function dictionaryItem(pair: Value): DictionaryItem {
  const [key, value] = pair instanceof FluxRecord ? [pair.get("key"), pair.get("value")] : [];
  if (key === undefined || value === undefined) throw new FluxError("pairs must be records with a key and a value");
  return { key, value };
}

export const DICT: LibraryPackage = {
  path: "dict",
  name: "dict",
  source: `
builtin fromList : (pairs: [{key: K, value: V}]) => [K:V] where K: Comparable
builtin get : (dict: [K:V], key: K, default: V) => V where K: Comparable
builtin insert : (dict: [K:V], key: K, value: V) => [K:V] where K: Comparable
builtin remove : (dict: [K:V], key: K) => [K:V] where K: Comparable
`,
  natives: {
    fromList: (call) => {
      const list = call.array("pairs");
      if (list.like === null) throw new FluxError("invalid key nature: invalid");
      const items = list.items.map(dictionaryItem).map((item) => [dictionaryKey(item.key), item] as const);
      return new Dictionary(new Map(items), dictionaryItem(list.like));
    },
    get: (call) => call.dictionary("dict").items.get(dictionaryKey(call.value("key")))?.value ?? call.value("default"),
    insert: (call) => {
      const [key, value] = [call.value("key"), call.value("value")];
      if (isNull(key)) throw new FluxError("null value cannot be used as a dictionary key");
      return changed(call.dictionary("dict"), (items) => items.set(dictionaryKey(key), { key, value }));
    },
    remove: (call) => changed(call.dictionary("dict"), (items) => items.delete(dictionaryKey(call.value("key")))),
  },
};
