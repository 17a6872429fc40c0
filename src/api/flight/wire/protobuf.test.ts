// Messages against the bytes that the format's own documentation gives, and against bytes that nobody should send.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { TsdbError } from "../../../model/errors.ts";
import { message, nested, optional, plain, repeated, repeatedMessage } from "./protobuf.ts";

const hex = (text: string) => Uint8Array.fromHex(text.replaceAll(" ", ""));

const Inner = message("test.Inner", { a: plain(1, "int32") });
const Test = message("test.Test", {
  number: plain(1, "int32"),
  text: plain(2, "string"),
  inner: nested(3, Inner),
  packed: repeated(4, "uint32"),
  maybe: optional(5, "bool"),
  texts: repeated(6, "string"),
  big: plain(7, "int64"),
  huge: plain(8, "uint64"),
  real: plain(9, "double"),
  bytes: plain(10, "bytes"),
  inners: repeatedMessage(11, Inner),
});
const EMPTY = {
  ...{ number: 0, text: "", inner: undefined, packed: [], maybe: undefined, texts: [], big: 0n, huge: 0n, real: 0 },
  ...{ bytes: new Uint8Array(0), inners: [] },
};

// protobuf.dev, "Encoding"
const DOCUMENTED: [bytes: string, message: object][] = [
  ["", {}],
  ["08 96 01", { number: 150 }],
  ["12 07 74 65 73 74 69 6e 67", { text: "testing" }],
  ["1a 03 08 96 01", { inner: { a: 150 } }],
  // negative numbers take ten bytes
  ["08 fe ff ff ff ff ff ff ff ff 01", { number: -2 }],
  ["38 fe ff ff ff ff ff ff ff ff 01", { big: -2n }],
  ["40 ff ff ff ff ff ff ff ff ff 01", { huge: 2n ** 64n - 1n }],
  ["49 00 00 00 00 00 00 f8 3f", { real: 1.5 }],
  ["52 02 ff 00", { bytes: new Uint8Array([255, 0]) }],
  ["32 01 61 32 00 32 01 62", { texts: ["a", "", "b"] }],
  ["5a 02 08 01 5a 00", { inners: [{ a: 1 }, { a: 0 }] }],
  // a member that may be absent is sent even when it has its default
  ["28 00", { maybe: false }],
];

test.each(DOCUMENTED)("%s, both ways", (bytes, members) => {
  expect(Test.decode(hex(bytes))).toEqual({ ...EMPTY, ...members } as never);
  expect(Test.encode(members).toHex()).toBe(bytes.replaceAll(" ", ""));
});

test("a list has as many elements as parameters have values, and no more", () => {
  const lists = (count: number) => new Uint8Array(2 * count).fill(0x5a).map((byte, i) => (i % 2 === 0 ? byte : 0));
  expect(Test.decode(lists(65_536)).inners.length).toBe(65_536);
  expect(() => Test.decode(lists(65_537))).toThrow("cannot read test.Test: field 11 has more than 65536 elements");
});

describe("read, but written otherwise", () => {
  test.each([
    ["a packed list", "22 06 03 8e 02 9e a7 05", { packed: [3, 270, 86942] }],
    ["a list in single pieces", "20 03 20 8e 02", { packed: [3, 270] }],
    ["a list partly packed and partly in single pieces", "22 01 03 20 04", { packed: [3, 4] }],
    ["the last value of a member counts", "08 01 08 02", { number: 2 }],
    ["a default that is sent all the same", "08 00", {}],
    ["unknown members of every kind", "f0 01 01 f9 01 0000000000000000 fd 01 00000000 fa 01 02 aaaa 08 07", { number: 7 }],
    ["an unknown group", "f3 01 08 01 f4 01 08 07", { number: 7 }],
  ] as const)("%s", (_, bytes, members) => expect(Test.decode(hex(bytes))).toEqual({ ...EMPTY, ...members } as never));
});

describe("malformed messages are refused", () => {
  test.each([
    ["a length beyond the end", "12 05 61", /premature EOF/],
    ["a length of 4 GiB", "12 ff ff ff ff 0f 61", /premature EOF/],
    ["a number that breaks off", "08 96", /./],
    ["a number without an end", "08 ff ff ff ff ff ff ff ff ff ff ff", /./],
    ["field 0", "00 01", /illegal tag/],
    ["wire type 7", "0f", /illegal tag/],
    ["a tag beyond 32 bits", "ff ff ff ff ff 01 00", /illegal tag/],
    ["text where a number belongs", "0a 01 61", /field 1 has wire type 2, want 0/],
    ["a number where text belongs", "10 01", /field 2 has wire type 0, want 2/],
    ["text that is no UTF-8", "12 02 ff fe", /./],
    ["a group that does not end", "f3 01 08 01", /./],
    ["a group that another one ends", "f3 01 fc 01", /invalid end group tag/],
    ["the end of a group that has not begun", "0c", /./],
    ["an inner message that breaks off", "1a 02 08 96", /./],
    ["a packed list that breaks off", "22 01 8e", /./],
  ] as const)("%s", (_, bytes, reason) => {
    const read = () => Test.decode(hex(bytes));
    expect(read).toThrow(TsdbError);
    expect(read).toThrow(/^invalid protobuf: cannot read test\./);
    expect(read).toThrow(reason);
  });

  test("groups in groups, 100,000 deep", () => {
    const deep = new Uint8Array(200_000).fill(0xf3);
    for (let at = 1; at < deep.length; at += 2) deep[at] = 1;
    expect(() => Test.decode(deep)).toThrow("maximum recursion depth reached");
  });
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`random bytes are read or refused, seed ${SEED}`, () => {
  const below = prng(SEED);
  let readCount = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: below(24) }, () => (below(3) === 0 ? below(256) : below(90)));
    try {
      const found = Test.decode(bytes);
      readCount++;
      // what was understood survives the way back
      expect(Test.decode(Test.encode(found))).toEqual(found);
    } catch (error) {
      expect(error).toBeInstanceOf(TsdbError);
    }
  }
  expect(readCount).toBeGreaterThan(100);
});
