// A request's body, bounded before, while and after it is read, and decompressed when it is gzip. It goes piece by piece to where it is
// wanted: what is not read stays in the client, because the runtime stops receiving.
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { near, TsdbError } from "../model/errors.ts";

/** Bodies up to this size are read as a whole: a stream costs more than it saves. */
const WHOLE_BYTES_MAX = 64 * 1024;
/** Compressed bodies up to this size are inflated at once; 8 KiB of gzip is at most 8 MiB of text, a few milliseconds.
 *  Larger ones go to the thread pool, so that the loop serves others meanwhile. */
const SYNC_GUNZIP_BYTES_MAX = 8 * 1024;
const GUNZIP_CHUNK_BYTES = 256 * 1024;
/** A body that holds much memory has to come on: after this time, at this pace on average. */
const PATIENCE_MS = 30_000;
const BYTES_PER_MS_MIN = 16;
const SMALL_BYTES = 64 * 1024;

/** Where a body goes. */
export interface BodyTarget {
  readonly byteCount: number;
  /** What the body keeps from others while it comes. */
  readonly memoryBytes: number;
  /** Copies the bytes. */
  append(bytes: Uint8Array): void;
}

/** Bytes that the client announces; undefined when it does not. @throws TsdbError too_large; bad_request when it is no number, as of two
 *  lengths, which the runtime lets through */
export function announcedBytes({ headers }: Request, bytesMax: number): number | undefined {
  const announced = headers.get("content-length");
  if (announced === null) return undefined;
  if (!/^\d+$/.test(announced)) throw new TsdbError("bad_request", `invalid content-length: ${near(announced)}`);
  // Refused before a byte is read; the runtime discards what the client still sends.
  if (Number(announced) > bytesMax) throw tooLarge(bytesMax);
  return Number(announced);
}

/** Reads the body of `request` into `target`. `bytesMax` bounds what is sent and again what it decompresses to. `nowMs` is a monotonic
 *  clock.
 *  @throws TsdbError too_large; bad_request for another encoding or broken gzip; too_slow; cancelled when the client goes away; what
 *  `target` throws. */
export async function readBody(request: Request, bytesMax: number, target: BodyTarget, nowMs: () => number): Promise<void> {
  const isGzip = encodingIsGzip(request.headers.get("content-encoding"));
  const announced = announcedBytes(request, bytesMax);
  const bounded = new BoundedTarget(target, bytesMax);
  if (announced !== undefined && announced <= WHOLE_BYTES_MAX) {
    const whole = new Uint8Array(await request.arrayBuffer());
    if (!isGzip)
      bounded.append(whole); // too little to free: freeing costs some microseconds
    else if (whole.byteLength <= SYNC_GUNZIP_BYTES_MAX) gunzipSmall(whole, bounded);
    else await gunzip([whole], bounded);
    return;
  }
  const pieces = paced(request.body ?? [], { bytesMax, target, nowMs });
  if (isGzip) await gunzip(pieces, bounded);
  else {
    for await (const piece of pieces) {
      bounded.append(piece);
      free(piece);
    }
  }
}

/** Gives the memory of bytes that nobody will look at back at once: the collector comes late, and until then every piece takes pages that
 *  nothing has touched before. */
function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The body as bytes of the caller's. @throws as readBody */
export async function readWhole(request: Request, bytesMax: number, nowMs: () => number): Promise<Uint8Array> {
  const pieces = new Pieces();
  await readBody(request, bytesMax, pieces, nowMs);
  return pieces.bytes;
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

  get memoryBytes(): number {
    return this.byteCount;
  }

  get bytes(): Uint8Array {
    return this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces, this.byteCount);
  }

  append(bytes: Uint8Array): void {
    this.pieces.push(bytes.slice()); // whoever gave them may free them
    this.byteCount += bytes.byteLength;
  }
}

/** The pieces as they are sent, counted, from a client that keeps up a pace. Leaving the loop cancels the stream. */
async function* paced(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { bytesMax, target, nowMs }: { bytesMax: number; target: BodyTarget; nowMs: () => number },
): AsyncGenerator<Uint8Array> {
  const startedMs = nowMs();
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    const lateMs = nowMs() - startedMs - PATIENCE_MS;
    if (lateMs > 0 && target.memoryBytes > SMALL_BYTES && bytes < lateMs * BYTES_PER_MS_MIN) throw tooSlow(bytes, lateMs + PATIENCE_MS);
    yield piece;
  }
}

function tooSlow(bytes: number, milliseconds: number): TsdbError {
  return new TsdbError("too_slow", `the body comes too slowly: ${bytes} bytes in ${Math.round(milliseconds / 1000)} seconds`);
}

/** All members of a gzip stream. Output stops at the target's bound, whatever the input promises. */
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
  if (error instanceof TsdbError || !(error as { code?: string }).code?.startsWith("Z_")) return error;
  return new TsdbError("bad_request", `error decoding gzip stream: ${(error as Error).message}`, {}, { cause: error });
}
