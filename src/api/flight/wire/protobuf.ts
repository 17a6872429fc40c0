// Protocol buffers messages declared as tables of fields: a table defines type, reader and writer. Single values are encoded by
// @bufbuild/protobuf; the size of a client's message is limited by gRPC, and decoding allocates no more than that.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { TsdbError } from "../../../model/errors.ts";

interface Scalars {
  readonly string: string;
  readonly bytes: Uint8Array;
  readonly bool: boolean;
  readonly int32: number;
  readonly uint32: number;
  readonly int64: bigint;
  readonly uint64: bigint;
  readonly double: number;
}
type ScalarName = keyof Scalars;

/** `T` is the member's type. `packed`: numbers of a list may be encoded in one piece. */
export interface ProtoField<T> {
  readonly number: number;
  readonly wireType: WireType;
  readonly packed: boolean;
  /** The member's value before any was read. */
  empty(): T;
  /** Reads one value and combines it with the previous one. */
  read(reader: BinaryReader, before: T): T;
  write(writer: BinaryWriter, value: T): void;
}
type Fields = Readonly<Record<string, ProtoField<unknown>>>;
type Members<F extends Fields> = { readonly [K in keyof F]: F[K] extends ProtoField<infer T> ? T : never };

export interface ProtoMessage<M> {
  readonly name: string;
  /** `bytes` are borrowed: members of type bytes are views of them. @throws TsdbError bad_request */
  decode(bytes: Uint8Array): M;
  /** Omitted members have their defaults. */
  encode(message: Partial<M>): Uint8Array<ArrayBuffer>;
}
export type MessageOf<T> = T extends ProtoMessage<infer M> ? M : never;

interface Scalar<T> {
  readonly wireType: WireType;
  readonly zero: T;
  read(reader: BinaryReader): T;
  write(writer: BinaryWriter, value: T): void;
}

/** Elements of a list: an empty message takes two bytes of its list and a hundred times that as an object. */
const ELEMENTS_MAX = 65_536;

const NO_BYTES = new Uint8Array(0);
const SCALARS: { readonly [K in ScalarName]: Scalar<Scalars[K]> } = {
  string: { wireType: WireType.LengthDelimited, zero: "", read: (r) => r.string(true), write: (w, value) => void w.string(value) },
  bytes: { wireType: WireType.LengthDelimited, zero: NO_BYTES, read: (r) => r.bytes(), write: (w, value) => void w.bytes(value) },
  bool: { wireType: WireType.Varint, zero: false, read: (r) => r.bool(), write: (w, value) => void w.bool(value) },
  int32: { wireType: WireType.Varint, zero: 0, read: (r) => r.int32(), write: (w, value) => void w.int32(value) },
  uint32: { wireType: WireType.Varint, zero: 0, read: (r) => r.uint32(), write: (w, value) => void w.uint32(value) },
  int64: { wireType: WireType.Varint, zero: 0n, read: (r) => BigInt(r.int64()), write: (w, value) => void w.int64(value) },
  uint64: { wireType: WireType.Varint, zero: 0n, read: (r) => BigInt(r.uint64()), write: (w, value) => void w.uint64(value) },
  double: { wireType: WireType.Bit64, zero: 0, read: (r) => r.double(), write: (w, value) => void w.double(value) },
};

const isZero = (value: unknown) => value === "" || value === 0 || value === 0n || value === false || isEmptyBytes(value);
const isEmptyBytes = (value: unknown) => value instanceof Uint8Array && value.length === 0;

/** A member with a default, which is not sent. */
export function plain<K extends ScalarName>(number: number, kind: K): ProtoField<Scalars[K]> {
  const scalar = SCALARS[kind] as Scalar<Scalars[K]>;
  return {
    number,
    wireType: scalar.wireType,
    packed: false,
    empty: () => scalar.zero,
    read: (reader) => scalar.read(reader),
    write: (writer, value) => {
      if (!isZero(value)) writeTagged(writer, number, scalar, value);
    },
  };
}

/** A member that may be absent. */
export function optional<K extends ScalarName>(number: number, kind: K): ProtoField<Scalars[K] | undefined> {
  return single(number, SCALARS[kind] as Scalar<Scalars[K]>);
}

/** A list of scalars. */
export function repeated<K extends ScalarName>(number: number, kind: K): ProtoField<readonly Scalars[K][]> {
  return list(number, SCALARS[kind] as Scalar<Scalars[K]>, kind !== "string" && kind !== "bytes");
}

/** A message within a message. */
export function nested<M>(number: number, message: ProtoMessage<M>): ProtoField<M | undefined> {
  return single(number, messageScalar(message));
}

/** A list of messages. */
export function repeatedMessage<M>(number: number, message: ProtoMessage<M>): ProtoField<readonly M[]> {
  return list(number, messageScalar(message), false);
}

function single<T>(number: number, scalar: Scalar<T>): ProtoField<T | undefined> {
  return {
    number,
    wireType: scalar.wireType,
    packed: false,
    empty: () => undefined,
    read: (reader) => scalar.read(reader),
    write: (writer, value) => {
      if (value !== undefined) writeTagged(writer, number, scalar, value);
    },
  };
}

function messageScalar<M>(message: ProtoMessage<M>): Scalar<M> {
  return {
    wireType: WireType.LengthDelimited,
    zero: undefined as M,
    read: (reader) => message.decode(reader.bytes()),
    write: (writer, value) => void writer.bytes(message.encode(value)),
  };
}

function list<T>(number: number, scalar: Scalar<T>, packed: boolean): ProtoField<readonly T[]> {
  return {
    number,
    wireType: scalar.wireType,
    packed,
    empty: () => [],
    read: (reader, before) => {
      if (before.length === ELEMENTS_MAX) throw new Error(`field ${number} has more than ${ELEMENTS_MAX} elements`);
      // `empty` created the list for this message alone
      (before as T[]).push(scalar.read(reader));
      return before;
    },
    write: (writer, values) => {
      for (const value of values) writeTagged(writer, number, scalar, value);
    },
  };
}

function writeTagged<T>(writer: BinaryWriter, number: number, scalar: Scalar<T>, value: T): void {
  writer.tag(number, scalar.wireType);
  scalar.write(writer, value);
}

/** @param name the full name, as in an Any's type URL */
export function message<F extends Fields>(name: string, fields: F): ProtoMessage<Members<F>> {
  const byNumber = new Map(Object.entries(fields).map(([key, field]) => [field.number, { key, field }]));
  return {
    name,
    decode(bytes) {
      const members: Record<string, unknown> = {};
      for (const { key, field } of byNumber.values()) members[key] = field.empty();
      try {
        readFields(new BinaryReader(bytes), byNumber, members);
      } catch (error) {
        if (error instanceof TsdbError) throw error;
        throw new TsdbError("bad_request", `invalid protobuf: cannot read ${name}: ${(error as Error).message}`, { message: name });
      }
      return members as Members<F>;
    },
    encode(members) {
      const writer = new BinaryWriter();
      for (const { key, field } of byNumber.values()) {
        const value = (members as Record<string, unknown>)[key];
        if (value !== undefined) field.write(writer, value);
      }
      return writer.finish();
    },
  };
}

type ByNumber = ReadonlyMap<number, { readonly key: string; readonly field: ProtoField<unknown> }>;

/** Unknown fields are skipped, as the format requires. */
function readFields(reader: BinaryReader, byNumber: ByNumber, members: Record<string, unknown>): void {
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const known = byNumber.get(number);
    if (known === undefined) {
      reader.skip(wireType, number);
      continue;
    }
    const { key, field } = known;
    if (wireType === field.wireType) members[key] = field.read(reader, members[key]);
    else if (field.packed && wireType === WireType.LengthDelimited) members[key] = readPacked(reader, field, members[key]);
    else throw new Error(`field ${number} has wire type ${wireType}, want ${field.wireType}`);
    checkEnd(reader);
  }
}

function readPacked(reader: BinaryReader, field: ProtoField<unknown>, before: unknown): unknown {
  const values = new BinaryReader(reader.bytes());
  let joined = before;
  while (values.pos < values.len) joined = field.read(values, joined);
  checkEnd(values);
  return joined;
}

function checkEnd({ pos, len }: BinaryReader): void {
  if (pos > len) throw new Error("it ends within a value");
}
