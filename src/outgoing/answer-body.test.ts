// Bodies that arrive in parts, and the memory that all of them share.
import { expect, test } from "bun:test";
import { AnswerBody } from "./answer-body.ts";
import { AnswerMemory } from "./answer-memory.ts";

const KIB = 1024;
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 7) & 255);

test.each([1, 3, 1000, 70 * KIB])("parts of %d bytes are one body", (partBytes) => {
  const memory = new AnswerMemory(1 << 20);
  const sent = bytesOf(70 * KIB);
  const body = new AnswerBody(sent.length, memory);
  for (let at = 0; at < sent.length; at += partBytes) body.append(sent.subarray(at, at + partBytes));
  expect(body.whole()).toEqual(sent);
  expect(() => body.append(Uint8Array.of(1))).toThrow(`the answer is longer than ${70 * KIB} bytes`);
  body.end();
});

test("an empty body", () => {
  const body = new AnswerBody(0, new AnswerMemory(0));
  body.append(new Uint8Array(0));
  expect(body.whole()).toEqual(new Uint8Array(0));
  body.end();
});

test("large bodies share the memory, small ones need none of it", () => {
  const memory = new AnswerMemory(250 * KIB);
  const open = () => new AnswerBody(1 << 20, memory);
  const [first, second, small] = [open(), open(), open()];
  // 112 KiB each, which are 128 without the first 16
  first.append(bytesOf(100 * KIB));
  second.append(bytesOf(100 * KIB));
  expect(() => first.append(bytesOf(100 * KIB))).toThrow(`would take more than ${250 * KIB} bytes; try again`);
  small.append(bytesOf(16 * KIB));
  expect(() => small.append(bytesOf(32 * KIB))).toThrow("try again");
  expect(small.whole()).toEqual(bytesOf(16 * KIB));
  second.end();
  second.end();
  expect(() => second.append(bytesOf(100 * KIB))).toThrow("the request has been given up");
  first.append(bytesOf(50 * KIB));
  expect(first.whole().length).toBe(150 * KIB);
  for (const body of [first, small]) body.end();
  const last = open();
  last.append(bytesOf(250 * KIB));
  expect(last.whole()).toEqual(bytesOf(250 * KIB));
});
