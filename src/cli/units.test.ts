// Sizes, durations, addresses: what is read, and what is refused instead of guessed.
import { expect, test } from "bun:test";
import { isLoopback, parseAddress, parseDurationMs, parseSize, showBytes } from "./units.ts";

test.each([
  ["0", 0],
  ["4096", 4096],
  ["10mb", 10_000_000],
  ["10 MB", 10_000_000],
  ["1GiB", 2 ** 30],
  ["512k", 524_288],
  ["1.5g", 1_610_612_736],
  ["7b", 7],
  ["1TiB", 2 ** 40],
  ["20%", 200],
  ["0.05%", 0],
  ["100 %", 1000],
  ["", null],
  ["-1", null],
  ["1e3", null],
  ["0x10", null],
  ["10 mega", null],
  ["101%", null],
  ["1.", null],
  ["mb", null],
  ["1 constructor", null],
  ["99999999999999999999", null],
])("size %j is %p", (text, want) => expect(parseSize(text, 1000)).toBe(want));

test.each([
  ["0", 0],
  ["100ms", 100],
  ["1s", 1000],
  ["10m", 600_000],
  ["1h30m", 5_400_000],
  ["1h 30m", 5_400_000],
  ["2 days", 172_800_000],
  ["1.5s", 1500],
  ["500us", 0.5],
  ["1w", 604_800_000],
  ["30 SEC", null],
  ["1", null],
  ["", null],
  ["s", null],
  ["-1s", null],
  ["1s2", null],
  ["1x", null],
  ["1s,2s", null],
  ["1 toString", null],
])("duration %j is %p", (text, want) => expect(parseDurationMs(text)).toBe(want));

test.each([
  ["127.0.0.1:8181", { hostname: "127.0.0.1", port: 8181 }],
  ["localhost:0", { hostname: "localhost", port: 0 }],
  ["[::1]:8181", { hostname: "::1", port: 8181 }],
  ["[fe80::1%eth0]:65535", { hostname: "fe80::1%eth0", port: 65_535 }],
  ["::1:8181", null],
  ["8181", null],
  [":8181", null],
  ["localhost", null],
  ["localhost:", null],
  ["localhost:65536", null],
  ["localhost:-1", null],
  ["http://localhost:8181", null],
  ["[]:1", null],
  ["[::1]", null],
])("address %j", (text, want) => expect(parseAddress(text)).toEqual(want));

test.each([
  ["127.0.0.1", true],
  ["127.255.0.9", true],
  ["::1", true],
  ["LocalHost", true],
  ["::ffff:127.0.0.1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["10.0.0.1", false],
  ["127.0.0.1.example.org", false],
  ["localhost.example.org", false],
])("%s is loopback: %p", (hostname, want) => expect(isLoopback(hostname)).toBe(want));

test.each([
  [0, "0"],
  [1023, "1023"],
  [1024, "1KiB"],
  [10 * 2 ** 20, "10MiB"],
  [1500 * 2 ** 20, "1500MiB"],
  [3 * 2 ** 30, "3GiB"],
])("%d bytes are shown as %s", (bytes, want) => expect(showBytes(bytes)).toBe(want));
