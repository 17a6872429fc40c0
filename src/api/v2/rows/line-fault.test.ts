// What is said of lines that cannot be parsed, beside those of the recorded conversations.
import { expect, test } from "bun:test";
import { faultMessage, lineFault, measurementOf } from "./line-fault.ts";

const NS = 1n;

test.each([
  ["m f=1 1", null],
  ['m,a=b f=1,g=-2i,h=3u,i=t,j="x y, z=" 5', null],
  ["m\\ x\\,y,a\\ b=c\\=d f\\,g=1", null],
  ['m f="a\\"b",g=1', null],
  ["m f=1e5,g=-1.5E-3,h=.5,i=1.", null],
  ["m f=9223372036854775807i,g=-9223372036854775808i,h=18446744073709551615u", null],
  ["m f=9223372036854775808i", "unable to parse integer 9223372036854775808: value out of range"],
  ["m f=18446744073709551616u", "unable to parse unsigned 18446744073709551616: value out of range"],
  ["m f=1 2 3", "point is invalid"],
  ["m f=1 --2", "bad timestamp"],
  [`${"k".repeat(65_536)} f=1`, "max key length exceeded: 65536 > 65535"],
  ["m,a=1,a=1 f=1", "duplicate tags"],
  ["", "missing fields"],
] as const)("%p", (line, fault) => expect(lineFault(line, NS)).toBe(fault));

test("times are compared in nanoseconds", () => {
  expect(lineFault("m f=1 9223372036", 1_000_000_000n)).toBeNull();
  expect(lineFault("m f=1 9223372037", 1_000_000_000n)).toStartWith("time outside range");
  // recorded: also where something follows
  expect(lineFault("m f=1 1577836800000000000 1", 1_000_000_000n)).toStartWith("time outside range");
  expect(lineFault("m f=1 - 1", NS)).toBe("bad timestamp");
});

test("a message has a part of a long line", () => {
  expect(faultMessage(`m f=${"x".repeat(10_000)}`, "invalid boolean").length).toBeLessThan(1100);
});

test("measurements lose their escapes", () => {
  expect(measurementOf("m\\ x\\,y,a=b f=1")).toBe("m x,y");
  expect(measurementOf("  m f=1")).toBe("m");
});
