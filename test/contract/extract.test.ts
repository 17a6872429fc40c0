// contract.json is what extract.ts makes of the OpenAPI files, where these are; they are no part of this repository.
import { describe, expect, test } from "bun:test";
import contract from "./contract.json";
import { type Contract, extract, specFolder } from "./extract.ts";
import { LATER, SOON } from "./not-served.ts";

const kept = contract as unknown as Contract;

if (specFolder !== undefined) {
  const folder = specFolder;
  describe("the OpenAPI files", () => {
    test("say what contract.json says: else run `bun test/contract/extract.ts`", async () => {
      expect((await extract(folder)).contract).toEqual(kept);
    });

    test("have every operation that is listed as not served", async () => {
      const { keys } = await extract(folder);
      expect([...LATER, ...SOON].filter((key) => !keys.includes(key))).toEqual([]);
    });
  });
} else {
  test("the OpenAPI files are not here: contract.json is taken as it is", () => {
    expect(Object.keys(kept).length).toBeGreaterThan(30);
  });
}

test("an operation is listed as not served in one place at most", () => {
  expect([...LATER].filter((key) => SOON.has(key) || Object.hasOwn(kept, key))).toEqual([]);
  expect([...SOON].filter((key) => !Object.hasOwn(kept, key))).toEqual([]);
});
