// The one row that an Arrow stream of parameters holds, as plain values. The stream is a client's, so nothing of it is trusted: the Arrow
// library goes through whatever a message claims to hold, for minutes if need be; this reader looks at one row and at plain types only.
import { ByteWriter } from "../arrow/byte-writer.ts";
import { TimestampText } from "../arrow/clock-text.ts";
import { near, TsdbError } from "../model/errors.ts";
import type { QueryParams } from "../model/query.ts";
import { FlatTable } from "./flatbuffer.ts";
import type { IpcMessage } from "./ipc-messages.ts";

type Value = QueryParams[string];

// Members of the tables in Arrow's Message.fbs and Schema.fbs, by their place.
const MESSAGE = { headerType: 1, header: 2 } as const;
const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
const FIELD = { name: 0, typeId: 2, type: 3, dictionary: 4 } as const;
const BATCH = { length: 0, nodes: 1, buffers: 2, compression: 3 } as const;
const TYPE = { null: 1, int: 2, float: 3, utf8: 5, bool: 6, decimal: 7, date: 8, timestamp: 10, largeUtf8: 20 } as const;
const TYPE_NAMES = `none null int float binary utf8 bool decimal date time timestamp interval list struct union fixed-size-binary
  fixed-size-list map duration large-binary large-utf8 large-list run-end-encoded binary-view utf8-view list-view large-list-view`.split(
  /\s+/,
);

interface Column {
  readonly name: string;
  readonly typeId: number;
  readonly type: FlatTable | null;
  /** The dictionary that the values are in, and how wide the codes are; null: the values are in the batch. */
  readonly dictionary: { readonly id: bigint; readonly code: IntType } | null;
}

interface IntType {
  readonly bits: number;
  readonly isSigned: boolean;
}

/** Buffers of a record batch. */
interface Batch {
  readonly length: number;
  readonly buffers: readonly Uint8Array[];
}

/** Names and values, in the order of the columns; none when there is no row. @throws TsdbError bad_request */
export function readRow(messages: readonly IpcMessage[]): [name: string, value: Value][] {
  try {
    return rowOf(messages);
  } catch (error) {
    if (error instanceof TsdbError) throw error;
    throw unreadable((error as Error).message, error);
  }
}

function unreadable(why: string, cause?: unknown): TsdbError {
  return new TsdbError("bad_request", `cannot read the parameters as Arrow data: ${near(why, 100)}`, {}, { cause });
}

function rowOf(messages: readonly IpcMessage[]): [string, Value][] {
  let columns: readonly Column[] | undefined;
  let row: [string, Value][] = [];
  const dictionaries = new Map<bigint, Batch>();
  for (const { header, body } of messages) {
    const message = FlatTable.root(header);
    const content = message.table(MESSAGE.header);
    const kind = message.byte(MESSAGE.headerType);
    if (content === null) throw unreadable("a message without content");
    if (kind === HEADER.schema) {
      columns = content.tables(1).map(columnOf);
      continue;
    }
    if (columns === undefined) throw unreadable("a schema must come first");
    if (kind === HEADER.dictionary) {
      const data = content.table(1);
      if (data === null || content.byte(2) !== 0) throw unreadable("a dictionary that is none, or goes on with another one");
      dictionaries.set(content.int64(0), batchOf(data, body, 3));
    } else if (kind === HEADER.batch) {
      const batch = batchOf(content, body, columns.length * 3);
      if (batch.length === 0) continue;
      if (batch.length > 1 || row.length > 0)
        throw new TsdbError("bad_request", `parameters are one row, got ${batch.length + row.length}`);
      row = valuesOf(columns, batch, dictionaries);
    } else throw unreadable(`a message of kind ${kind}`);
  }
  if (columns === undefined) throw unreadable("there is no schema");
  return row;
}

function columnOf(field: FlatTable): Column {
  const encoding = field.table(FIELD.dictionary);
  const name = field.text(FIELD.name);
  const typeId = field.byte(FIELD.typeId);
  const isKnown = (Object.values(TYPE) as number[]).includes(typeId);
  if (!isKnown) throw cannotBind(name, TYPE_NAMES[typeId] ?? String(typeId));
  return {
    name,
    typeId,
    type: field.table(FIELD.type),
    dictionary: encoding === null ? null : { id: encoding.int64(0), code: intType(encoding.table(1)) },
  };
}

function cannotBind(name: string, type: string): TsdbError {
  return new TsdbError("bad_request", `parameter ${near(name)}: a value of type ${type} cannot be bound`);
}

function intType(type: FlatTable | null): IntType {
  return type === null ? { bits: 32, isSigned: true } : { bits: type.int32(0, 0), isSigned: type.byte(1) !== 0 };
}

/** `buffersMax`: more than that no known batch has. */
function batchOf(batch: FlatTable, body: Uint8Array, buffersMax: number): Batch {
  if (batch.table(BATCH.compression) !== null) throw unreadable("it is compressed");
  const { start, count } = batch.vector(BATCH.buffers, 16) ?? { start: 0, count: 0 };
  if (count > buffersMax) throw unreadable(`${count} buffers, at most ${buffersMax} were expected`);
  const buffers = Array.from({ length: count }, (_, i) => {
    const [from, length] = [0, 8].map((offset) => Number(batch.view.getBigInt64(start + i * 16 + offset, true))) as [number, number];
    if (from < 0 || length < 0 || from + length > body.length) throw unreadable(`buffer ${i} lies outside of its message`);
    return body.subarray(from, from + length);
  });
  const length = Number(batch.int64(BATCH.length));
  if (length < 0) throw unreadable(`a batch of ${length} rows`);
  return { length, buffers };
}

function valuesOf(columns: readonly Column[], { buffers }: Batch, dictionaries: ReadonlyMap<bigint, Batch>): [string, Value][] {
  let next = 0;
  return columns.map((column) => {
    const { name, typeId, type, dictionary } = column;
    if (typeId === TYPE.null) return [name, null];
    const own = buffers.slice(next, next + (dictionary === null ? buffersOf(typeId) : 2));
    next += own.length;
    if (dictionary === null) return [name, readValue(name, typeId, type, own, 0)];
    if (!isPresent(own[0], 0)) return [name, null];
    const code = Number(intValue(own[1]!, dictionary.code, 0));
    const values = dictionaries.get(dictionary.id);
    if (values === undefined || code < 0 || code >= values.length) throw unreadable(`parameter ${near(name)} is not in its dictionary`);
    return [name, readValue(name, typeId, type, values.buffers, code)];
  });
}

/** Validity and values; texts have offsets between them. */
function buffersOf(typeId: number): number {
  return typeId === TYPE.utf8 || typeId === TYPE.largeUtf8 ? 3 : 2;
}

/** Without a bitmap everything is present. */
function isPresent(validity: Uint8Array | undefined, at: number): boolean {
  if (validity === undefined || validity.length === 0) return true;
  if (at >>> 3 >= validity.length) throw unreadable("a bitmap is too short");
  return ((validity[at >>> 3]! >>> (at & 7)) & 1) === 1;
}

function viewOf(bytes: Uint8Array | undefined): DataView {
  if (bytes === undefined) throw unreadable("a buffer is missing");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readValue(name: string, typeId: number, type: FlatTable | null, buffers: readonly Uint8Array[], at: number): Value {
  const [validity, values, texts] = buffers;
  if (!isPresent(validity, at)) return null;
  const view = viewOf(values);
  switch (typeId) {
    case TYPE.bool:
      return ((view.getUint8(at >>> 3) >>> (at & 7)) & 1) === 1;
    case TYPE.int:
      return intValue(values!, intType(type), at);
    case TYPE.float:
      return floatValue(name, view, type?.int16(0, 0) ?? 0, at);
    case TYPE.decimal:
      return decimalValue(name, view, type, at);
    case TYPE.utf8:
      return textBetween(texts, view.getInt32(at * 4, true), view.getInt32(at * 4 + 4, true));
    case TYPE.largeUtf8:
      return textBetween(texts, Number(view.getBigInt64(at * 8, true)), Number(view.getBigInt64(at * 8 + 8, true)));
    case TYPE.timestamp:
      return timeText(view.getBigInt64(at * 8, true), UNITS[type?.int16(0, 0) ?? 0] ?? "ns");
    case TYPE.date:
      return dateText((type?.int16(0, 1) ?? 1) === 0 ? view.getInt32(at * 4, true) * DAY_MS : Number(view.getBigInt64(at * 8, true)));
    default:
      throw cannotBind(name, TYPE_NAMES[typeId] ?? String(typeId));
  }
}

function intValue(bytes: Uint8Array, { bits, isSigned }: IntType, at: number): bigint {
  const view = viewOf(bytes);
  if (bits === 8) return BigInt(isSigned ? view.getInt8(at) : view.getUint8(at));
  if (bits === 16) return BigInt(isSigned ? view.getInt16(at * 2, true) : view.getUint16(at * 2, true));
  if (bits === 32) return BigInt(isSigned ? view.getInt32(at * 4, true) : view.getUint32(at * 4, true));
  if (bits === 64) return isSigned ? view.getBigInt64(at * 8, true) : view.getBigUint64(at * 8, true);
  throw unreadable(`integers of ${bits} bits`);
}

const FLOAT = { half: 0, single: 1, double: 2 } as const;

function floatValue(name: string, view: DataView, precision: number, at: number): number {
  if (precision === FLOAT.double) return view.getFloat64(at * 8, true);
  if (precision === FLOAT.single) return view.getFloat32(at * 4, true);
  if (precision === FLOAT.half) return view.getFloat16(at * 2, true);
  throw cannotBind(name, `float of precision ${precision}`);
}

/** As a number: statements have no decimal parameters. */
function decimalValue(name: string, view: DataView, type: FlatTable | null, at: number): number {
  const bits = type?.int32(2, 128) ?? 128;
  if (bits !== 128) throw cannotBind(name, `decimal of ${bits} bits`);
  const value = (view.getBigInt64(at * 16 + 8, true) << 64n) | view.getBigUint64(at * 16, true);
  return Number(value) / 10 ** (type?.int32(1, 0) ?? 0);
}

function textBetween(bytes: Uint8Array | undefined, start: number, end: number): string {
  if (bytes === undefined || start < 0 || end < start || end > bytes.length) throw unreadable("a text lies outside of its buffer");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end));
}

const UNITS = ["s", "ms", "us", "ns"] as const;
const DAY_MS = 86_400_000;

/** As statements write times; a zone only says how a time is shown. */
function timeText(value: bigint, unit: (typeof UNITS)[number]): string {
  const out = new ByteWriter();
  new TimestampText(out, unit, null).write(Number(value & 0xffffffffn), Number(value >> 32n));
  return new TextDecoder().decode(out.take());
}

function dateText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
