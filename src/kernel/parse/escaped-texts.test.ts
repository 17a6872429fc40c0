// Texts with escapes are copied to a block that is as large as the body: a line that is read twice must not use it twice.
import { expect, test } from "bun:test";
import { Precision } from "../../model/time/precision.ts";
import { Kernel } from "../memory/kernel.ts";
import { LineParser } from "./line-parser.ts";

const GUARD_BYTES = 4096;
const GUARD = 0xab;

/** A kernel whose blocks end with bytes that nobody may write. */
function guardedKernel(): { kernel: Kernel; overwritten: () => number[] } {
  const kernel = Kernel.create();
  const { heap } = kernel;
  const guards: number[] = [];
  const sizes = new Map<number, number>();
  const [alloc, free] = [heap.alloc.bind(heap), heap.free.bind(heap)];
  heap.alloc = (bytes) => {
    const ptr = alloc(bytes + GUARD_BYTES);
    kernel.u8.fill(GUARD, ptr + bytes, ptr + bytes + GUARD_BYTES);
    guards.push(ptr + bytes);
    sizes.set(ptr, bytes);
    return ptr;
  };
  heap.free = (ptr, bytes) => {
    guards.splice(guards.indexOf(ptr + sizes.get(ptr)!), 1);
    free(ptr, bytes + GUARD_BYTES);
  };
  const isWhole = (at: number) => kernel.u8.subarray(at, at + GUARD_BYTES).every((byte) => byte === GUARD);
  return { kernel, overwritten: () => guards.filter((at) => !isWhole(at)) };
}

const ESCAPED = '\\"k\\":\\"v\\",'.repeat(80);

// the line leaves what the lines before it were like: by a field's name, its type, one more or less, its tags, or by being wrong
test.each([
  `log,app=x msg="${ESCAPED}",code=1i 20`,
  `log,app=x msg="${ESCAPED}",status=1.5 20`,
  `log,app=x msg="${ESCAPED}" 20`,
  `log,app=x msg="${ESCAPED}",status=1i,other="${ESCAPED}" 20`,
  `log,app=y msg="${ESCAPED}",code=1i 20`,
  `log,app=x msg="${ESCAPED}",status=wrong 20`,
  `log,app=x msg="${ESCAPED}",msg="${ESCAPED}" 20`,
  `log,app=x msg="${ESCAPED}",new="${ESCAPED}",wrong 20`,
])("%s stays within the memory for texts", (line) => {
  for (const bodies of [[line], [`${line}\n${line}`], [`log,app=x msg="short",status=1i 7\n${line}\n${line}`]]) {
    const { kernel, overwritten } = guardedKernel();
    const parser = new LineParser(kernel);
    const parse = (text: string) =>
      parser.parse(new TextEncoder().encode(`${text}\n`), { precision: Precision.nanosecond, receiveTimeNs: 0n });
    for (let time = 1; time < 5; time++) parse(`log,app=x msg="short",status=1i ${time}`);
    parse('log,app=x msg="short",code=1i 9');
    for (let time = 10; time < 15; time++) parse(`log,app=x msg="short",status=1i ${time}`);
    for (const body of bodies) parse(body);
    expect(overwritten()).toEqual([]);
  }
});

// 0xff is what the names of such columns begin with where they are compared, and is in no text
test.each([
  ["the bytes of a name", "log,app=x a=1i,\xff\xff\xff\xff5 20"],
  ["a byte and the next line", "log,app=x a=1i,\xff\nab5 20"],
])("%s are not the name of a column with escapes", (_, text) => {
  const parser = new LineParser(Kernel.create());
  const parse = (body: string) => parser.parse(Buffer.from(body, "latin1"), { precision: Precision.nanosecond, receiveTimeNs: 0n });
  for (let time = 1; time < 4; time++) parse(`log,app=x a=1i,b\\ c=2 ${time}\n`);
  const { rowCount, errors } = parse(`${text}\n`);
  expect(rowCount).toBe(0);
  expect(errors.length).toBe(text.split("\n").length);
});
