// An archive as a stream. What it holds (files with its rows, one of few places) must not depend on a reader who has gone, or never
// reads: the idle limit of connections is lifted while an archive is sent.
import { TsdbError } from "../../model/errors.ts";

type Chunk = Uint8Array<ArrayBuffer>;

export interface StreamTimers {
  /** Calls `run` after that time, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

const SYSTEM: StreamTimers = {
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Nothing is made ahead of the reader, beyond the first chunk. Returns `chunks` when the reader leaves, or has left a chunk behind it
 *  without asking for another one for `stallMs`: the stream fails then. @throws what the first chunk throws */
export async function archiveStream(
  chunks: AsyncGenerator<Chunk>,
  stallMs: number,
  timers: StreamTimers = SYSTEM,
): Promise<ReadableStream<Chunk>> {
  let first: IteratorResult<Chunk> | null = await chunks.next();
  let stopWaiting = () => {};
  const leave = async () => {
    stopWaiting();
    await chunks.return(undefined);
  };
  return new ReadableStream(
    {
      start(controller) {
        stopWaiting = timers.after(stallMs, () => void lose(controller));
      },
      async pull(controller) {
        stopWaiting();
        const { done, value } = first ?? (await chunks.next());
        first = null;
        if (done === true) {
          controller.close();
          return;
        }
        controller.enqueue(value);
        stopWaiting = timers.after(stallMs, () => void lose(controller));
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );

  async function lose(controller: ReadableStreamDefaultController<Chunk>): Promise<void> {
    controller.error(new TsdbError("cancelled", `the reader of the archive took nothing for ${stallMs / 1000} s`));
    await leave();
  }
}
