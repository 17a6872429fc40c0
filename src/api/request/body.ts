// Receives a request's body, limited before, during and after reading, and decompresses gzip. It is passed on in pieces: unread bytes stay
// with the client, because the runtime stops receiving.
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { near, TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { freeBuffer } from "../../model/memory/free-buffer.ts";
import { Arrivals } from "./arrivals.ts";
import { loopTurns, TURN_BYTES } from "./loop-turns.ts";
import { patienceMs, tooSlow } from "./pace.ts";

/** Bodies up to this size are read as a whole: for them a stream costs more than it saves. */
const WHOLE_BYTES_MAX = 64 * 1024;
/** Compressed bodies up to this size are inflated synchronously; 8 KiB of gzip are at most 8 MiB of text, a few milliseconds. Larger
 *  ones use the thread pool, so that the event loop stays free. */
const SYNC_GUNZIP_BYTES_MAX = 8 * 1024;
const GUNZIP_CHUNK_BYTES = 256 * 1024;
/** After this many pieces below this size a body leaves the event loop a turn. */
const SMALL_PIECES = 16;
const SMALL_PIECE_BYTES = 1024;

/** The destination of a body. */
export interface BodyTarget {
  readonly byteCount: number;
  /** Copies the bytes. */
  append(bytes: Uint8Array): void;
}

/** Properties of a body from its headers. */
export interface BodyHead {
  /** The Content-Length; undefined if absent. */
  readonly announcedBytes: number | undefined;
  readonly isGzip: boolean;
}

/** Reads the bodies of one route. */
export class BodyReader {
  private readonly arrivals: Arrivals;

  /** @param bytesMax limit of the bytes as sent, and again after decompression @param nowMs a monotonic clock @param isLenient x-gzip is
   *  gzip, and unknown encodings are ignored @param silenceMs how long `pieces` waits for the next one */
  constructor(
    private readonly bytesMax: number,
    private readonly nowMs: () => number,
    private readonly isLenient = false,
    private readonly silenceMs = LIMITS.connectionIdleSeconds * 1000,
  ) {
    this.arrivals = new Arrivals(nowMs);
  }

  /** @throws TsdbError too_large; bad_request for an unsupported encoding, or an invalid length, such as two lengths, which the runtime
   *  lets through */
  head({ headers }: Request): BodyHead {
    const isGzip = encodingIsGzip(headers.get("content-encoding"), this.isLenient);
    const announced = headers.get("content-length");
    if (announced === null) return { announcedBytes: undefined, isGzip };
    if (!/^\d+$/.test(announced)) throw new TsdbError("bad_request", `invalid content-length: ${near(announced)}`);
    const announcedBytes = Number(announced);
    // Rejected before a byte is read; the runtime discards what the client still sends.
    if (announcedBytes > this.bytesMax) throw tooLarge(this.bytesMax);
    return { announcedBytes, isGzip };
  }

  /** Reads the body of `request` into `target`. @throws TsdbError too_large; bad_request for invalid gzip; too_slow; cancelled when the
   *  client disconnects; what `target` throws */
  read(request: Request, { announcedBytes, isGzip }: BodyHead, target: BodyTarget): Promise<void> {
    if (announcedBytes === undefined || announcedBytes > WHOLE_BYTES_MAX) return this.readPieces(request, isGzip, target);
    // not worth freeing explicitly, which costs microseconds
    if (!isGzip) return this.arrivals.take(request.bytes(), announcedBytes, (bytes) => target.append(bytes));
    return this.readWholeGzip(request, announcedBytes, new BoundedTarget(target, this.bytesMax));
  }

  /** The body as bytes owned by the caller. `onBytes` is called as they arrive, decompressed, and may throw.
   *  @throws as `head` and `read` */
  async readWhole(request: Request, onBytes?: (bytes: number) => void): Promise<Uint8Array> {
    const pieces = new Pieces(onBytes);
    await this.read(request, this.head(request), pieces);
    return pieces.bytes;
  }

  /** The body in pieces, decompressed, as fast as they are taken: also where the connection's idle limit is lifted. @throws as `head` and
   *  `read` */
  async *pieces(request: Request): AsyncGenerator<Uint8Array> {
    const { isGzip } = this.head(request);
    const sent = this.paced(request.body === null ? [] : this.attended(request.body));
    if (!isGzip) {
      yield* sent;
      return;
    }
    const inflate = zlib.createGunzip({ chunkSize: GUNZIP_CHUNK_BYTES });
    const fed = pipeline(sent, inflate);
    fed.catch(() => {}); // the loop below meets the same error
    try {
      let bytes = 0;
      for await (const piece of inflate as AsyncIterable<Uint8Array>) {
        bytes += piece.byteLength;
        if (bytes > this.bytesMax) throw tooLarge(this.bytesMax);
        yield piece;
      }
      await fed;
    } catch (error) {
      throw gunzipError(error);
    } finally {
      inflate.destroy();
    }
  }

  /** A client may have gone away without a word. @throws TsdbError too_slow */
  private async *attended(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = stream.getReader();
    try {
      for (;;) {
        const silence = Promise.withResolvers<never>();
        const timer = setTimeout(() => silence.reject(tooSlow(this.silenceMs)), this.silenceMs);
        const { done, value } = await Promise.race([reader.read(), silence.promise]).finally(() => clearTimeout(timer));
        if (done) return;
        yield value;
      }
    } finally {
      void reader.cancel().catch(() => {});
    }
  }

  private async readWholeGzip(request: Request, announcedBytes: number, target: BoundedTarget): Promise<void> {
    let compressed: Uint8Array = new Uint8Array(0);
    await this.arrivals.take(request.bytes(), announcedBytes, (bytes) => {
      compressed = bytes;
    });
    if (compressed.byteLength <= SYNC_GUNZIP_BYTES_MAX) gunzipSmall(compressed, target);
    else await gunzip([compressed], target);
  }

  private async readPieces(request: Request, isGzip: boolean, target: BodyTarget): Promise<void> {
    const bounded = new BoundedTarget(target, this.bytesMax);
    const pieces = this.paced(request.body ?? []);
    if (isGzip) return gunzip(pieces, bounded);
    let turnBytes = 0;
    for await (const piece of pieces) {
      bounded.append(piece);
      turnBytes += piece.byteLength;
      free(piece);
      if (turnBytes < TURN_BYTES) continue;
      turnBytes = 0;
      await loopTurns.next();
    }
  }

  /** The pieces as received, counted, with a minimum rate. Leaving the loop cancels the stream.
   *
   *  Each chunk that is awaited is delivered alone, all those of a socket in one turn of the event loop: a megabyte in chunks of a byte
   *  would hold it for seconds. Chunks that are not awaited are joined by the runtime. */
  private async *paced(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const startedMs = this.nowMs();
    let bytes = 0;
    let small = 0;
    for await (const piece of stream) {
      bytes += piece.byteLength;
      if (bytes > this.bytesMax) throw tooLarge(this.bytesMax);
      const elapsedMs = this.nowMs() - startedMs;
      if (elapsedMs > patienceMs(bytes)) throw tooSlow(elapsedMs);
      if (piece.byteLength < SMALL_PIECE_BYTES && ++small % SMALL_PIECES === 0) await new Promise(setImmediate);
      yield piece;
    }
  }
}

/** Frees a piece, unless others may be in the same buffer. */
function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer.byteLength === byteLength) freeBuffer(buffer);
}

/** The error for a body above the limit. */
function tooLarge(bytesMax: number): TsdbError {
  return new TsdbError("too_large", `max request size (${bytesMax} bytes) exceeded`, { bytesMax });
}

function encodingIsGzip(header: string | null, isLenient: boolean): boolean {
  if (header === null) return false;
  // clients of v3 learn that only the small letters are known, as from the vendor
  const encoding = isLenient ? header.trim().toLowerCase() : header;
  if (encoding === "gzip") return true;
  if (encoding === "" || encoding === "identity") return false;
  if (isLenient) return encoding === "x-gzip";
  throw new TsdbError("bad_request", `unacceptable content-encoding: ${near(header)}`);
}

class BoundedTarget {
  constructor(
    private readonly target: BodyTarget,
    private readonly bytesMax: number,
  ) {}

  append(bytes: Uint8Array): void {
    if (this.target.byteCount + bytes.byteLength > this.bytesMax) throw tooLarge(this.bytesMax);
    this.target.append(bytes);
  }
}

class Pieces implements BodyTarget {
  byteCount = 0;
  private readonly pieces: Uint8Array[] = [];

  constructor(private readonly onBytes: (bytes: number) => void = () => {}) {}

  get bytes(): Uint8Array {
    return this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces, this.byteCount);
  }

  append(bytes: Uint8Array): void {
    this.onBytes(bytes.byteLength);
    this.pieces.push(bytes.slice()); // the caller may free them
    this.byteCount += bytes.byteLength;
  }
}

/** Decompresses all members of a gzip stream. Output stops at the target's limit, whatever the input claims. */
async function gunzip(compressed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, target: BoundedTarget): Promise<void> {
  const inflate = zlib.createGunzip({ chunkSize: GUNZIP_CHUNK_BYTES });
  try {
    await pipeline(compressed, inflate, async (pieces: AsyncIterable<Uint8Array>) => {
      for await (const piece of pieces) target.append(piece);
    });
  } catch (error) {
    throw gunzipError(error);
  }
}

function gunzipSmall(compressed: Uint8Array, target: BoundedTarget): void {
  let bytes: Uint8Array;
  try {
    bytes = zlib.gunzipSync(compressed);
  } catch (error) {
    throw gunzipError(error);
  }
  target.append(bytes);
}

function gunzipError(error: unknown): unknown {
  // a request that was broken off has a number for a code
  if (error instanceof TsdbError || !String((error as { code?: unknown }).code).startsWith("Z_")) return error;
  const { message } = error as Error;
  const reason = message === "incorrect header check" ? "invalid gzip header" : message;
  return new TsdbError("bad_request", `error decoding gzip stream: ${reason}`, {}, { cause: error });
}
