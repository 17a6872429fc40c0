// The committed module of the kernel, against a new compilation, which takes half a minute of processor time. tidy.test.ts compares hashes.
import { expect, test } from "bun:test";
import { isWasmCurrent } from "../src/tools/build-wasm.ts";

test("wasm/ is what assembly/ compiles to", async () => {
  expect(await isWasmCurrent(), "run `npm run build:wasm` and commit wasm/").toBe(true);
}, 120_000);
