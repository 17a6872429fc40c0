// How a watched stream ends, and when that is known.
import { expect, test } from "bun:test";
import { watchStream } from "./watched-stream.ts";

/** A stream of one chunk for each read, and its controller. */
function sourceOf(): { readonly stream: ReadableStream<Uint8Array>; readonly controller: ReadableStreamDefaultController<Uint8Array> } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own;
      },
      pull: (own) => own.enqueue(Uint8Array.of(1, 2, 3)),
    },
    { highWaterMark: 0 },
  );
  return { stream, controller: controller! };
}

test.each([
  ["before anything was read", 0],
  ["between two reads", 2],
] as const)("a source that gives up %s has ended at once, and the reader learns why", async (_, count) => {
  const { stream, controller } = sourceOf();
  const ends: unknown[] = [];
  const reader = watchStream(stream, (how, bytes, error) => ends.push([how, bytes, error])).getReader();
  for (let i = 0; i < count; i++) await reader.read();
  const why = new Error("the reader took nothing");
  controller.error(why);
  // nobody reads: a connection whose client is silent does not either
  await reader.closed.catch(() => {});
  expect(ends).toEqual([["broken", 3 * count, why]]);
  expect(reader.read()).rejects.toBe(why);
});

test("a source that is read to its end, or left, has ended once", async () => {
  const ends: unknown[] = [];
  const left = sourceOf();
  const reader = watchStream(left.stream, (how, bytes) => ends.push([how, bytes])).getReader();
  await reader.read();
  await reader.cancel();
  const whole = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Uint8Array.of(1));
      controller.close();
    },
  });
  expect(await new Response(watchStream(whole, (how, bytes) => ends.push([how, bytes]))).bytes()).toEqual(Uint8Array.of(1));
  expect(ends).toEqual([
    ["left", 3],
    ["complete", 1],
  ]);
});
