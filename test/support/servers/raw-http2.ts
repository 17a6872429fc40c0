// An HTTP/2 client without automatic behaviour: it writes the given frames, opens no window, and counts received bytes. For readers that do
// not read, and for connections that violate the protocol.
import { connect, type Socket } from "node:net";

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8, continuation: 9 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** | length u24 | type u8 | flags u8 | stream u32 | payload | */
export function frame(type: number, payload: Uint8Array = Buffer.alloc(0), stream = 0, flags = 0): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

/** Header fields in HPACK's simplest form: literal, with a new name, not indexed. */
export function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), hpackText(name), hpackText(value)])));
}

/** Up to 254 bytes. */
function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = bytes.length < 127 ? [bytes.length] : [127, bytes.length - 127];
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** An HTTP/2 connection that sends frames as they are given. */
export class RawHttp2 {
  readonly frames: Frame[] = [];
  isClosed = false;
  private rest: Buffer = Buffer.alloc(0);
  private wake: () => void = () => {};

  private constructor(readonly socket: Socket) {
    socket.on("data", (bytes: Buffer) => this.receive(bytes));
    socket.on("error", () => {});
    socket.once("close", () => {
      this.isClosed = true;
      this.wake();
    });
  }

  static open(port: number): Promise<RawHttp2> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port }, () => resolve(new RawHttp2(socket)));
      socket.once("error", reject);
    });
  }

  /** Preface and settings. `windowBytes`: the initial window of each stream. */
  begin(windowBytes = 65_535): this {
    const setting = Buffer.alloc(6);
    setting.writeUInt16BE(4, 0);
    setting.writeUInt32BE(windowBytes, 2);
    this.socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, setting)]));
    return this;
  }

  send(...bytes: readonly Uint8Array[]): this {
    this.socket.write(Buffer.concat(bytes));
    return this;
  }

  /** A call of the Flight service with one message. */
  call(method: string, message: Uint8Array, stream = 1, extra: readonly (readonly [string, string])[] = []): this {
    const fields = [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", `/arrow.flight.protocol.FlightService/${method}`],
      [":authority", "localhost"],
      ["content-type", "application/grpc"],
      ["te", "trailers"],
      ...extra,
    ] as const;
    const body = Buffer.alloc(5 + message.length);
    body.writeUInt32BE(message.length, 1);
    body.set(message, 5);
    return this.send(frame(FRAME.headers, headerBlock(fields), stream, END_HEADERS), frame(FRAME.data, body, stream, END_STREAM));
  }

  get dataBytes(): number {
    return this.frames.reduce((sum, { type, payload }) => sum + (type === FRAME.data ? payload.length : 0), 0);
  }

  /** Complete, uncompressed gRPC messages received. */
  messagesOf(stream: number): Buffer[] {
    const bytes = Buffer.concat(
      this.frames.filter((one) => one.type === FRAME.data && one.stream === stream).map(({ payload }) => payload),
    );
    const messages: Buffer[] = [];
    for (let at = 0; at + 5 <= bytes.length; ) {
      const end = at + 5 + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      messages.push(bytes.subarray(at + 5, end));
      at = end;
    }
    return messages;
  }

  /** Enlarges the window of a stream, or of the connection (0). */
  enlarge(bytes: number, stream = 0): this {
    const increment = Buffer.alloc(4);
    increment.writeUInt32BE(bytes);
    return this.send(frame(FRAME.windowUpdate, increment, stream));
  }

  /** Resolves when `isThere` holds for the frames so far, or when the connection is closed. */
  async until(isThere: () => boolean): Promise<void> {
    while (!isThere() && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.rest.length >= 9) {
      const length = this.rest.readUIntBE(0, 3);
      if (this.rest.length < 9 + length) break;
      const [type, flags] = [this.rest[3]!, this.rest[4]!];
      const payload = this.rest.subarray(9, 9 + length);
      this.frames.push({ type, flags, stream: this.rest.readUInt32BE(5), payload });
      this.rest = this.rest.subarray(9 + length);
    }
    this.wake();
  }
}
