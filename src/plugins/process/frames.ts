// Frames between the server and a plugin's process; the layout is in ../python/frames.py, the other end.
import { LIMITS } from "../../model/limits.ts";

const MAGIC = 0x31_50_53_54; // "TSP1"
const MAGIC_BYTES = 4;
const HEAD_BYTES = 12;

export interface Frame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly blob: Uint8Array;
}

/** The parts of a frame, to be written in order. `blobs` are borrowed. */
export function frameParts(head: object, blobs: readonly Uint8Array[] = []): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(HEAD_BYTES);
  start.writeUInt32LE(MAGIC, 0);
  start.writeUInt32LE(text.byteLength, 4);
  start.writeUInt32LE(
    blobs.reduce((sum, blob) => sum + blob.byteLength, 0),
    8,
  );
  return [start, text, ...blobs];
}

/** The process has sent an invalid frame. */
export class GarbageError extends Error {
  override readonly name = "GarbageError";
}

/** Reassembles frames from chunks of a pipe. */
export class FrameReader {
  private chunks: Uint8Array[] = [];
  private heldBytes = 0;
  private wantedBytes = HEAD_BYTES;

  /** Yields the frames that `chunk` completes; takes ownership of it. @throws GarbageError, also on later calls */
  *take(chunk: Uint8Array): Generator<Frame> {
    this.chunks.push(chunk);
    this.heldBytes += chunk.byteLength;
    while (this.heldBytes >= this.wantedBytes) {
      const data = this.joined();
      const frame = this.frame(data);
      if (frame === null) continue;
      this.chunks = [data.subarray(this.wantedBytes)];
      this.heldBytes = data.byteLength - this.wantedBytes;
      this.wantedBytes = HEAD_BYTES;
      yield frame;
    }
    // a process that sends less than a head of garbage would be waited for
    if (this.heldBytes >= MAGIC_BYTES && this.heldBytes < HEAD_BYTES) requireMagic(this.joined());
  }

  /** Null: incomplete. */
  private frame(data: Buffer): Frame | null {
    requireMagic(data);
    const headBytes = data.readUInt32LE(4);
    const blobBytes = data.readUInt32LE(8);
    if (headBytes > LIMITS.pluginHeadBytesMax || blobBytes > LIMITS.pluginBlobBytesMax) {
      throw new GarbageError(`a frame of ${headBytes} and ${blobBytes} bytes`);
    }
    this.wantedBytes = HEAD_BYTES + headBytes + blobBytes;
    if (data.byteLength < this.wantedBytes) return null;
    const head = parse(data.subarray(HEAD_BYTES, HEAD_BYTES + headBytes));
    return { head, blob: data.subarray(HEAD_BYTES + headBytes, this.wantedBytes) };
  }

  private joined(): Buffer {
    const [only] = this.chunks;
    const data = this.chunks.length === 1 ? Buffer.from(only!.buffer, only!.byteOffset, only!.byteLength) : Buffer.concat(this.chunks);
    this.chunks = [data];
    return data;
  }
}

function requireMagic(data: Buffer): void {
  if (data.readUInt32LE(0) === MAGIC) return;
  throw new GarbageError(`bytes that are no frame: ${JSON.stringify(data.subarray(0, 40).toString("latin1"))}`);
}

function parse(json: Buffer): Frame["head"] {
  let head: unknown;
  try {
    head = JSON.parse(json.toString("utf8"));
  } catch {
    throw new GarbageError("a frame whose head is no JSON");
  }
  if (typeof head !== "object" || head === null || Array.isArray(head)) throw new GarbageError("a frame whose head is no object");
  return head as Frame["head"];
}
