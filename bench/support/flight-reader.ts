// A minimal reader of Arrow Flight: raw HTTP/2 with windows so large that the server never waits, and bytes that are only collected.
// Measures the server, not a client library.
import { ticketMessage } from "../../test/support/flight/flight-server.ts";
import { FRAME, frame, RawHttp2 } from "../../test/support/servers/raw-http2.ts";

const WINDOW_BYTES_MAX = 2 ** 31 - 1;
/** Initial flow-control window of a connection. */
const FIRST_WINDOW_BYTES = 65_535;
const END_STREAM = 1;
/** | compressed u8 | bytes u32 | before each message. */
const PREFIX_BYTES = 5;

/** A connection for consecutive statements. */
export class FlightReader {
  private nextStream = 1;

  private constructor(private readonly connection: RawHttp2) {}

  static async open(port: number): Promise<FlightReader> {
    const connection = (await RawHttp2.open(port)).begin(WINDOW_BYTES_MAX);
    connection.send(frame(FRAME.windowUpdate, u32(WINDOW_BYTES_MAX - FIRST_WINDOW_BYTES)));
    return new FlightReader(connection);
  }

  /** The gRPC messages of the answer, concatenated. An error looks like an answer without messages. @throws Error if there are none */
  async ask(statement: string, database: string): Promise<Buffer> {
    const { connection } = this;
    const stream = this.nextStream;
    this.nextStream += 2;
    const from = connection.frames.length;
    let seen = from;
    let isEnded = false;
    connection.call("DoGet", ticketMessage(statement, database), stream);
    await connection.until(() => {
      for (; seen < connection.frames.length; seen++) isEnded ||= (connection.frames[seen]!.flags & END_STREAM) !== 0;
      return isEnded;
    });
    const frames = connection.frames.splice(from);
    const bytes = Buffer.concat(frames.filter(({ type }) => type === FRAME.data).map(({ payload }) => payload));
    if (!isEnded || bytes.length === 0) throw new Error(`${statement} over Flight: no answer in ${frames.length} frames`);
    // the connection's window is shared by all answers
    connection.send(frame(FRAME.windowUpdate, u32(bytes.length)));
    return bytes;
  }

  close(): void {
    this.connection.close();
  }
}

/** Splits concatenated messages. */
export function messagesIn(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
    messages.push(bytes.subarray(at + PREFIX_BYTES, end));
    at = end;
  }
  return messages;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
