// Thrift's compact protocol against bytes worked out by hand, and against itself.
import { expect, test } from "bun:test";
import { readThrift, type ThriftStruct, ThriftType, writeThrift } from "./thrift.ts";

const inner: ThriftStruct = new Map([[200, { type: ThriftType.binary, value: new TextEncoder().encode("text") }]]);
const STRUCT: ThriftStruct = new Map([
  [1, { type: ThriftType.i32, value: -1n }],
  [2, { type: ThriftType.true, value: true }],
  [3, { type: ThriftType.false, value: false }],
  [5, { type: ThriftType.i64, value: 2n ** 63n - 1n }],
  [6, { type: ThriftType.i64, value: -(2n ** 63n) }],
  [7, { type: ThriftType.i8, value: -128n }],
  [8, { type: ThriftType.double, value: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) }],
  [9, { type: ThriftType.i16, value: 300n }],
  [10, { type: ThriftType.list, value: { itemType: ThriftType.i32, items: Array.from({ length: 20 }, (_, item) => BigInt(item)) } }],
  [11, { type: ThriftType.list, value: { itemType: ThriftType.true, items: [true, false] } }],
  [12, { type: ThriftType.list, value: { itemType: ThriftType.struct, items: [inner, new Map()] } }],
  [300, { type: ThriftType.struct, value: inner }],
]);

test("a Thrift struct is written and read back", () => {
  expect(readThrift(writeThrift(STRUCT))).toEqual(STRUCT);
});

// By hand from the specification: field header = delta << 4 | type, zigzag varints, 0 ends a struct.
const BYTES: [struct: ThriftStruct, bytes: number[]][] = [
  [new Map(), [0]],
  [new Map([[1, { type: ThriftType.i32, value: 1n }]]), [0x15, 2, 0]],
  [new Map([[16, { type: ThriftType.i64, value: -3n }]]), [0x06, 32, 5, 0]],
  [new Map([[2, { type: ThriftType.false, value: false }]]), [0x22, 0]],
  [new Map([[1, { type: ThriftType.binary, value: Uint8Array.of(65) }]]), [0x18, 1, 65, 0]],
  [new Map([[1, { type: ThriftType.list, value: { itemType: ThriftType.i32, items: [150n] } }]]), [0x19, 0x15, 0xac, 0x02, 0]],
];

test.each(BYTES)("Thrift bytes of %p", (struct, bytes) => {
  expect([...writeThrift(struct)]).toEqual(bytes);
  expect(readThrift(Uint8Array.from(bytes))).toEqual(struct);
});

test("a struct cut anywhere is noticed", () => {
  const bytes = writeThrift(STRUCT);
  for (let end = 0; end < bytes.length; end++) expect(() => readThrift(bytes.subarray(0, end))).toThrow("thrift ends early");
});
