// Mends how the runtime applies a client's SETTINGS_INITIAL_WINDOW_SIZE to streams that are open: it takes the larger of the setting and
// the stream's window, where the window has to grow by the difference (RFC 9113, section 6.9.2). What the client granted for a large
// message is lost then, and the answer never ends. Clients in Go change the setting whenever they measure a faster connection. So the
// runtime sees the first setting only, and the differences as WINDOW_UPDATE frames.
import { Duplex } from "node:stream";

const PREFACE_BYTES = 24;
const HEADER_BYTES = 9;
const SETTING_BYTES = 6;
/** Of a payload that is read here: the largest frame that the server allows. */
const PAYLOAD_BYTES_MAX = 16_384;
const FRAME = { headers: 1, reset: 3, settings: 4, windowUpdate: 8, continuation: 9 } as const;
const FLAG = { ack: 1, endHeaders: 4 } as const;
const INITIAL_WINDOW_SIZE = 4;
const INITIAL_WINDOW_BYTES = 65_535;
const WINDOW_BYTES_MAX = 2 ** 31 - 1;
/** Of the latest streams; the server allows fewer at a time. */
const STREAMS_MAX = 4096;
/** Changes of a connection: measuring doubles a window some ten times, and each change costs a frame for each stream. */
const CHANGES_MAX = 32;

/** Rewrites what the client of one connection sends. */
export class StreamWindows {
  private prefaceLeft = PREFACE_BYTES;
  /** The frame header so far, then the payload of a frame that is read here. */
  private held: Buffer = Buffer.alloc(0);
  /** Bytes of a payload that passes as it is. */
  private passing = 0;
  /** What follows the frame that passes. */
  private behind: Buffer | null = null;
  /** The runtime's idea of the setting, null before the first SETTINGS frame, and the client's. */
  private first: number | null = null;
  private current = INITIAL_WINDOW_BYTES;
  private lastStream = 0;
  /** Whether the header of the last stream is under way. */
  private isOpening = false;
  private changeCount = 0;
  /** Bytes by which the client has made the windows of streams smaller, oldest stream first: they are taken from its next grants. */
  private readonly streams = new Map<number, number>();

  /** Returns what the runtime is to read instead, or null if the client changes the setting without end. */
  read(bytes: Buffer): Buffer | null {
    const out: Buffer[] = [];
    let at = Math.min(this.prefaceLeft, bytes.length);
    this.prefaceLeft -= at;
    if (at > 0) out.push(bytes.subarray(0, at));
    while (at < bytes.length || (this.passing === 0 && this.behind !== null)) {
      if (this.passing > 0) {
        const end = Math.min(bytes.length, at + this.passing);
        out.push(bytes.subarray(at, end));
        this.passing -= end - at;
        at = end;
        continue;
      }
      if (this.behind !== null) {
        out.push(this.behind);
        this.behind = null;
        continue;
      }
      const wanted = this.held.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + this.held.readUIntBE(0, 3);
      const end = Math.min(bytes.length, at + wanted - this.held.length);
      this.held = Buffer.concat([this.held, bytes.subarray(at, end)]);
      at = end;
      if (this.held.length < wanted) break;
      if (!this.frame(out)) return null;
    }
    return out.length === 1 ? out[0]! : Buffer.concat(out);
  }

  /** Passes on a frame of which the header, or all, is held. Returns false for too many changes. */
  private frame(out: Buffer[]): boolean {
    const { held } = this;
    const length = held.readUIntBE(0, 3);
    const [type, flags, stream] = [held[3]!, held[4]!, held.readUInt32BE(5) & WINDOW_BYTES_MAX];
    const isRead = (type === FRAME.settings && (flags & FLAG.ack) === 0) || (type === FRAME.windowUpdate && length === 4);
    // the rest of its payload is held first
    if (isRead && length > 0 && length <= PAYLOAD_BYTES_MAX && held.length === HEADER_BYTES) return true;
    this.held = Buffer.alloc(0);
    if (held.length > HEADER_BYTES) {
      if (type === FRAME.settings) return this.settings(held, out);
      this.grant(held, stream, out);
      return true;
    }
    if (type === FRAME.settings) this.first ??= INITIAL_WINDOW_BYTES;
    if (type === FRAME.headers && stream > this.lastStream) this.open(stream);
    if (type === FRAME.reset) this.streams.delete(stream);
    const endsHeaders = (type === FRAME.headers || type === FRAME.continuation) && (flags & FLAG.endHeaders) !== 0;
    if (endsHeaders && this.isOpening) {
      this.isOpening = false;
      const more = this.current - (this.first ?? this.current);
      if (more > 0) this.behind = windowUpdate(this.lastStream, more);
    }
    out.push(held);
    this.passing = length;
    return true;
  }

  private open(stream: number): void {
    this.lastStream = stream;
    this.isOpening = true;
    if (this.streams.size >= STREAMS_MAX) for (const oldest of this.streams.keys()) if (this.streams.delete(oldest)) break;
    this.streams.set(stream, Math.max(0, (this.first ?? this.current) - this.current));
  }

  private settings(frame: Buffer, out: Buffer[]): boolean {
    let size: number | null = null;
    const isFirst = this.first === null;
    const rewritten = Buffer.from(frame);
    for (let at = HEADER_BYTES; at + SETTING_BYTES <= frame.length; at += SETTING_BYTES) {
      if (frame.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      size = frame.readUInt32BE(at + 2);
      if (!isFirst) rewritten.writeUInt32BE(this.first!, at + 2);
    }
    // the runtime refuses what is no window
    if (isFirst || size === null || size > WINDOW_BYTES_MAX) {
      out.push(frame);
      if (isFirst) this.first = this.current = size ?? INITIAL_WINDOW_BYTES;
      return true;
    }
    out.push(rewritten);
    const change = size - this.current;
    this.current = size;
    if (change === 0) return true;
    if (++this.changeCount > CHANGES_MAX) return false;
    for (const [stream, owed] of this.streams) {
      const left = owed - change;
      this.streams.set(stream, Math.max(0, left));
      if (left < 0) out.push(windowUpdate(stream, -left));
    }
    return true;
  }

  /** A grant of the client, without what the stream's window was made smaller by. */
  private grant(frame: Buffer, stream: number, out: Buffer[]): void {
    const owed = this.streams.get(stream) ?? 0;
    const bytes = frame.readUInt32BE(HEADER_BYTES) & WINDOW_BYTES_MAX;
    if (owed === 0 || bytes === 0) {
      out.push(frame);
      return;
    }
    this.streams.set(stream, Math.max(0, owed - bytes));
    if (bytes > owed) out.push(windowUpdate(stream, bytes - owed));
  }
}

function windowUpdate(stream: number, bytes: number): Buffer {
  const frame = Buffer.alloc(HEADER_BYTES + 4);
  frame.writeUIntBE(4, 0, 3);
  frame[3] = FRAME.windowUpdate;
  frame.writeUInt32BE(stream, 5);
  frame.writeUInt32BE(bytes, HEADER_BYTES);
  return frame;
}

/** The connection with what `StreamWindows` makes of the client's bytes. The runtime reads a socket of its own past all JavaScript, so that
 *  it gets this stream instead. */
export class MendedConnection extends Duplex {
  private readonly windows = new StreamWindows();
  private isDrainDue = false;

  constructor(private readonly socket: Duplex) {
    super({ allowHalfOpen: true });
    socket.on("data", (bytes: Buffer) => {
      const read = this.windows.read(bytes);
      if (read === null) this.destroy();
      else if (read.length > 0 && !this.push(read)) socket.pause();
    });
    socket.once("end", () => this.push(null));
    socket.once("error", (error) => this.destroy(error));
    socket.once("close", () => this.destroy());
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, this.sent(done));
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), this.sent(done));
  }

  /** The runtime sends what it has queued for other streams when a connection has drained, and on a stream that never was full, nothing
   *  says so: each write does, in a turn of its own, as what is said within a write is not heard. */
  private sent(done: (error?: Error | null) => void): (error?: Error | null) => void {
    return (error) => {
      done(error);
      if (this.isDrainDue) return;
      this.isDrainDue = true;
      setImmediate(() => {
        this.isDrainDue = false;
        this.emit("drain");
      });
    };
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}
