// Hashes of passwords, and what stands for that of a user who is not there.
import { expect, spyOn, test } from "bun:test";
import { hashCostOf, PasswordHasher } from "./passwords.ts";

const CHEAP = { memoryCost: 64, timeCost: 3 };

test("a hash is of its password alone, and costs what was set", async () => {
  const hasher = new PasswordHasher(CHEAP);
  const hash = await hasher.hash("open sesame");
  expect(hash).toStartWith("$argon2id$v=19$m=64,t=3,p=1$");
  expect(await Promise.all(["open sesame", "open Sesame", ""].map((each) => hasher.verify(each, hash)))).toEqual([true, false, false]);
});

test("a cost in bytes", async () => {
  // the least memory that OWASP's Password Storage Cheat Sheet has for two passes
  expect(await new PasswordHasher(hashCostOf(19 << 20)).hash("x")).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
});

test("a user without a password is compared with a hash of the same form and cost", async () => {
  const hasher = new PasswordHasher(CHEAP);
  const verify = spyOn(Bun.password, "verify");
  try {
    expect(await hasher.verify("open sesame", null)).toBe(false);
    const compared = String(verify.mock.calls[0]![1]);
    const parts = (text: string) => text.split("$").map((part, i) => (i < 4 ? part : part.length));
    expect(parts(compared)).toEqual(parts(await hasher.hash("x")));
    // every hasher has its own
    await new PasswordHasher(CHEAP).verify("open sesame", null);
    expect(verify.mock.calls[1]![1]).not.toBe(compared);
  } finally {
    verify.mockRestore();
  }
});
