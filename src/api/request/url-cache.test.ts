// The cache gives what `make` gives, and stays small whatever is asked.
import { expect, test } from "bun:test";
import { UrlCache } from "./url-cache.ts";

test("a URL is looked at once, unless it is long or others push it out; failures are not kept", () => {
  const asked: string[] = [];
  const cache = new UrlCache((url) => {
    asked.push(url);
    if (url === "bad") throw new Error("bad");
    return url.length;
  });
  const long = "x".repeat(513);
  for (let round = 0; round < 2; round++) {
    expect(cache.get("a")).toBe(1);
    expect(cache.get(long)).toBe(513);
    expect(() => cache.get("bad")).toThrow("bad");
  }
  expect(asked).toEqual(["a", long, "bad", long, "bad"]);
  for (let i = 0; i < 1000; i++) cache.get(`url ${i}`);
  asked.length = 0;
  expect(cache.get("a")).toBe(1);
  expect(asked).toEqual(["a"]);
});
