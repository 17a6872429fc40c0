// Bodies of answers as the runtime is given them: the same bytes, whatever their size.
import { expect, test } from "bun:test";
import { bodyOfBytes } from "./respond.ts";

test.each([0, 1, 15_359, 15_360, 200_000])("an answer of %p bytes is these bytes", async (size) => {
  const bytes = Uint8Array.from({ length: size }, (_, i) => i % 251);
  const body = bodyOfBytes(bytes);
  expect(body instanceof Uint8Array).toBe(size < 15 * 1024);
  expect(Buffer.from(await new Response(body).arrayBuffer()).equals(bytes)).toBe(true);
});
