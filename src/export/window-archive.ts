// The archive of an export: rows of a day pass through a file, because a tar header comes before the bytes and states their number. A slow
// reader therefore holds no rows in memory, and no snapshot.
import { Spool } from "../backup/spool.ts";
import { TAR_END, tarHeader, tarPadding } from "../backup/tar.ts";
import { freeBuffer } from "../model/memory/free-buffer.ts";

type Chunk = Uint8Array<ArrayBuffer>;

export interface WindowArchiveParts {
  /** The rows of a day, as a Parquet file, in pieces whose buffers nobody else uses. */
  readonly rowsOf: (day: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>;
  /** Of the files that rows pass through: emptied at every start. */
  readonly folder: string;
  readonly nowMs: () => number;
}

/** Each day is read when its turn comes. Ends by itself when `signal` aborts. @throws from the iterator: TsdbError no_space, io; what
 *  `rowsOf` throws */
export async function* windowArchive(parts: WindowArchiveParts, days: readonly string[], signal: AbortSignal): AsyncGenerator<Chunk> {
  for (const day of days) yield* fileOf(parts, day, signal);
  yield TAR_END;
}

async function* fileOf({ rowsOf, folder, nowMs }: WindowArchiveParts, day: string, signal: AbortSignal): AsyncGenerator<Chunk> {
  const spool = new Spool(folder);
  try {
    const { path, byteCount } = await spool.file(async (append) => {
      for await (const piece of await rowsOf(day, signal)) {
        await append(piece);
        freeBuffer(piece.buffer);
      }
    });
    yield tarHeader(`${day}.parquet`, byteCount, nowMs());
    for await (const piece of Bun.file(path).stream()) yield piece as Chunk;
    yield tarPadding(byteCount).slice();
  } finally {
    await spool.remove();
  }
}
