// Reads single values of a parameter column from Arrow buffers, in the form that statements accept: numbers, texts, booleans. Other types
// are converted to text, with a kind that describes its meaning.
import { near, TsdbError } from "../../../model/errors.ts";
import type { FlatTable } from "../wire/flatbuffer.ts";
import {
  dateText,
  decimalKind,
  decimalText,
  durationKind,
  intervalText,
  type ParameterKind,
  type ParameterValue,
  type TimeUnit,
  timestampKind,
  timestampText,
  timeText,
} from "./parameter-kinds.ts";

/** An Arrow type of Schema.fbs: the number of its table, and the table. */
export interface ArrowType {
  readonly id: number;
  readonly table: FlatTable | null;
}

export interface IntType {
  readonly bits: number;
  readonly isSigned: boolean;
}

/** Buffers of a column in order; each has the length that its message claims, which may be too short. */
export type Buffers = readonly (Uint8Array | undefined)[];

/** Reads the values of one type. */
export interface ValueReader {
  /** Including the validity; view columns have the additional buffers listed in the batch. */
  readonly bufferCount: number;
  readonly isView: boolean;
  readonly kind: ParameterKind;
  /** Reads the value of a present row. @throws RangeError, TsdbError for positions outside the buffers */
  read(buffers: Buffers, at: number): ParameterValue;
}

const TYPE = {
  ...{ null: 1, int: 2, float: 3, binary: 4, utf8: 5, bool: 6, decimal: 7, date: 8, time: 9, timestamp: 10, interval: 11 },
  ...{ fixedBinary: 15, duration: 18, largeBinary: 19, largeUtf8: 20, binaryView: 23, utf8View: 24 },
} as const;
const TYPE_NAMES = `none null int float binary utf8 bool decimal date time timestamp interval list struct union fixed-size-binary
  fixed-size-list map duration large-binary large-utf8 large-list run-end-encoded binary-view utf8-view list-view large-list-view`.split(
  /\s+/,
);

const UNITS = ["s", "ms", "us", "ns"] as const satisfies TimeUnit[];
const INTERVAL = { yearMonth: 0, dayTime: 1, monthDayNano: 2 } as const;
const NS_PER_MS = 1_000_000n;
const FLOAT = { half: 0, single: 1, double: 2 } as const;
const DAY_MS = 86_400_000;

/** The error for an Arrow stream that cannot be read. */
export function unreadable(why: string, cause?: unknown): TsdbError {
  return new TsdbError("bad_request", `cannot read the parameters as Arrow data: ${near(why, 100)}`, {}, { cause });
}

/** The reader for a column; null if every value is NULL. @throws TsdbError bad_request for a type whose values cannot be bound */
export function readerOf(name: string, { id, table }: ArrowType): ValueReader | null {
  const cannotBind = (type: string) => new TsdbError("bad_request", `parameter ${near(name)}: a value of type ${type} cannot be bound`);
  switch (id) {
    case TYPE.null:
      return null;
    case TYPE.bool:
      return fixed("bool", (view, at) => ((view.getUint8(at >>> 3) >>> (at & 7)) & 1) === 1);
    case TYPE.int: {
      const type = intType(table);
      return fixed(type.isSigned ? "int" : "uint", (view, at) => intValue(view, type, at));
    }
    case TYPE.float: {
      const precision = table?.int16(0, 0) ?? 0;
      if (precision > FLOAT.double) throw cannotBind(`float of precision ${precision}`);
      return fixed("float", (view, at) => floatValue(view, precision, at));
    }
    case TYPE.decimal: {
      const [precision, scale, bits] = [table?.int32(0, 0) ?? 0, table?.int32(1, 0) ?? 0, table?.int32(2, 128) ?? 128];
      const kind = decimalKind({ precision, scale });
      if (kind === null) throw cannotBind(`decimal(${precision}, ${scale})`);
      if (!DECIMAL_BITS.has(bits)) throw cannotBind(`decimal of ${bits} bits`);
      return fixed(kind, (view, at) => decimalText(wideInt(view, bits, at), scale));
    }
    case TYPE.date: {
      const isDays = (table?.int16(0, 1) ?? 1) === 0;
      return fixed("date", (view, at) => dateText(isDays ? view.getInt32(at * 4, true) * DAY_MS : Number(view.getBigInt64(at * 8, true))));
    }
    case TYPE.time: {
      const unit = unitOf(table, 1);
      const isWide = (table?.int32(1, 32) ?? 32) === 64;
      return fixed("time", (view, at) => timeText(isWide ? Number(view.getBigInt64(at * 8, true)) : view.getInt32(at * 4, true), unit));
    }
    case TYPE.timestamp: {
      const unit = unitOf(table, 0);
      const zone = table?.text(1) ?? "";
      const kind = timestampKind(unit, zone);
      if (kind === null) throw cannotBind(`timestamp in the zone ${near(zone)}`);
      return fixed(kind, (view, at) => timestampText(view.getBigInt64(at * 8, true), unit));
    }
    case TYPE.duration:
      return fixed(durationKind(unitOf(table, 1)), (view, at) => view.getBigInt64(at * 8, true));
    case TYPE.interval:
      return intervalReader(table?.int16(0, 0) ?? 0, cannotBind);
    case TYPE.utf8:
      return ranged("text", int32Range, textOf);
    case TYPE.largeUtf8:
      return ranged("text", int64Range, textOf);
    case TYPE.utf8View:
      return viewed("text", textOf);
    case TYPE.binary:
      return ranged("binary", int32Range, hexOf);
    case TYPE.largeBinary:
      return ranged("binary", int64Range, hexOf);
    case TYPE.binaryView:
      return viewed("binary", hexOf);
    case TYPE.fixedBinary: {
      const width = table?.int32(0, 0) ?? 0;
      return {
        ...{ bufferCount: 2, isView: false, kind: "binary" },
        read: ([, bytes], at) => hexOf(cut(bytes, at * width, (at + 1) * width)),
      };
    }
    default:
      throw cannotBind(TYPE_NAMES[id] ?? String(id));
  }
}

/** The integer type of a flatbuffer table. */
export function intType(type: FlatTable | null): IntType {
  return type === null ? { bits: 32, isSigned: true } : { bits: type.int32(0, 0), isSigned: type.byte(1) !== 0 };
}

/** Reads the integer at index `at`. */
export function intValue(view: DataView, { bits, isSigned }: IntType, at: number): bigint {
  if (bits === 8) return BigInt(isSigned ? view.getInt8(at) : view.getUint8(at));
  if (bits === 16) return BigInt(isSigned ? view.getInt16(at * 2, true) : view.getUint16(at * 2, true));
  if (bits === 32) return BigInt(isSigned ? view.getInt32(at * 4, true) : view.getUint32(at * 4, true));
  if (bits === 64) return isSigned ? view.getBigInt64(at * 8, true) : view.getBigUint64(at * 8, true);
  throw unreadable(`integers of ${bits} bits`);
}

/** A DataView of a buffer. @throws TsdbError if it is missing */
export function viewOf(bytes: Uint8Array | undefined): DataView {
  if (bytes === undefined) throw unreadable("a buffer is missing");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fixed(kind: ParameterKind, value: (view: DataView, at: number) => ParameterValue): ValueReader {
  return { bufferCount: 2, isView: false, kind, read: ([, values], at) => value(viewOf(values), at) };
}

type Range = readonly [start: number, end: number];

function ranged(kind: ParameterKind, range: (view: DataView, at: number) => Range, value: (bytes: Uint8Array) => string): ValueReader {
  return { bufferCount: 3, isView: false, kind, read: ([, offsets, bytes], at) => value(cut(bytes, ...range(viewOf(offsets), at))) };
}

const int32Range = (view: DataView, at: number): Range => [view.getInt32(at * 4, true), view.getInt32(at * 4 + 4, true)];
const int64Range = (view: DataView, at: number): Range => [
  Number(view.getBigInt64(at * 8, true)),
  Number(view.getBigInt64(at * 8 + 8, true)),
];

/** | length i32 | up to 12 bytes | or | length i32 | 4 first bytes | buffer i32 | offset i32 | */
function viewed(kind: ParameterKind, value: (bytes: Uint8Array) => string): ValueReader {
  return {
    ...{ bufferCount: 2, isView: true, kind },
    read([, views, ...buffers], at) {
      const view = viewOf(views);
      const length = view.getInt32(at * 16, true);
      if (length <= 12) return value(cut(views, at * 16 + 4, at * 16 + 4 + length));
      const start = view.getInt32(at * 16 + 12, true);
      return value(cut(buffers[view.getInt32(at * 16 + 8, true)], start, start + length));
    },
  };
}

function cut(bytes: Uint8Array | undefined, start: number, end: number): Uint8Array {
  if (bytes === undefined || start < 0 || end < start || end > bytes.length) throw unreadable("a text lies outside of its buffer");
  return bytes.subarray(start, end);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function hexOf(bytes: Uint8Array): string {
  return bytes.toHex();
}

function floatValue(view: DataView, precision: number, at: number): number {
  if (precision === FLOAT.double) return view.getFloat64(at * 8, true);
  return precision === FLOAT.single ? view.getFloat32(at * 4, true) : view.getFloat16(at * 2, true);
}

const DECIMAL_BITS: ReadonlySet<number> = new Set([32, 64, 128, 256]);

/** A signed integer of 32 bits, or of several 64-bit words, lowest first. */
function wideInt(view: DataView, bits: number, at: number): bigint {
  if (bits === 32) return BigInt(view.getInt32(at * 4, true));
  const words = bits / 64;
  let value = view.getBigInt64((at * words + words - 1) * 8, true);
  for (let word = words - 2; word >= 0; word--) value = (value << 64n) | view.getBigUint64((at * words + word) * 8, true);
  return value;
}

function unitOf(table: FlatTable | null, absent: number): TimeUnit {
  return UNITS[table?.int16(0, absent) ?? absent] ?? "ns";
}

/** | months i32 | or | days i32 | milliseconds i32 | or | months i32 | days i32 | nanoseconds i64 | */
function intervalReader(unit: number, cannotBind: (type: string) => TsdbError): ValueReader {
  if (unit === INTERVAL.yearMonth) {
    return fixed("interval", (view, at) => intervalText({ months: view.getInt32(at * 4, true), days: 0, ns: 0n }));
  }
  if (unit === INTERVAL.dayTime) {
    return fixed("interval", (view, at) => {
      const ns = BigInt(view.getInt32(at * 8 + 4, true)) * NS_PER_MS;
      return intervalText({ months: 0, days: view.getInt32(at * 8, true), ns });
    });
  }
  if (unit !== INTERVAL.monthDayNano) throw cannotBind(`interval of unit ${unit}`);
  return fixed("interval", (view, at) => {
    const [months, days] = [view.getInt32(at * 16, true), view.getInt32(at * 16 + 4, true)];
    return intervalText({ months, days, ns: view.getBigInt64(at * 16 + 8, true) });
  });
}
