// Waits between failed sign-ins, on a clock of the test.
import { describe, expect, test } from "bun:test";
import type { TsdbError } from "../model/errors.ts";
import { GuessLimits } from "./guess-limits.ts";

function world() {
  let nowMs = 1_000_000;
  const limits = new GuessLimits(() => nowMs);
  /** Seconds to wait; 0: the attempt was taken. */
  const fail = (name: string | null, address: string): number => {
    try {
      limits.begin(name, address);
      return 0;
    } catch (error) {
      expect((error as TsdbError).kind).toBe("too_many_requests");
      return (error as TsdbError).details["retryAfterSeconds"] as number;
    }
  };
  return {
    limits,
    fail,
    succeed: (name: string, address: string) => limits.begin(name, address).succeeded(),
    pass: (seconds: number) => {
      nowMs += seconds * 1000;
    },
  };
}

/** Each from another address. */
const stranger = (i: number) => `10.0.${i >> 8}.${i & 255}`;

describe("a name", () => {
  test("is free five times, then waits for twice as long each time, up to a minute", () => {
    const { fail, pass } = world();
    expect(Array.from({ length: 5 }, (_, i) => fail("ann", stranger(i)))).toEqual([0, 0, 0, 0, 0]);
    for (const [i, wait] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      expect(fail("ann", stranger(100 + i))).toBe(wait);
      pass(wait);
      expect(fail("ann", stranger(200 + i))).toBe(0);
    }
  });

  test("waits no longer because others try while it waits", () => {
    const { fail, pass } = world();
    for (let i = 0; i < 5; i++) fail("ann", stranger(i));
    for (let i = 0; i < 1000; i++) expect(fail("ann", stranger(i))).toBe(1);
    pass(1);
    expect(fail("ann", stranger(0))).toBe(0);
  });

  test("is forgotten after a quarter of an hour, and is another one than others", () => {
    const { fail, pass } = world();
    for (let i = 0; i < 5; i++) fail("ann", stranger(i));
    expect([fail("ann", stranger(9)), fail("bob", stranger(9))]).toEqual([1, 0]);
    pass(15 * 60 + 1);
    for (let i = 0; i < 4; i++) expect(fail("ann", stranger(i))).toBe(0);
  });

  test("many attempts at a time are counted before any has ended", () => {
    const { limits, fail } = world();
    for (let i = 0; i < 5; i++) limits.begin("ann", stranger(i));
    expect(fail("ann", stranger(6))).toBe(1);
  });

  test("an attempt that was never checked does not count", () => {
    const { limits, fail } = world();
    for (let i = 0; i < 50; i++) limits.begin("ann", stranger(i)).withdrawn();
    expect(fail("ann", stranger(6))).toBe(0);
  });
});

describe("a user who was here before", () => {
  test("gets in from that address, whatever strangers do", () => {
    const { succeed, fail } = world();
    succeed("ann", "192.0.2.1");
    for (let i = 0; i < 500; i++) fail("ann", stranger(i));
    expect(fail("ann", stranger(0))).toBeGreaterThan(0);
    succeed("ann", "192.0.2.1");
    // and from nowhere else
    expect(fail("ann", "192.0.2.2")).toBeGreaterThan(0);
  });

  test("can be guessed from that address no more often than from others", () => {
    const { succeed, fail } = world();
    succeed("ann", "192.0.2.1");
    expect(Array.from({ length: 6 }, () => fail("ann", "192.0.2.1"))).toEqual([0, 0, 0, 0, 0, 1]);
  });
});

describe("an address", () => {
  test("is free twenty times, with any names or none", () => {
    const { fail } = world();
    for (let i = 0; i < 20; i++) expect(fail(i % 2 === 0 ? `user ${i}` : null, "192.0.2.1")).toBe(0);
    expect([fail("other", "192.0.2.1"), fail("other", "192.0.2.2")]).toEqual([1, 0]);
  });

  test("is not free again because of a user of one's own", () => {
    const { fail, succeed } = world();
    // the first sign-in makes the address one of mallory's
    for (let i = 0; i < 19; i++) fail(`user ${i}`, "192.0.2.1");
    succeed("mallory", "192.0.2.1");
    for (let i = 0; i < 3; i++) succeed("mallory", "192.0.2.1");
    expect([fail("ann", "192.0.2.1"), fail("ann", "192.0.2.1")]).toEqual([0, 1]);
  });

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["::1", "::2", true],
    ["fe80::1%eth0", "fe80::2", true],
    ["::ffff:192.0.2.1", "192.0.2.1", true],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.2", false],
  ])("%s and %s are of one network: %p", (first, second, isSame) => {
    const { fail } = world();
    for (let i = 0; i < 20; i++) fail(`user ${i}`, first);
    expect(fail("other", second)).toBe(isSame ? 1 : 0);
  });
});

test("a flood of names does not free an address", () => {
  const { fail, pass } = world();
  for (let i = 0; i < 20; i++) fail(null, "192.0.2.1");
  let taken = 0;
  for (let i = 0; i < 1000; i++) {
    pass(0.05);
    if (fail(`${i}${"x".repeat(1000)}`, "192.0.2.1") === 0) taken += 1;
  }
  // 50 s in all: waits of 1, 2, 4, 8 and 16 s have ended, the next one takes 32
  expect(taken).toBe(5);
});
