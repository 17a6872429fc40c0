// A request's body as bytes, bounded before, while and after it is read, and decompressed when it is gzip.
import zlib from "node:zlib";
import { near, TsdbError } from "../model/errors.ts";

/** Compressed bodies up to this size are inflated at once; 8 KiB of gzip is at most 8 MiB of text, a few milliseconds.
 *  Larger ones go to the thread pool, so that the loop serves others meanwhile. */
const SYNC_GUNZIP_BYTES_MAX = 8 * 1024;
const GUNZIP_CHUNK_BYTES = 256 * 1024;

/** The body of `request`, owned by the caller. `bytesMax` bounds what is sent and again what it decompresses to.
 *  @throws TsdbError too_large; bad_request for another encoding or broken gzip; cancelled when the client goes away. */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const { headers } = request;
  const isGzip = encodingIsGzip(headers.get("content-encoding"));
  const announced = headers.get("content-length");
  // Refused before a byte is read; the runtime discards what the client still sends.
  if (announced !== null && Number(announced) > bytesMax) throw tooLarge(bytesMax);
  const raw = announced === null ? await readStream(request.body, bytesMax) : new Uint8Array(await request.arrayBuffer());
  if (raw.byteLength > bytesMax) throw tooLarge(bytesMax);
  return isGzip ? gunzip(raw, bytesMax) : raw;
}

export function tooLarge(bytesMax: number): TsdbError {
  return new TsdbError("too_large", `max request size (${bytesMax} bytes) exceeded`, { bytesMax });
}

function encodingIsGzip(header: string | null): boolean {
  if (header === null) return false;
  const encoding = header.trim().toLowerCase();
  if (encoding === "gzip") return true;
  if (encoding === "" || encoding === "identity") return false;
  throw new TsdbError("bad_request", `unacceptable content-encoding: ${near(header)}`);
}

/** A chunked body tells no length: it is counted as it comes. */
async function readStream(stream: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array> {
  if (stream === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLarge(bytesMax); // leaving the loop cancels the stream
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
}

/** All members of a gzip stream. Output stops at `bytesMax`, whatever the input promises. */
async function gunzip(compressed: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  const options = { maxOutputLength: bytesMax, chunkSize: GUNZIP_CHUNK_BYTES };
  try {
    if (compressed.byteLength <= SYNC_GUNZIP_BYTES_MAX) return zlib.gunzipSync(compressed, { maxOutputLength: bytesMax });
    return await new Promise<Uint8Array>((resolve, reject) => {
      zlib.gunzip(compressed, options, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new TsdbError("bad_request", `error decoding gzip stream: ${(error as Error).message}`, {}, { cause: error });
  }
}
