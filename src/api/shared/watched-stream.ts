// A stream that reports its end: read completely, failed, or cancelled by its reader. Chunks pass through unchanged.

export type StreamEnd = "complete" | "broken" | "left";

/** Wraps `source`; `ended` is called exactly once. Nothing is read ahead of the reader. */
export function watchStream(
  source: ReadableStream<Uint8Array>,
  ended: (how: StreamEnd, bytes: number, error?: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let bytes = 0;
  let isOver = false;
  const end = (how: StreamEnd, error?: unknown) => {
    if (isOver) return;
    isOver = true;
    ended(how, bytes, error);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // a source that gives up its reader does so while nobody reads
        reader.closed.catch((error: unknown) => {
          end("broken", error);
          controller.error(error);
        });
      },
      async pull(controller) {
        let next: Awaited<ReturnType<typeof reader.read>>;
        try {
          next = await reader.read();
        } catch (error) {
          end("broken", error);
          throw error;
        }
        if (isOver) return; // the reader cancelled during this read
        if (next.done) {
          end("complete");
          controller.close();
        } else {
          bytes += next.value.byteLength;
          controller.enqueue(next.value);
        }
      },
      cancel(reason) {
        end("left");
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
