// Steps between an archive's chunks and its stream. Leaving them ends the chunks before them.
import { pipeline, Readable } from "node:stream";
import zlib from "node:zlib";

export type ArchiveChunks = AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** Calls `end` once: after the last chunk, when the chunks fail, or when they are left. */
export async function* endingWith(chunks: ArchiveChunks, end: () => void): ArchiveChunks {
  try {
    yield* chunks;
  } finally {
    end();
  }
}

/** @param level of zlib @throws what `chunks` throws */
export async function* gzipped(chunks: ArchiveChunks, level: number): ArchiveChunks {
  const gzip = zlib.createGzip({ level });
  // an error of the chunks comes out of `gzip`
  pipeline(Readable.from(chunks, { objectMode: false }), gzip, () => {});
  for await (const piece of gzip) yield piece as Uint8Array<ArrayBuffer>;
}
