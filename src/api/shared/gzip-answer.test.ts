// Compressed answers of all lengths, at once and in the pool, are the bytes that were to be sent.
import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { prng } from "../../../test/support/prng.ts";
import { compressed, V2_RULE } from "./gzip-answer.ts";

const asked = (encoding: string) => new Request("http://a/", { headers: { "accept-encoding": encoding } });

/** Rows with a third of noise. */
function body(length: number): Uint8Array<ArrayBuffer> {
  const next = prng(length + 1);
  return Uint8Array.from({ length }, (_, i) => (i % 3 === 0 ? next(256) : 48 + (i % 10)));
}

test.each([0, 1, 1399, 1400, 1401, 16_383, 16_384, 16_385, 100_000, 131_072, 131_073, 1_000_000])("%d bytes", async (length) => {
  const given = body(length);
  const answer = { contentType: "text/csv", body: given };
  const packed = await compressed(answer, asked("br, gzip"), null, V2_RULE);
  const isPacked = length >= 1400;
  expect(packed.headers["content-encoding"] ?? "none").toBe(isPacked ? "gzip" : "none");
  const sent = packed.body as Uint8Array;
  expect(Buffer.compare(isPacked ? gunzipSync(sent) : sent, given)).toBe(0);
  if (isPacked) expect(sent.byteLength).toBeLessThan(length);
  expect((await compressed(answer, asked("br, gzip;q=0"), null, V2_RULE)).body).toBe(given);
});

test("a view on a part of a buffer is compressed without the rest", async () => {
  const all = body(9000);
  const packed = await compressed({ contentType: "text/csv", body: all.subarray(1000, 6000) }, asked("gzip"), null, V2_RULE);
  expect(Buffer.compare(gunzipSync(packed.body as Uint8Array), all.subarray(1000, 6000))).toBe(0);
});
